import TenderPayments
import TokenIssuer

extension DeveloperPortal {
  /// Registers a domain and makes the file that it has to serve. The newest file is the only one that counts.
  func addDomain(_ text: String, to identifier: String) throws -> PortalDomain {
    guard let name = HostName(text) else {
      throw SandboxProblem(
        status: 400, code: "invalid_domain",
        message: "A domain is a fully qualified host name without scheme, path or port; loopback may have a port.")
    }
    let domain = PortalDomain(
      host: name.host, port: name.port, associationFile: associationFile(for: name.host),
      issuedAt: clock.now().seconds, verifiedAt: nil)
    return try change(identifier) { merchant in
      merchant.domains = merchant.domains.filter { $0.host != domain.host } + [domain]
      return domain
    }
  }

  /// One line of capital hex digits, like Apple's. Only the verifier reads it, to compare it.
  private func associationFile(for host: String) -> String {
    let text =
      #"{"teamId":"\#(SandboxName.team)","domain":"\#(host)","dateCreated":"\#(clock.now())","version":1,"#
      + #""issuer":"\#(SandboxName.organization)","nonce":"\#(random.hex(32))"}"#
    return Hex.encode(Array(text.utf8)).uppercased()
  }

  /// Fetches the domain's file and compares it byte for byte.
  func verifyDomain(_ text: String, of identifier: String) async throws -> PortalDomain {
    let domain = try domain(text, of: identifier)
    // A domain that was verified in time is looked at again with the same file.
    guard domain.verifiedAt != nil || clock.now().seconds - domain.issuedAt <= PortalDomain.fileLife else {
      throw Self.notVerified("its file is older than seven days; register the domain again for a new one")
    }
    try await requireFile(of: domain)
    return try change(identifier) { merchant in
      guard let index = merchant.domains.firstIndex(where: { $0.associationFile == domain.associationFile }) else {
        throw Self.notVerified("the domain was registered again meanwhile")
      }
      merchant.domains[index].verifiedAt = clock.now().seconds
      return merchant.domains[index]
    }
  }

  private func domain(_ text: String, of identifier: String) throws -> PortalDomain {
    let name = HostName(text)
    guard let domain = try merchant(identifier).domains.first(where: { $0.host == name?.host }) else {
      throw SandboxProblem(status: 404, code: "domain_unknown", message: "This domain is not registered; add it first.")
    }
    guard name?.port == nil || name?.port == domain.port else {
      throw SandboxProblem(
        status: 404, code: "domain_unknown",
        message:
          "The domain is registered as \(domain.name), and only that is fetched; add it with the other port first.")
    }
    return domain
  }

  /// Fetches the file, and compares it byte for byte.
  func requireFile(of domain: PortalDomain) async throws {
    guard let url = domain.associationURL else { throw Self.notVerified("its name is not a host name") }
    let answer: (status: Int, body: [UInt8])
    do {
      answer = try await fetch.get(url)
    } catch let problem as SandboxProblem {
      throw problem
    } catch {
      throw Self.notVerified("\(url) could not be fetched")
    }
    guard answer.status == 200 else {
      throw Self.notVerified("\(url) answered \(answer.status); it has to answer 200 without a redirect")
    }
    guard answer.body == Array(domain.associationFile.utf8) else {
      throw Self.notVerified("\(url) serves another file than the one last issued for this domain")
    }
  }

  private static func notVerified(_ reason: String) -> SandboxProblem {
    SandboxProblem(status: 422, code: "domain_not_verified", message: "The domain was not verified: \(reason).")
  }
}
