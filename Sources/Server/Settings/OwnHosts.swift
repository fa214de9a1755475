import Foundation
import MerchantIdentity

extension ServerConfiguration {
  /// The hosts of this configuration, as ``Domain`` writes names: none of them can be a merchant's of the store. A port is
  /// part of the name on this machine alone.
  var ownHosts: Set<String> {
    let addresses = [
      publicURL, hostedCheckoutURL, office.url, sandboxURL, acquirer.baseURL, storeURL,
    ].compactMap { $0.flatMap { URLComponents(string: $0) } }
    let named = addresses.compactMap { url in url.host.map { Self.name($0, url.port) } }
    let listening = [
      (host, Optional(port)), (office.host, office.port), ("localhost", office.port), (metricsHost, metricsPort),
    ].compactMap { host, port in port.map { Self.name(host, $0) } }
    return Set(named + listening + (mail.host.map { [Self.name($0, mail.port)] } ?? []))
  }

  private static func name(_ host: String, _ port: Int?) -> String {
    let host = host.lowercased().trimmingCharacters(in: ["[", "]"])
    let name = host.hasSuffix(".") ? String(host.dropLast()) : host
    guard ServiceAddress.isLoopback(name), let port else { return name }
    return "\(name):\(port)"
  }
}
