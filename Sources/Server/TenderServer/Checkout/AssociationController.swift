import Administration
import HTTPTypes
import Hummingbird
import MerchantIdentity
import NIOCore

/// The file by which Apple learns whose a domain is: exact bytes, for the host that was asked, never a redirect.
struct AssociationController: Sendable {
  let merchants: LiveMerchants

  /// `GET /.well-known/apple-developer-merchantid-domain-association`, with and without `.txt`.
  func show(_ request: Request, _ context: ServerContext) throws -> Response {
    let host = request.head.authority
    let merchants = merchants.current
    let hosted = merchants.platform.site
    let ownFile = hosted.isAsked(host) ? hosted.association : nil
    guard let file = ownFile ?? host.flatMap({ merchants.directory.merchant(host: $0) })?.site.association else {
      throw Problem(
        .notFound, "association_not_found", "No merchant of this server has an association file for this host.")
    }
    return Response(
      status: .ok, headers: [.contentType: "text/plain"], body: ResponseBody(byteBuffer: ByteBuffer(bytes: file.bytes)))
  }
}
