import TenderSheet

extension ShopperLanguage {
  /// Every text about a number, in all forms that the language has.
  var countedTexts: [CountedText: [PluralForm: String]] {
    switch self {
    case .english: Self.two("{n} minute left.", "{n} minutes left.", "{n} attempt left.", "{n} attempts left.")
    case .german:
      Self.two("Noch {n} Minute.", "Noch {n} Minuten.", "Noch {n} Versuch.", "Noch {n} Versuche.")
    case .dutch:
      Self.two("Nog {n} minuut.", "Nog {n} minuten.", "Nog {n} poging.", "Nog {n} pogingen.")
    case .swedish:
      Self.two("{n} minut kvar.", "{n} minuter kvar.", "{n} försök kvar.", "{n} försök kvar.")
    case .danish:
      Self.two("{n} minut tilbage.", "{n} minutter tilbage.", "{n} forsøg tilbage.", "{n} forsøg tilbage.")
    case .french:
      Self.two("Il reste {n} minute.", "Il reste {n} minutes.", "Il reste {n} essai.", "Il reste {n} essais.")
    case .spanish:
      Self.two("Queda {n} minuto.", "Quedan {n} minutos.", "Queda {n} intento.", "Quedan {n} intentos.")
    case .italian:
      Self.two("Resta {n} minuto.", "Restano {n} minuti.", "Resta {n} tentativo.", "Restano {n} tentativi.")
    case .portuguese:
      Self.two("Falta {n} minuto.", "Faltam {n} minutos.", "Resta {n} tentativa.", "Restam {n} tentativas.")
    case .finnish:
      Self.two("{n} minuutti jäljellä.", "{n} minuuttia jäljellä.", "{n} yritys jäljellä.", "{n} yritystä jäljellä.")
    case .japanese: [.minutesLeft: [.other: "残り{n}分です。"], .attemptsLeft: [.other: "あと{n}回お試しいただけます。"]]
    case .polish: Self.polishForms
    case .arabic: Self.arabicForms
    }
  }

  private static func two(
    _ minute: String, _ minutes: String, _ attempt: String, _ attempts: String
  ) -> [CountedText: [PluralForm: String]] {
    [.minutesLeft: [.one: minute, .other: minutes], .attemptsLeft: [.one: attempt, .other: attempts]]
  }

  private static let polishForms: [CountedText: [PluralForm: String]] = [
    .minutesLeft: [
      .one: "Pozostała {n} minuta.", .few: "Pozostały {n} minuty.", .many: "Pozostało {n} minut.",
      .other: "Pozostało {n} minuty.",
    ],
    .attemptsLeft: [
      .one: "Pozostała {n} próba.", .few: "Pozostały {n} próby.", .many: "Pozostało {n} prób.",
      .other: "Pozostało {n} próby.",
    ],
  ]

  private static let arabicForms: [CountedText: [PluralForm: String]] = [
    .minutesLeft: [
      .zero: "لم تبق أي دقيقة.", .one: "بقيت دقيقة واحدة.", .two: "بقيت دقيقتان.", .few: "بقيت {n} دقائق.",
      .many: "بقيت {n} دقيقة.", .other: "بقيت {n} دقيقة.",
    ],
    .attemptsLeft: [
      .zero: "لم تبق أي محاولة.", .one: "بقيت محاولة واحدة.", .two: "بقيت محاولتان.", .few: "بقيت {n} محاولات.",
      .many: "بقيت {n} محاولة.", .other: "بقيت {n} محاولة.",
    ],
  ]
}
