public import TenderPayments

/// A language in which Tender speaks to shoppers, by its code of ISO 639.
public enum ShopperLanguage: String, Sendable, Hashable, CaseIterable {
  /// English, the language of locales that have none of their own here.
  case english = "en"
  /// The others.
  case german = "de", french = "fr", spanish = "es", italian = "it", dutch = "nl", portuguese = "pt", polish = "pl"
  /// The others.
  case swedish = "sv", danish = "da", finnish = "fi", japanese = "ja", arabic = "ar"

  /// The text in this language, with its placeholders.
  public func template(_ text: ShopperText) -> String { table[text] ?? Self.englishTexts[text] ?? "" }

  /// As HTML's `dir` has it: `rtl` where the language is written from right to left.
  package var direction: String { self == .arabic ? "rtl" : "ltr" }

  /// Every text of the language.
  package var table: [ShopperText: String] {
    switch self {
    case .english: Self.englishTexts
    case .german: Self.germanTexts
    case .dutch: Self.dutchTexts
    case .swedish: Self.swedishTexts
    case .danish: Self.danishTexts
    case .french: Self.frenchTexts
    case .spanish: Self.spanishTexts
    case .italian: Self.italianTexts
    case .portuguese: Self.portugueseTexts
    case .polish: Self.polishTexts
    case .finnish: Self.finnishTexts
    case .japanese: Self.japaneseTexts
    case .arabic: Self.arabicTexts
    }
  }
}

/// A shopper's language and way of writing numbers, from a tag of BCP 47 such as `de-AT`.
public struct ShopperLocale: Sendable, Hashable {
  /// English, as where a basket names no locale.
  public static let english = ShopperLocale("en")

  /// The language of the texts.
  public let language: ShopperLanguage
  private let decimalSeparator: String

  /// The locale of a tag. A region that is not known has its language's form; an unknown language is English.
  public init(_ tag: String) {
    let parts = tag.lowercased().split { $0 == "-" || $0 == "_" }.map(String.init)
    language = parts.first.flatMap(ShopperLanguage.init) ?? .english
    decimalSeparator = Self.decimalSeparator(language, parts.dropFirst().first { $0.utf8.count == 2 })
  }

  /// Whether the text has the form of a language tag: letters, then parts of letters and digits after hyphens.
  package static func isTag(_ text: String) -> Bool {
    // By hand: a literal of a regular expression is parsed at every use, and every basket that is read comes here.
    guard text.utf8.count <= 35 else { return false }
    let parts = text.utf8.split(omittingEmptySubsequences: false) { $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: "_") }
    guard (2...3).contains(parts[0].count), parts[0].allSatisfy(isLetter) else { return false }
    return parts.dropFirst().allSatisfy { part in
      (1...8).contains(part.count) && part.allSatisfy { isLetter($0) || isDigit($0) }
    }
  }

  private static func isLetter(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
  }

  private static func isDigit(_ byte: UInt8) -> Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) }

  /// A text without placeholders.
  public func text(_ text: ShopperText) -> String { language.template(text) }

  /// A text about an item.
  public func text(_ text: ShopperText, item: String) -> String { fill(text, "{item}", item) }

  /// A text about an amount.
  public func text(_ text: ShopperText, amount: Amount) -> String { fill(text, "{amount}", self.text(amount)) }

  /// The amount with the locale's decimal separator and the currency's code: `12,50 EUR`.
  public func text(_ amount: Amount) -> String {
    let digits = amount.decimalString.split(separator: ".").joined(separator: decimalSeparator)
    return "\(digits) \(amount.currency.code)"
  }

  private func fill(_ text: ShopperText, _ placeholder: String, _ value: String) -> String {
    let parts = language.template(text).components(around: placeholder)
    return parts.before + value + parts.after
  }
}

extension ShopperLocale {
  /// Where a region does not write numbers as most of its language do. Source: Unicode CLDR.
  private static let regionsWithPoint = [
    "de": ["ch", "li"], "it": ["ch"], "es": ["do", "gt", "hn", "mx", "ni", "pa", "pe", "pr", "sv", "us"],
  ]

  private static func decimalSeparator(_ language: ShopperLanguage, _ region: String?) -> String {
    switch language {
    case .english, .japanese, .arabic: "."
    default: region.flatMap { regionsWithPoint[language.rawValue]?.contains($0) } == true ? "." : ","
    }
  }
}

extension String {
  /// The text before and after the first occurrence of a placeholder; all of it is before if there is none.
  fileprivate func components(around placeholder: String) -> (before: String, after: String) {
    guard let range = firstRange(of: placeholder) else { return (self, "") }
    return (String(self[..<range.lowerBound]), String(self[range.upperBound...]))
  }
}
