import HostedCheckout
import TenderPayments
import TenderSheet
import Testing

@Suite struct `A text of the hosted page` {
  @Test(arguments: ShopperLanguage.allCases) func `is there in every language`(_ language: ShopperLanguage) {
    let missing = HostedText.allCases.filter { language.hostedTexts[$0]?.isEmpty ?? true }
    #expect(missing.isEmpty)
  }

  @Test(arguments: ShopperLanguage.allCases.filter { $0 != .english })
  func `is left in English nowhere`(_ language: ShopperLanguage) {
    // “Total” is French, Spanish and Portuguese too, and “Reference” is Danish.
    let same = HostedText.allCases.filter {
      language.hostedTexts[$0] == ShopperLanguage.english.hostedTexts[$0] && ![.total, .reference].contains($0)
    }
    #expect(same.isEmpty)
  }

  @Test(arguments: ShopperLanguage.allCases) func `has the same placeholders`(_ language: ShopperLanguage) {
    for text in HostedText.allCases {
      for placeholder in ["{merchant}", "{amount}", "{time}"] {
        let wanted = ShopperLanguage.english.hostedTexts[text]?.contains(placeholder)
        #expect(language.hostedTexts[text]?.contains(placeholder) == wanted, "\(text) \(placeholder)")
      }
    }
  }

  @Test func `keeps what looks like a placeholder in a value`() {
    let text = HostedText.paidText.text(in: .english, ["merchant": "{amount}", "amount": "€1"])
    #expect(text == "Thank you. {amount} has received your payment of €1.")
  }

  @Test(
    arguments: [
      ("en", 1, "1 attempt left."), ("en", 2, "2 attempts left."), ("fr", 0, "Il reste 0 essai."),
      ("pl", 1, "Pozostała 1 próba."), ("pl", 3, "Pozostały 3 próby."), ("pl", 5, "Pozostało 5 prób."),
      ("pl", 12, "Pozostało 12 prób."), ("pl", 22, "Pozostały 22 próby."), ("ja", 1, "あと1回お試しいただけます。"),
      ("ar", 2, "بقيت محاولتان."), ("ar", 7, "بقيت 7 محاولات."), ("ar", 11, "بقيت 11 محاولة."),
    ] as [(String, Int64, String)])
  func `counts as its language does`(_ tag: String, _ count: Int64, _ text: String) {
    #expect(CountedText.attemptsLeft.text(in: ShopperLocale(tag), count) == text)
  }

  @Test(arguments: ShopperLanguage.allCases)
  func `has every form that a number of the language asks for`(_ language: ShopperLanguage) {
    for text in CountedText.allCases {
      let forms = text.forms(in: ShopperLocale(language.rawValue))
      let wanted = Set((0...200).map { PluralForm($0, in: language) })
      #expect(wanted.isSubset(of: forms.keys), "\(text)")
    }
  }

  @Test(
    arguments: [
      ("de-AT", 1_250, "EUR", "€ 12,50"), ("de-DE", 123_456, "EUR", "1.234,56 €"), ("en-IE", 1_250, "EUR", "€12.50"),
      ("ja-JP", 1_200, "JPY", "￥1,200"), ("en", 1_234, "KWD", "KWD 1.234"), ("tlh", 1_250, "USD", "$12.50"),
    ] as [(String, Int64, String, String)])
  func `has amounts as the shopper writes them`(
    _ tag: String, _ units: Int64, _ code: String, _ text: String
  ) throws {
    let amount = Amount(minorUnits: units, currency: try #require(Currency(code: code)))
    let shown = ShopperFormat(tag).amount(amount).replacing("\u{A0}", with: " ").replacing("¥", with: "￥")
    #expect(shown == text)
  }

  @Test func `has moments as the shopper writes them`() {
    let time = Timestamp(seconds: 1_795_000_000)
    #expect(ShopperFormat("en-GB").moment(time).hasPrefix("18 November 2026"))
    #expect(ShopperFormat("de-DE").moment(time).hasPrefix("18. November 2026"))
  }

  @Test func `isolates a name in right-to-left text`() {
    let text = ShopperFormat("ar").text(.goBack, ["merchant": "Harbour (IE)"])
    #expect(text == "العودة إلى \u{2068}Harbour (IE)\u{2069}")
  }
}
