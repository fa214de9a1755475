import HTTPTypes
import Hummingbird
import NIOCore

extension Response {
  static func text(_ text: String, type: String, status: Int = 200) -> Response {
    Response(
      status: HTTPResponse.Status(code: status),
      headers: [.contentType: "\(type); charset=utf-8", .cacheControl: "no-cache"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}
