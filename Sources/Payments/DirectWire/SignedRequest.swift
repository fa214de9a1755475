import Foundation
package import TenderPayments

/// A request as it arrived, with its claim to be signed taken apart, but not yet believed.
package struct SignedRequest: Sendable {
  /// Whose secret to look up.
  package let apiKeyID: String
  /// The moment that the caller signed.
  package let date: Timestamp
  let signature: [UInt8]
  private let method: String
  private let target: String
  private let contentTypes: [String]
  private let dates: [String]
  private let gcsHeaders: [(name: String, value: String)]

  /// - Parameters:
  ///   - target: path and query exactly as received, percent-encoded.
  ///   - headers: all of them, each line its own.
  package init(
    method: String, target: String, headers: [(name: String, value: String)]
  ) throws(SignatureRefusal) {
    let headers = headers.map { (name: $0.name.lowercased(), value: $0.value) }
    func value(_ name: String) -> String? { headers.first { $0.name == name }?.value }
    (apiKeyID, signature) = try Self.claim(value("authorization"))
    gcsHeaders = headers.filter { $0.name.hasPrefix("x-gcs") }
    guard Set(gcsHeaders.map(\.name)).count == gcsHeaders.count else { throw .headerRepeated }
    (date, dates) = try Self.date(standIn: value("x-gcs-date"), header: value("date"))
    let contentType = value("content-type") ?? ""
    contentTypes = method.uppercased() == "GET" && contentType != "" ? [contentType, ""] : [contentType]
    self.method = method
    self.target = target
  }

  /// `GCS v1HMAC:<key id>:<base64>`; the scheme's letters may be small (RFC 9110, section 11.1).
  private static func claim(_ header: String?) throws(SignatureRefusal) -> (String, [UInt8]) {
    guard let header else { throw .authorizationMissing }
    let parts = header.split(separator: ":", omittingEmptySubsequences: false)
    guard parts.count == 3, parts[0].lowercased().utf8.elementsEqual("gcs v1hmac".utf8), !parts[1].isEmpty,
      let signature = Base64.decode(parts[2]), signature.count == 32
    else { throw .authorizationMalformed }
    return (String(parts[1]), signature)
  }

  /// Where a client cannot set `Date` (a browser), `X-GCS-Date` replaces it: the third line is empty then, and the time
  /// is signed among the headers. It wins, because it is signed in every case.
  private static func date(
    standIn: String?, header: String?
  ) throws(SignatureRefusal) -> (Timestamp, lines: [String]) {
    guard let text = standIn ?? header else { throw .dateMissing }
    guard let date = HTTPDate.parse(StringToSign.canonical(text)) else { throw .dateMalformed }
    guard standIn != nil else { return (date, [text]) }
    return (date, header.map { ["", $0] } ?? [""])
  }

  /// The value of a header whose name begins with `X-GCS`, as it was signed.
  ///
  /// - Parameter name: in small letters.
  func gcsHeader(_ name: String) -> String? {
    gcsHeaders.first { $0.name == name }.map { StringToSign.canonical($0.value) }
  }

  /// Every string that an official SDK would have signed for this request.
  func candidates() -> Set<StringToSign> {
    var strings: Set<StringToSign> = []
    for target in targets() {
      for contentType in contentTypes {
        for date in dates {
          strings.insert(
            StringToSign(method: method, contentType: contentType, date: date, gcsHeaders: gcsHeaders, target: target))
        }
      }
    }
    return strings
  }

  /// As sent (Python, Node, PHP), all decoded (Java, .NET), or only the query decoded.
  private func targets() -> [String] {
    guard target.utf8.contains(UInt8(ascii: "%")) else { return [target] }
    let end = target.utf8.firstIndex(of: UInt8(ascii: "?")) ?? target.endIndex
    let path = String(target[..<end])
    guard let query = Self.decoded(String(target[end...]), keeping: []) else { return [target] }
    guard let decodedPath = Self.decoded(path, keeping: Array("/?".utf8)) else { return [target, path + query] }
    return [target, path + query, decodedPath + query]
  }

  /// Nil where decoding would make another request of it: a separator of the path that was not one, or a control
  /// character, with which one signed line could pass for two. Separators are counted in bytes, because a separator
  /// with a combining mark after it is another `Character`.
  private static func decoded(_ text: String, keeping separators: [UInt8]) -> String? {
    guard let decoded = text.removingPercentEncoding else { return nil }
    guard decoded.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7F }) else { return nil }
    let isKept = separators.allSatisfy { separator in
      text.utf8.count { $0 == separator } == decoded.utf8.count { $0 == separator }
    }
    return isKept ? decoded : nil
  }
}
