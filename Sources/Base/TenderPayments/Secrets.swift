/// The device account number: the number that replaces the card's own on a device.
///
/// Its description is masked and it cannot be encoded. Only a connector reads the digits.
public struct DPAN: Sendable, Hashable {
  private let digits: String

  /// 12 to 19 digits; nil otherwise.
  public init?(_ digits: String) {
    guard (12...19).contains(digits.utf8.count), digits.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      return nil
    }
    self.digits = digits
  }

  /// The digits themselves. Only for a request to an acquirer, or for an operator who passes `--reveal`.
  public var revealed: String { digits }
  /// What may be shown.
  public var lastFour: String { String(digits.suffix(4)) }
}

/// The one-time cryptogram of a network token, as Apple delivers it: base64 text.
public struct Cryptogram: Sendable, Hashable {
  private let base64: String

  /// The cryptogram with this text, which is not decoded.
  public init(base64: String) { self.base64 = base64 }

  /// The text itself. Only for a request to an acquirer, or for an operator who passes `--reveal`.
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
