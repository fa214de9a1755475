import HTTPTypes
import Hummingbird
import NIOCore
import StrictJSON

extension Response {
  /// A JSON answer, never cached.
  static func json(_ value: JSONValue, status: Int = 200) -> Response {
    Response(
      status: HTTPResponse.Status(code: status),
      headers: [.contentType: "application/json", .cacheControl: "no-store"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: value.serialized())))
  }

  static func text(_ text: String, type: String, status: Int = 200) -> Response {
    Response(
      status: HTTPResponse.Status(code: status),
      headers: [.contentType: "\(type); charset=utf-8", .cacheControl: "no-cache", .xContentTypeOptions: "nosniff"],
      body: ResponseBody(byteBuffer: ByteBuffer(string: text)))
  }
}

extension HTTPField.Name {
  static let contentSecurityPolicy = literal("Content-Security-Policy")
  static let xContentTypeOptions = literal("X-Content-Type-Options")

  /// The names above are valid, so the fallback is never taken.
  private static func literal(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .contentType }
}

extension SandboxProblem {
  var json: JSONValue { ["code": .string(code), "message": .string(message)] }
}
