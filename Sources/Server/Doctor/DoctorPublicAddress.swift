import HTTPTransport
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments

extension DoctorCheck {
  static let publicAddressGroup = [publicReachable, publicServer, corsOrigin, touchIcons]

  static let publicReachable = DoctorCheck(
    "public_url_reachable", "The server answers at `publicURL`.",
    meaning: "Pages cannot load the kit, and providers' events do not arrive.",
    remedy: "Start the server, or correct `publicURL` and the proxy before it.")
  static let publicServer = DoctorCheck(
    "public_url_same_server", "What answers at `publicURL` serves this merchant.",
    meaning: "The address leads to another server, or to one that has not read the merchant: the button stays hidden.",
    remedy: "Correct the proxy or the name's address; then `tender reload`.")
  static let corsOrigin = DoctorCheck(
    "cors_origin", "The server lets the merchant's page call it.",
    meaning: "The browser blocks every call of the page: the button stays hidden.",
    remedy: "Let the proxy pass Origin through and the answer's Access-Control-Allow-Origin back, unchanged.")
  static let touchIcons = DoctorCheck(
    "touch_icons", "The touch icons can be fetched.", meaning: "The sheet shows no icon of the shop.",
    remedy: "Correct touchIcons in merchant.yaml, or let the site serve the icon.")
}

extension Doctor {
  func publicAddressFindings() async -> [DoctorFinding] {
    let address = configuration.publicURL
    do throws(TransportError) {
      let answer = try await get("\(address)/healthz")
      let isUp = answer.status == 200
      let reachable = DoctorCheck.publicReachable.require(
        isUp, address, ok: "it answers", failed: "/healthz has status \(answer.status)")
      return [reachable] + (isUp ? await merchantsAtPublicAddress() : []) + (await icons())
    } catch {
      return [unreachable(address, error)] + (await icons())
    }
  }

  /// A server that does not run is no failure of its configuration.
  private func unreachable(_ address: String, _ error: TransportError) -> DoctorFinding {
    if let problem = error.certificateProblem {
      return DoctorCheck.publicReachable.failed(
        address, problem,
        remedy: "Have its certificate issued by an authority that browsers trust, for this very name, or add the "
          + "authority of a private one to this machine's.")
    }
    return facts?.isRunning == true
      ? DoctorCheck.publicReachable.failed(address, error.words)
      : DoctorCheck.publicReachable.notReachable(address, "\(noAnswer), and \(error.words)")
  }

  private func merchantsAtPublicAddress() async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for merchant in subject.merchants {
      guard let origin = merchant.domains.first?.origins.last else { continue }
      findings += await metadata(merchant, origin)
    }
    return findings
  }

  private func metadata(_ merchant: ExaminedMerchant, _ origin: String) async -> [DoctorFinding] {
    let check = DoctorCheck.self
    do throws(TransportError) {
      let answer = try await get(
        "\(configuration.publicURL)/applepay/metadata", [HTTPField("Origin", origin)])
      let named = (try? JSONReader.read(answer.body))?["merchantIdentifier"]?.text
      let isOurs = named.map { Array($0.utf8) } == merchant.identifier.map { Array($0.text.utf8) } && named != nil
      let allowed = answer.header("Access-Control-Allow-Origin")
      return [
        check.publicServer.require(
          isOurs, origin, ok: named ?? "", failed: named.map { "it serves \($0)" } ?? "status \(answer.status)"),
        check.corsOrigin.require(
          allowed.map { Array($0.utf8) } == Array(origin.utf8), origin, ok: "allowed",
          failed: allowed.map { "Access-Control-Allow-Origin is \($0)" } ?? "there is no Access-Control-Allow-Origin"),
      ]
    } catch {
      return [check.publicServer.failed(origin, error.words)]
    }
  }

  private func icons() async -> [DoctorFinding] {
    var findings: [DoctorFinding] = []
    for icon in Set(subject.merchants.flatMap { $0.settings?.touchIcons ?? [] }).sorted()
    where icon.hasPrefix("http") {
      do throws(TransportError) {
        let request = OutboundRequest(method: "GET", url: icon)
        let status = try await system.network.guarded.send(request, .seconds(10)).status
        findings.append(
          status == 200
            ? DoctorCheck.touchIcons.ok(icon, "status 200") : DoctorCheck.touchIcons.warning(icon, "status \(status)"))
      } catch { findings.append(DoctorCheck.touchIcons.notReachable(icon, error.words)) }
    }
    return findings
  }

  private func get(_ url: String, _ headers: [HTTPField] = []) async throws(TransportError) -> InboundResponse {
    try await system.network.plain.send(OutboundRequest(method: "GET", url: url, headers: headers), .seconds(10))
  }
}
