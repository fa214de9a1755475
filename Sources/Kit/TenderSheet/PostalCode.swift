import Foundation

/// A postal code, redacted or full.
public struct PostalCode: Sendable, Hashable {
  /// Whether the wallet may have removed a part.
  public let isRedacted: Bool
  /// Letters and digits in capitals.
  let compact: String
  /// For countries whose codes have two parts: first part, space, second part.
  let spaced: String

  /// A redacted postal code: a correct part of the code, possibly all of it.
  public static func redacted(_ text: String, country: String) -> PostalCode {
    PostalCode(text, country: country, isRedacted: true)
  }

  /// A full postal code.
  public static func full(_ text: String, country: String) -> PostalCode {
    PostalCode(text, country: country, isRedacted: false)
  }

  private init(_ text: String, country: String, isRedacted: Bool) {
    let compact = Self.lettersAndDigits(text)
    let first = Self.firstPart(compact, country)
    self.compact = compact
    self.spaced = first == nil ? compact : "\(first ?? "") \(compact.dropFirst(first?.count ?? 0))"
    self.isRedacted = isRedacted
  }

  /// The part that the wallet shows before authorization, in the countries where the code has parts: all but the last
  /// three characters. A code too short to have a second part is the first part.
  private static func firstPart(_ compact: String, _ country: String) -> String? {
    switch country {
    case "GB": compact.count >= 5 ? String(compact.dropLast(3)) : compact
    case "CA": String(compact.prefix(3))
    default: nil
    }
  }

  /// Full-width letters and the digits of any script become those that merchants write in their zones.
  static func lettersAndDigits(_ text: String) -> String {
    let folded = text.precomposedStringWithCompatibilityMapping.uppercased().unicodeScalars.map { scalar in
      let value = scalar.properties.numericType == .decimal ? scalar.properties.numericValue : nil
      return value.flatMap { UInt8(exactly: $0) }.map { Unicode.Scalar(0x30 + $0) } ?? scalar
    }
    return String(String(String.UnicodeScalarView(folded)).filter { $0.isLetter || $0.isNumber })
  }
}

/// The beginning of the postal codes of a zone.
///
/// Spaces and hyphens do not matter, with one exception: in the United Kingdom and Canada a space ends the first part,
/// so that `"E1 "` is E1 alone while `"E1"` is also E10 to E18.
public struct PostalPrefix: Sendable, Hashable {
  /// Whether a code begins with a prefix.
  public enum Match: Sendable, Hashable {
    /// The code has the prefix.
    case yes
    /// The code does not have the prefix.
    case no
    /// The visible part matches but is shorter than the prefix.
    case maybe
  }

  private let text: String
  private let endsFirstPart: Bool

  /// The prefix as a merchant writes it: `"EC"`, `"E1 "`, `"10"`.
  public init(_ text: String) {
    self.endsFirstPart = text.drop(while: \.isWhitespace).contains(where: \.isWhitespace)
    let words = text.split(whereSeparator: \.isWhitespace).map { PostalCode.lettersAndDigits(String($0)) }
    self.text = endsFirstPart ? (words.first ?? "") + " " + words.dropFirst().joined() : words.joined()
  }

  /// The number of characters. Among matching zones, the one with the longest prefix applies.
  public var length: Int { text.count }

  /// Whether a code begins with the prefix, as far as it is visible.
  public func matches(_ code: PostalCode) -> Match {
    let hasParts = code.spaced != code.compact
    let prefix = hasParts && endsFirstPart ? text : text.filter { $0 != " " }
    let shown = hasParts && endsFirstPart ? code.spaced : code.compact
    if shown.hasPrefix(prefix) { return .yes }
    return code.isRedacted && prefix.hasPrefix(shown) ? .maybe : .no
  }
}
