import DirectWire
import HTTPTransport
import MerchantIdentity
import Settings
import TenderPayments

extension DoctorCheck {
  static let appleGroup = [appleReachable, appleSession, clock]

  static let appleReachable = DoctorCheck(
    "apple_reachable", "Apple's gateway, or in `simulated` the sandbox, can be reached.",
    meaning: "No merchant session can be asked for: no sheet opens on a page.",
    remedy: "Allow connections to port 443 of the gateway's host, and check that its name resolves.")
  static let appleSession = DoctorCheck(
    "apple_session", "Apple gives a merchant session for the identity certificate and the domain (mutual TLS).",
    meaning: "The sheet closes at once on this domain.",
    remedy: "See the finding; usually the domain is not registered under the merchant identifier, or the certificate "
      + "is another's.")
  static let clock = DoctorCheck(
    "clock", "The machine's clock agrees with the other side's within 30 seconds.",
    meaning: "Payment tokens seem too old or too new beyond 5 minutes, and are refused.",
    remedy: "Switch on time synchronisation (chrony, systemd-timesyncd).")
}

extension Doctor {
  func appleFindings() async -> [DoctorFinding] {
    let probe =
      isSimulated ? (configuration.sandboxURL ?? "") + "/sandbox/ca.json" : "https://\(hosts.global.authority)/"
    do throws(TransportError) {
      let sender = isSimulated ? system.network.plain : system.network.apple
      let answer = try await sender.send(OutboundRequest(method: "GET", url: probe), .seconds(10))
      return [DoctorCheck.appleReachable.ok(probe, "it answers"), clock(answer, probe)] + (await sessions())
    } catch {
      let words = error.words
      return [DoctorCheck.appleReachable.notReachable(probe, words), DoctorCheck.clock.notReachable(probe, words)]
        + merchantsOnPages.map { DoctorCheck.appleSession.notReachable($0.id, words) }
    }
  }

  var hosts: ApplePayHosts { configuration.environment == .production ? .production : .appleSandbox }
  private var merchantsOnPages: [ExaminedMerchant] { subject.merchants.filter { !$0.domains.isEmpty } }

  private func clock(_ answer: InboundResponse, _ from: String) -> DoctorFinding {
    guard let theirs = answer.header("Date").flatMap(HTTPDate.parse) else {
      return DoctorCheck.clock.skipped(from, "its answer has no date")
    }
    // The header has the other machine's time, also where a simulated clock is moved on.
    let seconds = system.clock.machine().since(theirs).components.seconds
    guard abs(seconds) > 30 else { return DoctorCheck.clock.ok(from, "\(seconds) seconds apart") }
    let words = "this machine's clock is \(abs(seconds)) seconds \(seconds > 0 ? "ahead" : "behind")"
    return abs(seconds) > 240 ? DoctorCheck.clock.failed(from, words) : DoctorCheck.clock.warning(from, words)
  }

  private func sessions() async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    do {
      let (gateway, roots) = try await self.gateway()
      for merchant in merchantsOnPages { findings += await sessions(of: merchant, gateway, roots) }
    } catch {
      findings += merchantsOnPages.map { DoctorCheck.appleSession.notReachable($0.id, ErrorWords.of(error)) }
    }
    return findings
  }

  private func gateway() async throws -> (ApplePayGateway, TrustedRoots) {
    guard isSimulated else { return (hosts.global, .system) }
    let sandbox = try await SimulatedApple(at: configuration.sandboxURL ?? "", sender: system.network.plain)
    return (try ApplePayHosts.simulated(gatewayURL: sandbox.gatewayURL).global, .pem(sandbox.gatewayRootPEM))
  }

  private func sessions(
    of merchant: ExaminedMerchant, _ gateway: ApplePayGateway, _ roots: TrustedRoots
  ) async -> [DoctorFinding] {
    guard let identity = merchant.identity, let key = identity.keyPEM, let identifier = merchant.identifier,
      let name = merchant.settings.flatMap({ try? DisplayName($0.displayName) })
    else { return [DoctorCheck.appleSession.skipped(merchant.id, "there is no usable identity certificate")] }
    do {
      let sender = try system.network.identified(
        ClientIdentity(certificateChainPEM: identity.pem, privateKeyPEM: key), roots)
      let validator = MerchantValidator(sender: sender, gateway: gateway)
      var findings: [DoctorFinding] = []
      for domain in merchant.domains {
        findings.append(await session(validator, .web(domain, of: identifier, named: name), domain))
      }
      return findings
    } catch {
      return [DoctorCheck.appleSession.failed(merchant.id, "the identity certificate cannot be used: \(error)")]
    }
  }

  private func session(
    _ validator: MerchantValidator, _ request: MerchantSessionRequest, _ domain: Domain
  ) async -> DoctorFinding {
    let check = DoctorCheck.appleSession
    do {
      _ = try await validator.session(for: request)
      return check.ok(domain.name, "a session for \(request.merchant)")
    } catch {
      let words = error.reason + (error.gatewayMessage.map { " It says: \($0)" } ?? "")
      return error.code == .gatewayUnreachable || error.code == .gatewayTimeout
        ? check.notReachable(domain.name, words, remedy: error.advice)
        : check.failed(domain.name, words, remedy: error.advice)
    }
  }
}
