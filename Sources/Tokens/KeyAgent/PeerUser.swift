import Foundation
import NIOCore

/// The user at the other end of a Unix socket, from the kernel.
enum PeerUser {
  static func id(of channel: any Channel) -> EventLoopFuture<UInt32> {
    guard let options = channel as? any SocketOptionProvider else {
      return channel.eventLoop.makeFailedFuture(SocketError("the connection has no peer"))
    }
    #if canImport(Darwin)
      let level = NIOBSDSocket.OptionLevel(rawValue: SOL_LOCAL)
      let name = NIOBSDSocket.Option(rawValue: LOCAL_PEERCRED)
    #else
      let (level, name) = (NIOBSDSocket.OptionLevel.socket, NIOBSDSocket.Option(rawValue: SO_PEERCRED))
    #endif
    return options.unsafeGetSocketOption(level: level, name: name).map { (peer: Credentials) in peer.user }
  }

  #if canImport(Darwin)
    /// The beginning of the kernel's `struct xucred`; the kernel copies as much as is asked for.
    private struct Credentials: Sendable {
      var version: UInt32 = 0
      var user: UInt32 = 0
    }
  #else
    /// The kernel's `struct ucred` of unix(7), which the C library declares only with GNU extensions.
    private struct Credentials: Sendable {
      var process: Int32 = 0
      var user: UInt32 = 0
      var group: UInt32 = 0
    }
  #endif
}
