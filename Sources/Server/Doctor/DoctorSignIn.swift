import Administration
import Settings

extension DoctorCheck {
  static let signInGroup = [signInProvider]

  static let signInProvider = DoctorCheck(
    "sign_in_provider", "The provider of `backOffice.openID.issuer` describes itself, with keys that can be used.",
    meaning: "Nobody signs in there; passwords, codes and passkeys go on.",
    remedy:
      "Write the issuer as the provider does, with or without a slash at the end, and let the firewall pass the connection; `outbound.signIn.rootsFile` names an authority of your own."
  )
}

extension Doctor {
  package func signInFindings() async -> [DoctorFinding] {
    let check = DoctorCheck.signInProvider
    guard
      let provider = OpenIDProvider(configuration.office.openID, sender: system.network.signIn, clock: system.clock)
    else { return [check.skipped("backOffice.openID", "no provider is named")] }
    do {
      try await provider.examine()
      return [check.ok(provider.issuer, "its description and its keys can be read")]
    } catch OpenIDRefusal.unreachable {
      return [check.notReachable(provider.issuer, "it does not answer")]
    } catch {
      return [
        check.failed(
          provider.issuer,
          "its description is of another issuer, names an address without https, or leads to no key for RS256 or ES256")
      ]
    }
  }
}
