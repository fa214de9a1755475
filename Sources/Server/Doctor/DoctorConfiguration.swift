import Foundation
import Settings
import TenderPayments

extension DoctorCheck {
  static let configurationGroup = [
    settingsReadable, environmentNamed, publicAddressSecure, merchantsPresent, routesReadable, guestTokenKey,
    keyAgent,
  ]

  static let settingsReadable = DoctorCheck(
    "settings_readable", "Every setting can be read.", meaning: "The server does not start.",
    remedy: "Correct the setting; `tender config check` shows the line.")
  static let environmentNamed = DoctorCheck(
    "environment_exposed", "A server that others reach does not run `simulated`.",
    meaning: "Whoever reaches the server pays with simulated cards, and real cards are refused.",
    remedy: "Set `environment` to `apple-sandbox` or `production`, or `host` to 127.0.0.1.")
  static let publicAddressSecure = DoctorCheck(
    "public_address_secure", "`publicURL` begins with https:// outside of `simulated`.",
    meaning: "Safari shows no Apple Pay button on a page without HTTPS.",
    remedy: "Set `publicURL` to the address with https, as browsers reach it.")
  static let merchantsPresent = DoctorCheck(
    "merchants_present", "There is a merchant.", meaning: "No page can be served.",
    remedy: "Add one: `tender merchant add`, or set `merchants.directory`.")
  static let routesReadable = DoctorCheck(
    "routes_readable", "The routes to payment providers can be read, and there is one.",
    meaning: "The server does not start, or no payment can be taken.",
    remedy: "Correct the connector's folder, see docs/providers.")
  static let guestTokenKey = DoctorCheck(
    "guest_token_key", "The key of guest tokens can be read, or can be made.",
    meaning: "The server does not start.",
    remedy: "Restore the key, or remove the file: a new one is made, and earlier guest tokens stay valid.")
  static let keyAgent = DoctorCheck(
    "key_agent_answers", "The key agent answers on its socket.",
    meaning: "No payment token can be opened, because the agent holds the private keys.",
    remedy: "Start `tender key-agent` with the socket of `keyAgent.socket`, for the same user.")
}

extension Doctor {
  func configurationFindings() -> [DoctorFinding] {
    settings() + [environment(), publicAddress(), merchants(), routes(), guestKey(), agent()]
  }

  private func settings() -> [DoctorFinding] {
    let problems = subject.problems.filter { !$0.isWarning }
    guard !problems.isEmpty else { return [DoctorCheck.settingsReadable.ok("configuration", "all settings are read")] }
    return problems.map {
      DoctorCheck.settingsReadable.failed($0.place ?? $0.key, "\($0.key): \($0.reason)")
    }
  }

  private func environment() -> DoctorFinding {
    let host = configuration.host
    return DoctorCheck.environmentNamed.require(
      !isSimulated || ServiceAddress.isLoopback(host), "environment",
      ok: "\(configuration.environment.rawValue) on \(host)",
      failed: "the server runs simulated and listens on \(host), which others reach")
  }

  private func publicAddress() -> DoctorFinding {
    let address = configuration.publicURL
    return DoctorCheck.publicAddressSecure.require(
      isSimulated || address.hasPrefix("https://"), "publicURL", ok: address, failed: "\(address) is not https")
  }

  private func merchants() -> DoctorFinding {
    let count = max(subject.merchants.count, Int(facts?.store.storedMerchants ?? 0))
    // Whether a store that is not looked at has merchants is not known.
    guard count > 0 || facts != nil || isStoreNew else {
      return DoctorCheck.merchantsPresent.skipped(configuration.merchantsDirectory, factsProblem)
    }
    return DoctorCheck.merchantsPresent.require(
      count > 0, configuration.merchantsDirectory, ok: count == 1 ? "1 merchant" : "\(count) merchants",
      failed: MerchantFolder.absence(in: configuration.merchantsDirectory))
  }

  private func routes() -> DoctorFinding {
    let place = configuration.connectorsDirectory
    if let problem = subject.routesProblem { return DoctorCheck.routesReadable.failed(place, problem) }
    return DoctorCheck.routesReadable.require(
      !subject.routes.isEmpty, place, ok: subject.routes.joined(separator: ", "),
      failed: "there is no route to a payment provider")
  }

  private func guestKey() -> DoctorFinding {
    let file = configuration.guestTokenKeyFile
    guard system.machine.mode(file) != nil else {
      return DoctorCheck.guestTokenKey.ok(file, "the first start makes it")
    }
    do {
      try GuestTokenKey.check(file)
      return DoctorCheck.guestTokenKey.ok(file, "can be read")
    } catch {
      return DoctorCheck.guestTokenKey.failed(file, ErrorWords.of(error))
    }
  }

  private func agent() -> DoctorFinding {
    guard let socket = configuration.keyAgentSocket else {
      return DoctorCheck.keyAgent.skipped("keyAgent.socket", "no key agent is configured")
    }
    return DoctorCheck.keyAgent.require(
      system.machine.socketAnswers(socket), socket, ok: "the agent answers", failed: "nothing answers on the socket")
  }
}
