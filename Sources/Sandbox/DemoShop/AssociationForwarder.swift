import HTTPTransport
import HTTPTypes
import Hummingbird
import NIOCore

/// Serves Apple's domain association file from Tender, for the host that was asked: what a merchant's web server does
/// with one line of its proxy's configuration.
struct AssociationForwarder: Sendable {
  let tenderServerURL: String
  let sender: HTTPSender

  func forward(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let outbound = OutboundRequest(
      method: "GET", url: tenderServerURL + request.uri.path, headers: [HTTPField("Host", request.head.authority ?? "")]
    )
    guard let answer = try? await sender.send(outbound, .seconds(5)) else { throw HTTPError(.badGateway) }
    return Response(
      status: .init(code: answer.status), headers: [.contentType: "text/plain"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: answer.body)))
  }
}
