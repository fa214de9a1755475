import TenderSheet

/// Whose message it is: the name it comes from, how it looks, and its language.
package struct MailBrand: Sendable, Hashable {
  package let name: String
  /// An image in place of the name at the head; https.
  package let logoURL: String?
  /// The colour of the head and the button, such as `#0b6e4f`.
  package let color: String
  /// A language tag.
  package let locale: String

  package static let usualColor = "#1a1a2e"

  package init(name: String, logoURL: String? = nil, color: String = MailBrand.usualColor, locale: String = "en") {
    (self.name, self.logoURL, self.color, self.locale) = (name, logoURL, color, locale)
  }

  /// Whether the text is a colour: `#` and six hexadecimal digits.
  package static func isColor(_ text: String) -> Bool {
    text.utf8.count == 7 && text.first == "#" && text.dropFirst().allSatisfy(\.isHexDigit)
  }

  var language: ShopperLanguage { ShopperLocale(locale).language }
}
