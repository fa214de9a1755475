import TenderPayments
import TenderSheet
import Testing

@Suite struct `What shoppers read` {
  /// The languages whose word for it is the English one.
  private static let subtotal: Set<ShopperLanguage> = [.english, .spanish, .portuguese, .danish]

  private func amount(_ minorUnits: Int64, _ code: String) throws -> Amount {
    Amount(minorUnits: minorUnits, currency: try #require(Currency(code: code)))
  }

  @Test(arguments: ShopperLanguage.allCases) func `is complete in every language`(_ language: ShopperLanguage) {
    #expect(Set(language.table.keys) == Set(ShopperText.allCases))
    #expect(language.table.values.allSatisfy { !$0.isEmpty })
    #expect(Set(language.table.values).count == ShopperText.allCases.count, "a text stands twice")
  }

  @Test(arguments: ShopperLanguage.allCases.filter { $0 != .english })
  func `is left in English nowhere`(_ language: ShopperLanguage) {
    let same = ShopperText.allCases.filter { language.table[$0] == ShopperLanguage.english.table[$0] }
    #expect(same == (Self.subtotal.contains(language) ? [.subtotal] : []))
  }

  @Test(arguments: ShopperLanguage.allCases) func `has the same placeholders`(_ language: ShopperLanguage) {
    for text in ShopperText.allCases {
      for placeholder in ["{item}", "{amount}"] {
        let wanted = ShopperLanguage.english.template(text).contains(placeholder)
        #expect(language.template(text).contains(placeholder) == wanted, "\(text) in \(language)")
      }
      #expect(language.template(text).count { $0 == "{" } <= 1)
    }
  }

  @Test(
    arguments: [
      ("de-AT", .german), ("DE", .german), ("pt_BR", .portuguese), ("zh-Hans-CN", .english), ("tlh", .english),
      ("", .english), ("ja-JP", .japanese), ("sv-FI", .swedish),
    ] as [(String, ShopperLanguage)])
  func `falls back to the language, then to English`(_ tag: String, _ language: ShopperLanguage) {
    #expect(ShopperLocale(tag).language == language)
  }

  @Test(
    arguments: [
      ("en", 1_250, "EUR", "12.50 EUR"), ("de", 1_250, "EUR", "12,50 EUR"), ("de-CH", 1_250, "CHF", "12.50 CHF"),
      ("de-Latn-AT", -5, "EUR", "-0,05 EUR"), ("es-MX", 1_250, "MXN", "12.50 MXN"), ("es", 1_250, "EUR", "12,50 EUR"),
      ("ja", 1_200, "JPY", "1200 JPY"), ("fr", 1_200, "JPY", "1200 JPY"), ("fi", 1_234, "KWD", "1,234 KWD"),
    ] as [(String, Int64, String, String)])
  func `writes amounts with the locale's separator`(
    _ tag: String, _ units: Int64, _ code: String, _ text: String
  ) throws {
    #expect(ShopperLocale(tag).text(try amount(units, code)) == text)
  }

  @Test func `has its placeholders filled`() throws {
    let german = ShopperLocale("de")
    #expect(german.text(.unavailableItem, item: "Suppe {amount}") == "Suppe {amount} (dort nicht erhältlich)")
    #expect(german.text(.addressTotal, amount: try amount(1_940, "EUR")).contains("19,40 EUR"))
  }

  @Test func `names missing fields in its language`() {
    let nobody = OrderContact(service: .collection, shipping: nil, billing: nil, billingRequired: false)
    let errors = nobody.missingFields(of: [.name, .email], in: ShopperLocale("fr-CH"))
    #expect(errors.map(\.message) == ["Saisissez un nom.", "Saisissez une adresse e-mail."])
  }

  @Test(arguments: [
    ("de-AT", true), ("zh_Hans_CN", true), ("e", false), ("de-", false), ("de at", false), ("<b>", false),
  ])
  func `is chosen by a language tag`(_ text: String, _ isTag: Bool) {
    #expect(ShopperLocale.isTag(text) == isTag)
  }
}
