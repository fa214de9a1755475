import Logging
import NIOCore
import NIOSSL

/// Reports TLS connections that the gateway rejects before a request can be read: without a client certificate, or with
/// one of another sandbox.
final class HandshakeFailures: ChannelInboundHandler, RemovableChannelHandler {
  typealias InboundIn = Any

  private let activity: RecentActivity
  private let logger: Logger

  init(_ activity: RecentActivity, _ logger: Logger) {
    self.activity = activity
    self.logger = logger
  }

  func errorCaught(context: ChannelHandlerContext, error: any Error) {
    if let error = error as? NIOSSLError, case .handshakeFailed(let reason) = error { report("\(reason)") }
    context.fireErrorCaught(error)
  }

  private func report(_ reason: String) {
    activity.note(.sessions, "the gateway", "TLS handshake", refusal: "\(reason). \(Self.remedy)")
    logger.warning(
      "the gateway refused a TLS connection", metadata: ["reason": "\(reason)", "remedy": "\(Self.remedy)"])
  }

  private static let remedy =
    "Present the identity certificate that this sandbox's portal issued, with its key, and trust its tlsRootPEM."
}
