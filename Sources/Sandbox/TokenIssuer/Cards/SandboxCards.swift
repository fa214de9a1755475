package import TenderPayments

/// A card in the simulated wallet.
///
/// The device account number is fixed, so that the acquirer knows the card by it; the cryptogram is fresh in every
/// payment token.
package struct SandboxCard: Sendable, Hashable, Identifiable {
  /// What a call names it by: `visa-debit`.
  package let id: String
  /// What a person reads: `Visa debit`.
  package let label: String
  package let network: CardNetwork
  package let type: PaymentMethodType
  /// The last four digits of the card's own number; they show in ``displayName`` and nowhere else.
  package let suffix: String
  /// The number that stands for the card on this device: in a test range, with a valid check digit.
  package let dpan: DPAN
  /// `YYMMDD`, as Apple's payment data spells it.
  package let expirationDate: String
  /// What the sandbox's acquirer does with it.
  package let outcome: SandboxOutcome
  /// The number of its merchant token, the same on every device; nil for a card whose issuer gives none, and which answers an
  /// agreement with the device's own number.
  package var merchantToken: DPAN?

  /// The number that a payment token has: the merchant token's, or the device's own.
  package func number(ofMerchantToken: Bool) -> DPAN? { ofMerchantToken ? merchantToken : dpan }

  /// The network as it stands in a payment token's `paymentMethod`, whose capitals differ from those of a request.
  package var networkName: String {
    switch network {
    case .visa: "Visa"
    case .masterCard: "MasterCard"
    case .amex: "AmEx"
    case .discover: "Discover"
    case .jcb: "JCB"
    default: network.rawValue.prefix(1).uppercased() + network.rawValue.dropFirst()
    }
  }

  /// Cards of mainland China answer as a chip does, with EMV data, and need a merchant that takes it.
  package var answersWithEMV: Bool { network == .chinaUnionPay }

  /// `Visa 0492`.
  package var displayName: String { "\(networkName) \(suffix)" }
}

/// The cards in the simulated wallet, in the order in which the sheet lists them.
///
/// None of them is a card: numbers and suffixes are made up, those of the large networks in ranges that they keep for
/// tests.
package enum SandboxCards {
  package static let all: [SandboxCard] = (ordinary + declined + unanswered + ofOtherNetworks).compactMap { $0 }

  /// The card with this id.
  package static func card(id: String) -> SandboxCard? { all.first { $0.id == id } }

  /// The card with this device account number, or with this number of a merchant token.
  package static func card(dpan: DPAN) -> SandboxCard? { all.first { $0.dpan == dpan || $0.merchantToken == dpan } }

  private static let ordinary = [
    card("visa-debit", "Visa debit", .visa, .debit, "0492", "4761739000000012"),
    card("visa-credit", "Visa credit", .visa, .credit, "0326", "4761739000000020", merchantToken: "4761739009000021"),
    card(
      "mastercard-credit", "Mastercard credit", .masterCard, .credit, "1471", "5204249900000015",
      merchantToken: "5204249909000016"),
    card("mastercard-debit", "Mastercard debit", .masterCard, .debit, "1505", "5204249900000023"),
    card(
      "amex-credit", "American Express", .amex, .credit, "1362", "349999000000011", merchantToken: "349999009000012"),
    card("amex-corporate", "American Express corporate", .amex, .credit, "1398", "349999000000029"),
    card("discover-credit", "Discover", .discover, .credit, "2780", "6011009900000014"),
    card("jcb-credit", "JCB", .jcb, .credit, "1017", "3528009900000017"),
  ]

  private static let declined = [
    card(
      "visa-insufficient-funds", "Visa without funds", .visa, .debit, "0051", "4761739000000038",
      .decline(responseCode: "51")),
    card("visa-lost", "Visa reported lost", .visa, .credit, "0041", "4761739000000046", .decline(responseCode: "41")),
    card(
      "mastercard-expired", "Mastercard expired", .masterCard, .credit, "0054", "5204249900000031",
      .decline(responseCode: "54")),
    card(
      "amex-do-not-honour", "American Express refused", .amex, .credit, "0005", "349999000000037",
      .decline(responseCode: "05")),
  ]

  private static let unanswered = [
    card("visa-pending", "Visa answered later", .visa, .credit, "0100", "4761739000000053", .pending),
    card("visa-no-answer", "Visa never asked", .visa, .credit, "0200", "4761739000000061", .noAnswer),
    card(
      "mastercard-answer-lost", "Mastercard approved in silence", .masterCard, .debit, "0300", "5204249900000049",
      .noAnswerAfterApproval),
  ]

  /// One of each network that no card above has.
  private static let ofOtherNetworks = [
    card("unionpay-credit", "UnionPay", .chinaUnionPay, .credit, "6201", "6249990000000018"),
    card("cartes-bancaires-debit", "Cartes Bancaires", .cartesBancaires, .debit, "4201", "4974990000000014"),
    card("maestro-debit", "Maestro", .maestro, .debit, "6701", "6799990000000012"),
    card("electron-debit", "Visa Electron", .electron, .debit, "4917", "4917990000000014"),
    card("vpay-debit", "V Pay", .vPay, .debit, "4821", "4821990000000019"),
    card("girocard-debit", "girocard", .girocard, .debit, "6723", "6723990000000013"),
    card("bancontact-debit", "Bancontact", .bancontact, .debit, "6703", "6703990000000017"),
    card("bancomat-debit", "Bancomat", .bancomat, .debit, "6762", "6762990000000015"),
    card("dankort-debit", "Dankort", .dankort, .debit, "5019", "5019990000000018"),
    card("bankaxept-debit", "BankAxept", .bankAxept, .debit, "9578", "9578990000000013"),
    card("eftpos-debit", "eftpos", .eftpos, .debit, "5601", "5601990000000012"),
    card("interac-debit", "Interac", .interac, .debit, "4506", "4506990000000011"),
    card("elo-credit", "Elo", .elo, .credit, "6362", "6362990000000019"),
    card("mada-debit", "mada", .mada, .debit, "5888", "5888990000000016"),
    card("mir-debit", "Mir", .mir, .debit, "2204", "2204990000000010"),
    card("private-label", "A shop’s own card", .privateLabel, .store, "6007", "6007990000000010"),
  ]

  private static func card(
    _ id: String, _ label: String, _ network: CardNetwork, _ type: PaymentMethodType, _ suffix: String, _ dpan: String,
    _ outcome: SandboxOutcome = .approve, merchantToken: String? = nil
  ) -> SandboxCard? {
    DPAN(dpan).map {
      SandboxCard(
        id: id, label: label, network: network, type: type, suffix: suffix, dpan: $0, expirationDate: "311231",
        outcome: outcome, merchantToken: merchantToken.flatMap { DPAN($0) })
    }
  }
}
