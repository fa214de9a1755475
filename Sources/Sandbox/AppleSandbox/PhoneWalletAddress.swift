import NIOCore

/// Where phones on the network open the page with which they pay.
package struct PhoneWalletAddress: Sendable, Hashable {
  /// The address to listen on: `0.0.0.0` is every one of this machine's.
  package let host: String
  package let port: Int

  package init(host: String, port: Int) {
    self.host = host
    self.port = port
  }

  /// The address as a phone calls it.
  package var url: String { "http://\(Self.called(host)):\(port)" }

  /// An address that stands for all of this machine's is no address to call: then the first of its own on a network.
  private static func called(_ host: String) -> String {
    guard host == "0.0.0.0" || host == "::" else { return host.contains(":") ? "[\(host)]" : host }
    let devices = (try? System.enumerateDevices()) ?? []
    return devices.lazy.compactMap { networkAddress($0.address) }.first ?? "127.0.0.1"
  }

  private static func networkAddress(_ address: SocketAddress?) -> String? {
    guard case .v4? = address, let text = address?.ipAddress else { return nil }
    return text.hasPrefix("127.") || text.hasPrefix("169.254.") ? nil : text
  }
}
