package import TenderSheet

/// A text of the page. What the sheet and the payment say is of ``ShopperText``, in the same languages.
package enum HostedText: String, Sendable, Hashable, CaseIterable {
  /// `{merchant}` in the title of the window and the page.
  case title
  case order, total, shipping, discount, reference
  /// The label of the shopper's name, as the merchant gave it with a payment link.
  case recipient
  /// Above the payment: `{amount}`.
  case payHeading
  case cancel, goBack
  /// Above the button.
  case declinedBefore, simulated, test
  // Results
  case paidTitle, paidText, authorizedText
  case processingTitle, processingText
  case refusedTitle, refusedText
  case cancelledTitle, cancelledText, linkCancelledText
  case expiredTitle, expiredText
  case unknownTitle, unknownText
  // Why there is no button
  case reasonTitle, noApplePay, noDevice, tooOld, unavailable, notInRegion, noScript, noCard
  // Another device
  case phoneTitle, phoneText, phoneShow, codeSpent, codePicture
  // Events
  case sheetClosed, connectionLost
  /// `{time}` of a `{date}`.
  case openUntil

  package func text(in locale: ShopperLocale) -> String {
    locale.language.hostedTexts[self] ?? ShopperLanguage.english.hostedTexts[self] ?? rawValue
  }

  /// The text with values in the place of its placeholders. The values may hold what looks like one.
  package func text(in locale: ShopperLocale, _ values: [String: String]) -> String {
    Placeholders.fill(text(in: locale), values)
  }
}

/// A text about a number of things, in the form that the number asks for.
package enum CountedText: String, Sendable, Hashable, CaseIterable {
  case minutesLeft, attemptsLeft

  /// Every form, by the name that Unicode has for it; browsers have the same names.
  package func forms(in locale: ShopperLocale) -> [PluralForm: String] {
    locale.language.countedTexts[self] ?? ShopperLanguage.english.countedTexts[self] ?? [:]
  }

  package func text(in locale: ShopperLocale, _ count: Int64) -> String {
    let forms = forms(in: locale)
    let form = PluralForm(count, in: locale.language)
    return Placeholders.fill(forms[form] ?? forms[.other] ?? "", ["n": "\(count)"])
  }
}

/// The plural forms of Unicode CLDR, for whole numbers.
package enum PluralForm: String, Sendable, Hashable, CaseIterable {
  case zero, one, two, few, many, other

  package init(_ count: Int64, in language: ShopperLanguage) {
    switch language {
    case .japanese: self = .other
    case .french, .portuguese: self = count <= 1 ? .one : .other
    case .polish: self = Self.polish(count)
    case .arabic: self = Self.arabic(count)
    default: self = count == 1 ? .one : .other
    }
  }

  private static func polish(_ count: Int64) -> PluralForm {
    if count == 1 { return .one }
    return (2...4).contains(count % 10) && !(12...14).contains(count % 100) ? .few : .many
  }

  private static func arabic(_ count: Int64) -> PluralForm {
    switch (count, count % 100) {
    case (0, _): .zero
    case (1, _): .one
    case (2, _): .two
    case (_, 3...10): .few
    case (_, 11...99): .many
    default: .other
    }
  }
}

package enum Placeholders {
  /// One pass from left to right, so that a value is never searched.
  package static func fill(_ text: String, _ values: [String: String]) -> String {
    var (result, rest) = ("", text[...])
    while let open = rest.firstIndex(of: "{"), let close = rest[open...].firstIndex(of: "}") {
      let name = String(rest[rest.index(after: open)..<close])
      result += rest[..<open] + (values[name] ?? String(rest[open...close]))
      rest = rest[rest.index(after: close)...]
    }
    return result + rest
  }
}

extension ShopperLanguage {
  /// Every text of the page in this language.
  package var hostedTexts: [HostedText: String] {
    switch self {
    case .english: Self.hostedEnglish
    case .german: Self.hostedGerman
    case .dutch: Self.hostedDutch
    case .swedish: Self.hostedSwedish
    case .danish: Self.hostedDanish
    case .french: Self.hostedFrench
    case .spanish: Self.hostedSpanish
    case .italian: Self.hostedItalian
    case .portuguese: Self.hostedPortuguese
    case .polish: Self.hostedPolish
    case .finnish: Self.hostedFinnish
    case .japanese: Self.hostedJapanese
    case .arabic: Self.hostedArabic
    }
  }
}
