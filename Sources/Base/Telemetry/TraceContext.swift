/// Where a span is: its trace and itself, as the W3C recommendation Trace Context names them.
package struct TraceContext: Sendable, Hashable {
  /// 32 lowercase hex digits, not all of them 0.
  package let trace: String
  /// 16 lowercase hex digits, not all of them 0.
  package let span: String

  /// The header in which it travels.
  package static let header = "traceparent"

  /// Two texts of the right form.
  init(trace: String, span: String) { (self.trace, self.span) = (trace, span) }

  /// Reads the header; nil for what is none. Whether the caller samples is not read: each side decides for itself.
  package init?(traceparent text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), maxSplits: 4, omittingEmptySubsequences: false)
    guard text.utf8.count <= 512, parts.count >= 4, parts[0].elementsEqual("00".utf8) ? parts.count == 4 : true,
      Self.isHex(parts[0], 2), !parts[0].elementsEqual("ff".utf8), Self.isHex(parts[3], 2)
    else { return nil }
    self.init(parts[1], parts[2])
  }

  /// Reads ``stored``.
  package init?(stored text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
    guard parts.count == 2 else { return nil }
    self.init(parts[0], parts[1])
  }

  private init?(_ trace: Substring.UTF8View, _ span: Substring.UTF8View) {
    guard Self.isHex(trace, 32), Self.isHex(span, 16), trace.contains(where: { $0 != 0x30 }),
      span.contains(where: { $0 != 0x30 })
    else { return nil }
    self.init(trace: String(Substring(trace)), span: String(Substring(span)))
  }

  /// The header's value. What is sent on is sampled: nothing else has a span.
  package var traceparent: String { "00-\(trace)-\(span)-01" }
  /// As it stands beside a payment.
  package var stored: String { "\(trace)-\(span)" }

  private static func isHex(_ text: Substring.UTF8View, _ count: Int) -> Bool {
    text.count == count && text.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }
  }
}
