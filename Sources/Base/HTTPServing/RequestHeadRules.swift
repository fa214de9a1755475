package import HTTPTypes
import HummingbirdCore
import NIOHTTP1
import StrictJSON

/// Why a request is refused before anything reads its head.
package struct RequestHeadProblem: Error, Sendable, Hashable {
  package let status: HTTPResponse.Status
  /// Stable, for programs.
  package let code: String
  package let detail: String
  /// The header that is at fault.
  package var field: String?

  init(_ status: HTTPResponse.Status, _ code: String, _ detail: String, field: String? = nil) {
    (self.status, self.code, self.detail, self.field) = (status, code, detail, field)
  }

  /// `{code, message}`, after which the connection ends.
  package var answer: PlainAnswer {
    var answer = PlainAnswer(["code": .string(code), "message": .string(detail)], status: status)
    answer.head.headerFields[.connection] = "close"
    return answer
  }
}

/// What the head of a request must be like before anything reads it, on every listener.
///
/// Everything behind this check may compare and hash header values as strings: what the server reads is ASCII, and in
/// everything else no run of combining marks is long.
package enum RequestHeadRules {
  /// Bytes of the request line and of all headers together.
  static let maximumBytes = 16_384
  /// Bytes of the request target.
  static let maximumTargetBytes = 8_192

  static let decoderLimits = HTTP1Channel.Configuration.DecoderConfiguration(
    maxHeaderFieldSize: maximumBytes, maxHeaderListSize: maximumBytes, maxHeaderFieldCount: 128)

  /// What is wrong with the head; nil when the server may read it.
  static func problem(in request: HTTPRequest, _ version: HTTPVersion) -> RequestHeadProblem? {
    target(request.path ?? "") ?? host(request, version) ?? framing(request, version)
      ?? request.headerFields.lazy.compactMap(field).first
  }

  /// Why the decoder does not go on.
  static func problem(for error: HTTPParserError) -> RequestHeadProblem {
    guard case .headerOverflow = error else { return malformed }
    return RequestHeadProblem(
      .requestHeaderFieldsTooLarge, "headers_too_large",
      "Request line and headers have at most \(maximumBytes) bytes, and there are at most 128 headers.")
  }

  package static let malformed = RequestHeadProblem(
    .badRequest, "malformed_request", "The request is not framed as HTTP/1.1, or it ended before its end.")

  /// Path and query: visible ASCII, and what ``RequestText`` reads when the escapes are undone.
  private static func target(_ target: String) -> RequestHeadProblem? {
    guard target.utf8.count <= maximumTargetBytes else {
      return RequestHeadProblem(
        .uriTooLong, "target_too_long", "Path and query have at most \(maximumTargetBytes) bytes.")
    }
    let hasEscapes = target.utf8.contains(UInt8(ascii: "%"))
    guard target.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
      !hasEscapes || RequestText.read(RequestText.unescaped(target.utf8)) != nil
    else { return RequestHeadProblem(.badRequest, "bad_target", "Path and query are not as RFC 3986 writes them.") }
    return nil
  }

  /// Exactly one, and it names a host (RFC 9112, section 3.2); HTTP/1.0 needs none. The decoder has taken the first one
  /// out.
  private static func host(_ request: HTTPRequest, _ version: HTTPVersion) -> RequestHeadProblem? {
    if version == .http1_0, request.authority == nil { return nil }
    let isRepeated = request.headerFields.contains { $0.name.canonicalName == "host" }
    guard let host = request.authority, !isRepeated, isHost(Array(host.utf8)) else {
      return RequestHeadProblem(
        .badRequest, "bad_host", "Send exactly one Host header, with a host and perhaps a port.")
    }
    return nil
  }

  /// The decoder undoes one transfer coding, and it finds out about others when it has passed the head on. HTTP/1.0 has
  /// none (RFC 9112, section 6.1).
  private static func framing(_ request: HTTPRequest, _ version: HTTPVersion) -> RequestHeadProblem? {
    let codings = request.headerFields[values: .transferEncoding]
    let isChunked = codings.allSatisfy { $0.utf8.map { $0 | 0x20 }.elementsEqual("chunked".utf8) }
    guard codings.count > 1 || !isChunked || version == .http1_0 && !codings.isEmpty else { return nil }
    return RequestHeadProblem(
      .badRequest, "bad_transfer_coding", "Send the body with its length, or in chunks and in no other coding.",
      field: "Transfer-Encoding")
  }

  /// `uri-host [ ":" port ]` of RFC 3986, without user and without escapes, which no host that calls us needs.
  private static func isHost(_ bytes: [UInt8]) -> Bool {
    let isLiteral = bytes.first == UInt8(ascii: "[")
    let end =
      isLiteral ? bytes.lastIndex(of: UInt8(ascii: "]")).map { $0 + 1 } : bytes.firstIndex(of: UInt8(ascii: ":"))
    let name = bytes[..<(end ?? bytes.count)]
    let port = bytes[name.endIndex...]
    let isPort =
      port.isEmpty || port.first == UInt8(ascii: ":") && port.count <= 6 && port.dropFirst().allSatisfy(isDigit)
    guard (1...255).contains(name.count), isPort else { return false }
    guard isLiteral else { return name.allSatisfy(isNameByte) }
    return end != nil && name.count > 2 && name.dropFirst().dropLast().allSatisfy(isLiteralByte)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func isNameByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || "-._~".utf8.contains(byte)
  }

  private static func isLiteralByte(_ byte: UInt8) -> Bool {
    isLetter(byte) || isDigit(byte) || ":.".utf8.contains(byte)
  }

  private static func field(_ field: HTTPField) -> RequestHeadProblem? {
    let name = field.name.canonicalName
    let isGood =
      isASCII(name) ? field.value.utf8.allSatisfy(isVisible) : RequestText.read(field.value.utf8) != nil
    guard !isGood else { return nil }
    return RequestHeadProblem(
      .badRequest, "bad_header", "The value of this header holds what it cannot hold.", field: field.name.rawName)
  }

  private static func isVisible(_ byte: UInt8) -> Bool { (0x20...0x7E).contains(byte) || byte == 0x09 }

  /// Whether the values of a header are ASCII by their nature: every header that this server reads. Others, such as
  /// `Cookie` and what proxies add, may hold any text.
  private static func isASCII(_ name: String) -> Bool {
    asciiNames.contains(name) || asciiPrefixes.contains { name.hasPrefix($0) }
  }

  private static let asciiPrefixes = ["accept", "access-control-", "content-", "if-", "sec-", "x-gcs-"]
  private static let asciiNames: Set<String> = [
    "authorization", "cache-control", "connection", "date", "expect", "idempotency-key", "origin", "range",
    "sandbox-signature", "te", "transfer-encoding", "upgrade", "x-request-id",
  ]
}
