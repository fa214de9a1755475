import Crypto
import Foundation
package import TenderPayments

/// Signs requests the way Worldline Direct's server SDKs do (v1HMAC), for callers of such a platform API:
/// the demo shop, the command line, and Tender itself when it calls a merchant.
package struct RequestSigner: Sendable {
  private let apiKeyID: String
  private let key: SymmetricKey

  /// - Parameter secret: taken as the text it is, not as base64.
  package init(apiKeyId: String, secret: String) {
    self.apiKeyID = apiKeyId
    self.key = SymmetricKey(data: Array(secret.utf8))
  }

  /// The value of the `Authorization` header.
  ///
  /// - Parameters:
  ///   - contentType: the header as sent; empty when there is none.
  ///   - date: the `Date` header as sent, see ``HTTPDate``.
  ///   - gcsHeaders: the headers whose names begin with `X-GCS`, in any order.
  ///   - pathAndQuery: the request target exactly as sent, percent-encoded.
  package func authorization(
    method: String, contentType: String, date: String, gcsHeaders: [(name: String, value: String)] = [],
    pathAndQuery: String
  ) -> String {
    let text = StringToSign(
      method: method, contentType: contentType, date: date, gcsHeaders: gcsHeaders, target: pathAndQuery)
    let code = HMAC<SHA256>.authenticationCode(for: Array(text.text.utf8), using: key)
    return "GCS v1HMAC:\(apiKeyID):\(Base64.encode(Array(code)))"
  }

  /// The headers that sign a request together with its body: `Date`, `X-GCS-Content-SHA256` and `Authorization`.
  ///
  /// - Parameters:
  ///   - contentType: the `Content-Type` header as the caller sends it beside these; empty when there is none.
  ///   - pathAndQuery: the request target exactly as sent, percent-encoded.
  ///   - body: the bytes as they are sent; none where there is no body.
  package func headers(
    method: String, contentType: String, pathAndQuery: String, body: [UInt8], at now: Timestamp
  ) -> [(name: String, value: String)] {
    let date = HTTPDate.text(now)
    let digest = (name: ContentDigest.header, value: ContentDigest.text(of: body))
    let authorization = authorization(
      method: method, contentType: contentType, date: date, gcsHeaders: [digest], pathAndQuery: pathAndQuery)
    return [("Date", date), digest, ("Authorization", authorization)]
  }
}

/// The lines that are signed. The body is not among them: only a ``ContentDigest`` among the headers signs it.
struct StringToSign: Hashable {
  let text: String

  init(method: String, contentType: String, date: String, gcsHeaders: [(name: String, value: String)], target: String) {
    let headers =
      gcsHeaders
      .map { (name: $0.name.lowercased(), value: Self.canonical($0.value)) }
      .sorted { $0.name < $1.name }
      .map { "\($0.name):\($0.value)\n" }
    text = "\(method.uppercased())\n\(contentType)\n\(date)\n\(headers.joined())\(target)\n"
  }

  /// A folded line becomes one space, the ends are trimmed, and runs of spaces inside stay.
  static func canonical(_ value: String) -> String {
    let ends = [value.utf8.first, value.utf8.last].compactMap(\.self)
    let isTrimmed = ends.allSatisfy { (0x21...0x7E).contains($0) }
    return isTrimmed ? unfolded(value) : unfolded(value).trimmingCharacters(in: .whitespacesAndNewlines)
  }

  private static func unfolded(_ value: String) -> String {
    // Hardly any value is folded, and the expression is made anew each time.
    guard value.utf8.contains(UInt8(ascii: "\n")) else { return value }
    return value.replacing(#/\r?\n[^\S\r\n]*/#.matchingSemantics(.unicodeScalar), with: " ")
  }
}
