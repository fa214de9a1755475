import Foundation
package import TenderPayments
package import TenderSheet

/// How a shopper writes amounts and moments: by Unicode's tables for the language and region.
package struct ShopperFormat: Sendable {
  package let locale: ShopperLocale
  /// The language tag of the page: the shopper's, or English where the page has no texts of the shopper's language.
  package let tag: String
  private let forms: Locale

  package init(_ tag: String) {
    locale = ShopperLocale(tag)
    let named = tag.lowercased().split { $0 == "-" || $0 == "_" }.first.map(String.init)
    self.tag = named == locale.language.rawValue ? tag : ShopperLanguage.english.rawValue
    forms = Locale(identifier: self.tag)
  }

  /// `12,50 €`, `€12.50`, `¥1,200`.
  package func amount(_ amount: Amount) -> String {
    guard let value = Decimal(string: amount.decimalString, locale: Locale(identifier: "en_US_POSIX")) else {
      return locale.text(amount)
    }
    return value.formatted(
      .currency(code: amount.currency.code).precision(.fractionLength(amount.currency.exponent)).locale(forms))
  }

  /// In UTC, and says so: the server does not know where the shopper is.
  package func moment(_ time: Timestamp) -> String {
    text(time, Date.FormatStyle(date: .long, time: .shortened, locale: forms, timeZone: .gmt))
  }

  func timeOfDay(_ time: Timestamp) -> String {
    text(time, Date.FormatStyle(date: .omitted, time: .shortened, locale: forms, timeZone: .gmt))
  }

  private func text(_ time: Timestamp, _ style: Date.FormatStyle) -> String {
    Date(timeIntervalSince1970: TimeInterval(time.seconds)).formatted(style) + " UTC"
  }

  /// A text about the merchant, an amount or a time. In right-to-left text each value stands for itself (Unicode's
  /// isolates), so that a Latin name does not turn the punctuation around.
  package func text(_ text: HostedText, _ values: [String: String] = [:]) -> String {
    guard locale.language.direction == "rtl" else { return text.text(in: locale, values) }
    return text.text(in: locale, values.mapValues { "\u{2068}\($0)\u{2069}" })
  }
}
