package import HTTPTransport

/// The server that takes our messages, and how it is reached.
package struct SMTPServer: Sendable {
  package enum Security: String, Sendable, CaseIterable {
    /// Plain at first, then TLS by STARTTLS; without it nothing is sent.
    case startTLS = "starttls"
    /// TLS from the beginning.
    case tls
    /// For a relay on this machine.
    case none
  }

  package let host: String
  package let port: Int
  package let security: Security
  package let user: String?
  let password: String?
  /// Trusted roots, PEM; nil for the system's.
  let rootsPEM: String?
  /// What EHLO carries.
  let ownName: String
  let egress: Egress

  /// How long connection, TLS and authentication may take, and all of it.
  static let connectTime: Duration = .seconds(10)
  static let totalTime: Duration = .seconds(30)

  package init(
    host: String, port: Int, security: Security, user: String? = nil, password: String? = nil, rootsPEM: String? = nil,
    ownName: String = "localhost", egress: Egress = .direct
  ) {
    (self.host, self.port, self.security, self.user) = (host, port, security, user)
    (self.password, self.rootsPEM, self.ownName, self.egress) = (password, rootsPEM, ownName, egress)
  }

  package var address: String { NetworkAddress.authority(host, port) }

  var url: String { "\(security == .tls ? "smtps" : "smtp")://\(address)/\(ownName)" }

  var proxy: Egress.Proxy? { egress.proxy(to: host, port: port) }
}

extension SMTPServer: CustomStringConvertible, CustomReflectable {
  package var description: String { "SMTPServer(\(address))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
