package import HTTPTransport
import Synchronization

/// The network's place in shadow mode. It holds no client, so a connector that is made with it can send nothing; what the
/// connector would have sent is kept, scrubbed.
package final class ShadowTransport: Sendable {
  private let built = Mutex<[String]>([])

  package init() {}

  /// What was built so far, in order.
  package var requests: [String] { built.withLock { $0 } }

  /// For a connector's log of exchanges.
  @Sendable package func log(_ transcript: @autoclosure () -> Transcript) {
    let request = transcript().request
    built.withLock { $0.append(request) }
  }

  package var sender: HTTPSender {
    HTTPSender { request, _ throws(TransportError) in
      guard let access = Self.access(request) else { throw .notSent("shadow mode sends nothing") }
      return access
    }
  }

  /// An access token that opens nothing, for a connector that needs one before it builds its request.
  private static func access(_ request: OutboundRequest) -> InboundResponse? {
    guard request.url.hasSuffix("/connect/token") else { return nil }
    let body = #"{"access_token":"shadow","token_type":"Bearer","expires_in":60,"scope":""}"#
    return InboundResponse(
      status: 200, headers: [HTTPField("Content-Type", "application/json")], body: Array(body.utf8))
  }
}
