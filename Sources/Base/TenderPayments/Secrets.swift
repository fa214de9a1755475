/// The device account number: the card number that stands in the phone's place of the card's own.
///
/// It prints masked, cannot be encoded, and is spelled out only where a connector sends it.
public struct DPAN: Sendable, Hashable {
  private let digits: String

  /// 12 to 19 digits; nil otherwise.
  public init?(_ digits: String) {
    guard (12...19).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.digits = digits
  }

  /// The digits themselves. Only for the wire to an acquirer, or for a person who asked with `--reveal`.
  public var revealed: String { digits }
  /// What may be shown.
  public var lastFour: String { String(digits.suffix(4)) }
}

/// The one-time cryptogram of a network token, as Apple delivers it: base64 text.
public struct Cryptogram: Sendable, Hashable {
  private let base64: String

  /// The cryptogram with this text, which is not decoded.
  public init(base64: String) { self.base64 = base64 }

  /// The text itself. Only for the wire to an acquirer, or for a person who asked with `--reveal`.
  public var revealed: String { base64 }
}

extension DPAN: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Masked, but for the last four digits.
  public var description: String { "•••• \(lastFour)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension Cryptogram: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  /// Masked.
  public var description: String { "•••" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
