import Crypto
import Foundation
package import HTTPTypes
package import Hummingbird
import NIOCore
package import StrictJSON
import TenderPayments

/// JSON out, never cached. The same answer is the same bytes: an encoded type has sorted keys, a ``JSONValue`` its own
/// order.
package enum JSONAnswer {
  package static func bytes(_ value: some Encodable) -> [UInt8] {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return (try? encoder.encode(value)).map(Array.init) ?? Array("{}".utf8)
  }

  package static func response(
    _ value: some Encodable, status: HTTPResponse.Status = .ok, contentType: String = MediaType.json
  ) -> Response {
    response(bytes: bytes(value), status: status, contentType: contentType)
  }

  package static func response(_ value: JSONValue, status: HTTPResponse.Status = .ok) -> Response {
    response(bytes: value.serialized(), status: status)
  }

  package static func response(
    bytes: [UInt8], status: HTTPResponse.Status = .ok, contentType: String = MediaType.json
  ) -> Response {
    Response(
      status: status, headers: headers(contentType), body: ResponseBody(byteBuffer: ByteBuffer(bytes: bytes)))
  }

  package static func headers(_ contentType: String) -> HTTPFields {
    [.contentType: contentType, .cacheControl: "no-store"]
  }

  /// A strong validator of these bytes.
  package static func etag(_ bytes: [UInt8]) -> String {
    "\"\(Hex.encode(SHA256.hash(data: bytes).prefix(16)))\""
  }
}
