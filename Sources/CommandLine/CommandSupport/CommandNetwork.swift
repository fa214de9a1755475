import ArgumentParser
import Foundation
package import HTTPTransport
import Administration
import NIOCore
package import TenderPayments
import TenderServer

extension LiveHTTPClient {
  /// A client for the time of one command. It is shut down however the command ends.
  package static func during<R>(
    egress: Egress = .direct, maximumResponseBytes: Int = 65_536, _ body: (HTTPSender) async throws -> R
  ) async throws -> R {
    let client = try LiveHTTPClient(egress: egress, maximumResponseBytes: maximumResponseBytes)
    do {
      let result = try await body(client.sender)
      try await client.shutdown()
      return result
    } catch {
      try? await client.shutdown()
      throw error
    }
  }
}

package enum Limit {
  package static func check(_ limit: Int) throws {
    guard (1...500).contains(limit) else { throw ValidationError("--limit is from 1 to 500.") }
  }
}

/// Checks ports before anything starts, so that the error names a port in use.
package enum Port {
  /// - Parameter option: the option of the port.
  package static func check(_ port: Int, _ option: String) throws {
    guard (0...65_535).contains(port) else { throw ValidationError("\(option) is a number from 0 to 65535.") }
  }

  /// - Parameter advice: what to type instead.
  package static func require(_ ports: [Int], on host: String = "127.0.0.1", advice: String) throws {
    for port in ports where port != 0 {
      do { try bind(to: .makeAddressResolvingHost(host, port: port)) } catch let error as IOError {
        throw CallFailure("\(reason(error, host, port)). \(advice)")
      } catch is SocketAddressError.UnknownHost {
        throw CallFailure("the host \(host) is unknown: no address was found for the name")
      }
    }
  }

  /// Without listening: who connects before the program listens is refused, and does not wait for an answer for ever.
  private static func bind(to address: SocketAddress) throws {
    let descriptor = socket(address.protocol.rawValue, Int32(clamping: SOCK_STREAM.rawValue), 0)
    guard descriptor >= 0 else { throw IOError(errnoCode: errno, reason: "socket") }
    defer { close(descriptor) }
    var reuses: Int32 = 1
    setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &reuses, socklen_t(MemoryLayout<Int32>.size))
    let code = address.withSockAddr { Foundation.bind(descriptor, $0, socklen_t(clamping: $1)) }
    guard code == 0 else { throw IOError(errnoCode: errno, reason: "bind") }
  }

  private static func reason(_ error: IOError, _ host: String, _ port: Int) -> String {
    switch error.errnoCode {
    case EADDRINUSE: "port \(port) is taken"
    case EACCES: "port \(port) is not for this user: a port below 1024 needs a privilege"
    case EADDRNOTAVAIL: "\(host) is not an address of this machine"
    default: "nothing can listen on \(NetworkAddress.authority(host, port))"
    }
  }
}

extension Currency {
  /// The value of `--amount`.
  package func amount(typed text: String) throws -> Amount {
    do throws(MistypedAmount) { return try Amount(typed: text, in: self) } catch {
      throw MistakenCall("--amount \(error)")
    }
  }
}
