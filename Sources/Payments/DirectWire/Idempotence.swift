/// The headers by which a call that moves money is done once.
///
/// A key is kept for 24 hours. A repeat gets the first answer again, whatever its own contents, with the time of the
/// first request; while that one runs, it gets 409.
package enum Idempotence {
  /// Names the call.
  package static let key = "X-GCS-Idempotence-Key"
  /// Head of the answer to a repeat: when the first request arrived, in milliseconds since 1970.
  package static let requestTimestamp = "X-GCS-Idempotence-Request-Timestamp"
  /// Head of the answer to a repeat, for SDKs of today: when the first request arrived, RFC 3339.
  package static let responseTime = "IdempotencyResponseDatetime"
  package static let window = Duration.seconds(86_400)

  /// Whether a text can be a key: 1 to 40 visible ASCII characters.
  package static func isKey(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}
