package import HTTPTransport
package import Mail
package import Settings
package import TenderPayments

/// The machine and the network as the doctor sees them.
package struct DoctorSystem: Sendable {
  let clock: WallClock
  package let network: DoctorNetwork
  let machine: DoctorMachine

  package init(clock: WallClock, network: DoctorNetwork, machine: DoctorMachine) {
    (self.clock, self.network, self.machine) = (clock, network, machine)
  }

  /// The real ones. The caller closes the network.
  package static func live(
    _ network: Network, _ configuration: ServerConfiguration, clock: WallClock = .system
  ) -> DoctorSystem {
    DoctorSystem(clock: clock, network: .live(network, configuration.destinations), machine: .live)
  }
}

package struct DoctorNetwork: Sendable {
  /// The addresses of a host; empty where the name does not resolve.
  let resolve: @Sendable (_ host: String) async -> [ResolvedAddress]
  /// A TLS handshake.
  package let handshake: @Sendable (_ host: String, _ port: Int) async throws -> TLSHandshake
  /// Has a proxy connect to a host, and sends nothing; nil where it does.
  let proxy: @Sendable (Egress.Proxy, _ host: String, _ port: Int) async -> ProxyRefusal?
  /// Calls without a client certificate; redirects are returned.
  let plain: HTTPSender
  /// Calls of Apple's gateway without a client certificate.
  let apple: HTTPSender
  /// Calls of the provider at which operators sign in.
  let signIn: HTTPSender
  /// Calls of what merchants name, as far as the operator lets them.
  let guarded: HTTPSender
  /// Calls with one.
  let identified: @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender
  /// Connects to a mail server and authenticates.
  let mail: @Sendable (SMTPServer) async -> SMTPResult

  package init(
    resolve: @escaping @Sendable (String) async -> [ResolvedAddress],
    handshake: @escaping @Sendable (String, Int) async throws -> TLSHandshake,
    proxy: @escaping @Sendable (Egress.Proxy, String, Int) async -> ProxyRefusal?, plain: HTTPSender, apple: HTTPSender,
    guarded: HTTPSender, signIn: HTTPSender? = nil,
    identified: @escaping @Sendable (ClientIdentity, TrustedRoots) throws -> HTTPSender,
    mail: @escaping @Sendable (SMTPServer) async -> SMTPResult = MailTransport.smtp.probe
  ) {
    (self.resolve, self.handshake, self.plain, self.identified) = (resolve, handshake, plain, identified)
    self.signIn = signIn ?? plain
    (self.proxy, self.apple, self.guarded, self.mail) = (proxy, apple, guarded, mail)
  }
}

/// An address of a host.
package struct ResolvedAddress: Sendable, Hashable {
  let text: String
  /// Whether packets to it leave for the public Internet.
  let isPublic: Bool

  package init(_ text: String, isPublic: Bool) { (self.text, self.isPublic) = (text, isPublic) }
}

extension [ResolvedAddress] {
  var list: String { map(\.text).joined(separator: ", ") }
}

package struct DoctorMachine: Sendable {
  /// Permissions of a file or folder, the last nine bits; nil where there is none.
  package let mode: @Sendable (_ path: String) -> Int?
  /// Whether a file's permissions are those of a secret; nil where there is none.
  package let isPrivate: @Sendable (_ path: String) -> Bool?
  /// The size of a file; nil where there is none.
  package let size: @Sendable (_ path: String) -> Int64?
  /// Free and all bytes of the disk that holds a path.
  let disk: @Sendable (_ path: String) -> (free: Int64, all: Int64)?
  /// How many files the process may have open.
  let openFiles: @Sendable () -> Int
  /// Whether something accepts connections on a Unix socket.
  let socketAnswers: @Sendable (_ path: String) -> Bool

  package init(
    mode: @escaping @Sendable (String) -> Int?, isPrivate: @escaping @Sendable (String) -> Bool?,
    size: @escaping @Sendable (String) -> Int64?, disk: @escaping @Sendable (String) -> (free: Int64, all: Int64)?,
    openFiles: @escaping @Sendable () -> Int,
    socketAnswers: @escaping @Sendable (String) -> Bool
  ) {
    (self.mode, self.isPrivate, self.size, self.disk) = (mode, isPrivate, size, disk)
    (self.openFiles, self.socketAnswers) = (openFiles, socketAnswers)
  }
}
