import Foundation
import HTTPTransport
import MerchantIdentity
import Settings

extension DoctorCheck {
  static let networkGroup = [proxyReachable, proxyAuthentication, proxyApple]

  static let proxyReachable = DoctorCheck(
    "proxy_reachable", "Every proxy of `outbound` answers.",
    meaning: "What goes through it is not sent: payments are refused, webhooks and mail wait.",
    remedy: "Start the proxy, correct its address, or let the firewall pass the connection; docs/network.md.")
  static let proxyAuthentication = DoctorCheck(
    "proxy_authentication", "Every proxy of `outbound` accepts the user and the password.",
    meaning: "What goes through it is not sent: payments are refused, webhooks and mail wait.",
    remedy: "Correct outbound.user and the file of outbound.passwordFile, then start the server again.")
  static let proxyApple = DoctorCheck(
    "proxy_apple", "The proxy connects to Apple's gateway.",
    meaning: "No merchant session can be asked for: no sheet opens on a page.",
    remedy: "Have the proxy allow CONNECT to port 443 of the gateway's host, or of its addresses in docs/network.md.")
}

extension Doctor {
  package func networkFindings() async -> [DoctorFinding] {
    let (host, port) = gatewayPlace
    let ways = Egress.Destination.allCases.compactMap { try? configuration.outbound.egress(to: $0) }
    var (findings, seen) = ([DoctorFinding](), Set<Egress.Proxy>())
    let toApple = (try? configuration.outbound.egress(to: .apple))?.proxy(to: host, port: port)
    for proxy in [toApple] + ways.map(\.proxy) {
      guard let proxy, seen.insert(proxy).inserted else { continue }
      let refusal = await system.network.proxy(proxy, host, port)
      findings += [reachable(proxy, refusal), authentication(proxy, refusal)]
      if proxy == toApple { findings.append(apple(proxy, "\(host):\(port)", refusal)) }
    }
    let none = "outbound names no proxy"
    return findings.isEmpty ? DoctorCheck.networkGroup.map { $0.skipped("outbound", none) } : findings
  }

  /// The gateway, or in `simulated` the sandbox.
  private var gatewayPlace: (host: String, port: Int) {
    guard isSimulated, let url = URLComponents(string: configuration.sandboxURL ?? ""), let host = url.host else {
      return (hosts.global.authority, 443)
    }
    return (host.trimmingCharacters(in: ["[", "]"]), url.port ?? (url.scheme == "http" ? 80 : 443))
  }

  private func reachable(_ proxy: Egress.Proxy, _ refusal: ProxyRefusal?) -> DoctorFinding {
    guard let refusal, refusal.status == nil else { return DoctorCheck.proxyReachable.ok("\(proxy)", "it answers") }
    return DoctorCheck.proxyReachable.failed("\(proxy)", refusal.description)
  }

  private func authentication(_ proxy: Egress.Proxy, _ refusal: ProxyRefusal?) -> DoctorFinding {
    let check = DoctorCheck.proxyAuthentication
    guard let refusal else { return check.ok("\(proxy)", proxy.credentials == nil ? "it wants no user" : "accepted") }
    guard let status = refusal.status else { return check.skipped("\(proxy)", "it does not answer") }
    return check.require(
      !refusal.isOfLogin, "\(proxy)", ok: "status \(status)", failed: refusal.description)
  }

  private func apple(_ proxy: Egress.Proxy, _ gateway: String, _ refusal: ProxyRefusal?) -> DoctorFinding {
    let check = DoctorCheck.proxyApple
    guard let refusal else { return check.ok(gateway, "through \(proxy)") }
    return refusal.status == nil || refusal.isOfLogin
      ? check.skipped(gateway, refusal.description) : check.failed(gateway, refusal.description)
  }
}

extension ProxyRefusal {
  /// Tinyproxy 1.11 answers a wrong password with 401, against RFC 9110.
  fileprivate var isOfLogin: Bool { status == 407 || status == 401 }
}
