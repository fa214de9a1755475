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

  /// The network as it stands in a payment token's `paymentMethod`, whose capitals differ from those of a request.
  package var networkName: String {
    switch network {
    case .visa: "Visa"
    case .masterCard: "MasterCard"
    case .amex: "AmEx"
    case .discover: "Discover"
    case .jcb: "JCB"
    default: network.rawValue
    }
  }

  /// `Visa 0492`.
  package var displayName: String { "\(networkName) \(suffix)" }
}

/// The cards in the simulated wallet, in the order in which the sheet lists them.
///
/// None of them is a card: numbers and suffixes are made up in ranges that the networks keep for tests.
package enum SandboxCards {
  package static let all: [SandboxCard] = (ordinary + declined + unanswered).compactMap { $0 }

  /// The card with this id.
  package static func card(id: String) -> SandboxCard? { all.first { $0.id == id } }

  /// The card with this device account number.
  package static func card(dpan: DPAN) -> SandboxCard? { all.first { $0.dpan == dpan } }

  private static let ordinary = [
    card("visa-debit", "Visa debit", .visa, .debit, "0492", "4761739000000012"),
    card("visa-credit", "Visa credit", .visa, .credit, "0326", "4761739000000020"),
    card("mastercard-credit", "Mastercard credit", .masterCard, .credit, "1471", "5204249900000015"),
    card("mastercard-debit", "Mastercard debit", .masterCard, .debit, "1505", "5204249900000023"),
    card("amex-credit", "American Express", .amex, .credit, "1362", "349999000000011"),
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

  private static func card(
    _ id: String, _ label: String, _ network: CardNetwork, _ type: PaymentMethodType, _ suffix: String, _ dpan: String,
    _ outcome: SandboxOutcome = .approve
  ) -> SandboxCard? {
    DPAN(dpan).map {
      SandboxCard(
        id: id, label: label, network: network, type: type, suffix: suffix, dpan: $0, expirationDate: "311231",
        outcome: outcome)
    }
  }
}
