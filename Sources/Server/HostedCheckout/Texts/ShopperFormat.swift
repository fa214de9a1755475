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

  /// A sentence with the `{time}` and the `{date}` of a moment, in UTC, and says so before its full stop: the server does
  /// not know where the shopper is.
  package func text(_ text: HostedText, at time: Timestamp) -> String {
    let date = Date(timeIntervalSince1970: TimeInterval(time.seconds))
    func written(_ day: Date.FormatStyle.DateStyle, _ clock: Date.FormatStyle.TimeStyle) -> String {
      date.formatted(Date.FormatStyle(date: day, time: clock, locale: forms, timeZone: .gmt))
    }
    let sentence = self.text(text, ["date": written(.long, .omitted), "time": written(.omitted, .shortened)])
    return sentence.dropLast() + " (UTC)" + sentence.suffix(1)
  }

  /// A text about the merchant, an amount or a time. In right-to-left text each value stands for itself (Unicode's
  /// isolates), so that a Latin name does not turn the punctuation around.
  package func text(_ text: HostedText, _ values: [String: String] = [:]) -> String {
    guard locale.language.direction == "rtl" else { return text.text(in: locale, values) }
    return text.text(in: locale, values.mapValues { "\u{2068}\($0)\u{2069}" })
  }
}
