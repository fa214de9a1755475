/// Why Tender does not accept a JSON text, or why a value is not of the requested kind.
public struct JSONError: Error, Sendable, Hashable {
  /// Stable; the raw value may be shown to programs.
  public enum Code: String, Sendable, Hashable, CaseIterable {
    // Found while reading.
    case empty
    case size
    case depth
    case badEncoding = "bad_encoding"
    case badNumber = "bad_number"
    case badString = "bad_string"
    /// More combining marks in a row than Unicode's stream-safe text format allows.
    case combiningMarks = "combining_marks"
    case duplicateKey = "duplicate_key"
    case trailingComma = "trailing_comma"
    case trailingBytes = "trailing_bytes"
    case unexpectedByte = "unexpected_byte"
    case unexpectedEnd = "unexpected_end"
    // Found while reading a value.
    case missing
    case wrongType = "wrong_type"
    case outOfRange = "out_of_range"
    case invalid
  }

  public let code: Code
  /// Where in the text, in bytes from its beginning; nil when a value was at fault.
  public let offset: Int?
  /// The value at fault, as `$.header.publicKeyHash` or `$.items[2]`; nil when the text itself was at fault.
  public let path: String?
  /// What was wrong, in words. Never contains a value of the document.
  public let reason: String

  init(_ code: Code, offset: Int, _ reason: String) {
    self.code = code
    self.offset = offset
    self.path = nil
    self.reason = reason
  }

  /// Reports that the value at `path` is invalid.
  public init(_ code: Code, path: String, _ reason: String) {
    self.code = code
    self.offset = nil
    self.path = path
    self.reason = reason
  }
}

extension JSONError: CustomStringConvertible {
  public var description: String {
    if let path {
      "\(path): \(reason)"
    } else if code == .size {
      reason
    } else {
      "byte \(offset ?? 0): \(reason)"
    }
  }
}
