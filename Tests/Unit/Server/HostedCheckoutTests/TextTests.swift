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
      for placeholder in ["{merchant}", "{amount}", "{time}", "{date}"] {
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

  @Test(
    arguments: [
      ("en-GB", "You can pay until 5:57 on 28 November 2026 (UTC)."),
      ("en-US", "You can pay until 5:57 AM on November 28, 2026 (UTC)."),
      ("de-DE", "Sie können bis zum 28. November 2026, 5:57 Uhr bezahlen (UTC)."),
      ("nl-NL", "U kunt betalen tot 28 november 2026 om 5:57 (UTC)."),
      ("sv-SE", "Du kan betala till den 28 november 2026 kl. 5:57 (UTC)."),
      ("da-DK", "Du kan betale indtil den 28. november 2026 kl. 5.57 (UTC)."),
      ("fr-FR", "Vous pouvez payer jusqu’au 28 novembre 2026 à 5:57 (UTC)."),
      ("es-ES", "Puede pagar hasta el 28 de noviembre de 2026, 5:57 (UTC)."),
      ("it-IT", "Termine per il pagamento: 28 novembre 2026, ore 5:57 (UTC)."),
      ("pt-PT", "Pode pagar até 28 de novembro de 2026 às 5:57 (UTC)."),
      ("pl-PL", "Możesz zapłacić do 28 listopada 2026, godz. 5:57 (UTC)."),
      ("fi-FI", "Voit maksaa 28. marraskuuta 2026 klo 5.57 asti (UTC)."),
      ("ja-JP", "2026年11月28日 5:57までお支払いいただけます (UTC)。"),
      ("ar-EG", "يمكنك الدفع حتى ٢٨ نوفمبر، ٢٠٢٦ الساعة ٥:٥٧ ص (UTC)."),
    ])
  func `has moments as the shopper writes them, within a sentence`(_ tag: String, _ sentence: String) {
    let shown = ShopperFormat(tag).text(.openUntil, at: Timestamp(seconds: 1_795_845_420))
    // Spaces that do not break are spaces, and marks of direction are not seen.
    let scalars = shown.unicodeScalars.filter { $0.properties.generalCategory != .format }
    let text = String(String.UnicodeScalarView(scalars.map { $0.properties.isWhitespace ? " " : $0 }))
    #expect(text == sentence)
  }

  @Test func `isolates a name in right-to-left text`() {
    let text = ShopperFormat("ar").text(.goBack, ["merchant": "Harbour (IE)"])
    #expect(text == "العودة إلى \u{2068}Harbour (IE)\u{2069}")
  }
}
