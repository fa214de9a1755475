import Acquiring
import Gateway
import Ledger
import Storage
import TenderPayments
import TenderTesting

extension PaymentAgreement {
  static let monthly = PaymentAgreement.recurring(
    RecurringPayment(
      terms: .box,
      regular: RecurringPayment.Billing(label: "Box", amount: .eur(1_250), interval: BillingInterval(.month))))

  static let reload = PaymentAgreement.automaticReload(
    AutomaticReload(terms: .box, label: "Card", amount: .eur(2_000), threshold: .eur(500)))
}

extension AgreementTerms {
  fileprivate static let box = AgreementTerms(paymentDescription: "Box", managementURL: "https://shop.example/box")
}

extension PaymentGateway {
  /// The first payment of an agreement: one commit claims both.
  func begin(
    _ terms: PaymentAgreement = .monthly, with token: EncryptedPaymentToken, for order: Order,
    _ network: CardNetwork = .visa
  ) async throws -> (agreement: AgreementID, payment: Payment) {
    let call = try newCall()
    defer { call.end() }
    var sale = SaleDetails(cardName: "Card 0492", cardNetwork: network)
    sale.agreement = .init(terms.kind, shopper: order.id.rawValue)
    guard
      case .confirmed(let confirmed) = try await confirm(
        token, pays: order, choosing: RouteChoice(sale: sale), in: call)
    else { throw Unexpected() }
    let journal = journal
    let (agreement, attempt) = try await journal.database.write { store in
      let attempt = try claim(confirmed, for: call, in: store)
      let new = NewAgreement(
        terms: terms, timeZone: "UTC", merchantReference: "R-1", merchantToken: confirmed.merchantToken)
      return (try journal.begin(new, with: attempt, in: store), attempt)
    }
    return (agreement, try await authorize(confirmed, attempt, in: call).payment)
  }

  /// A later payment.
  func charge(
    _ agreement: AgreementID, _ change: (inout AgreementCharge) -> Void = { _ in }
  ) async throws -> Payment {
    var charge = AgreementCharge(agreement, of: "shop")
    change(&charge)
    let call = try newCall()
    defer { call.end() }
    let prepared = try await prepare(charge)
    let claimed = try await claim(prepared, for: call) { _, _ in }
    return try await authorize(claimed, in: call).outcome.payment
  }
}
