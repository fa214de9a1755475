import Acquiring
package import Ledger
package import Storage
import Telemetry
package import TenderPayments

/// A later payment of an agreement, as a merchant or an operator asks for it.
package struct AgreementCharge: Sendable {
  package let agreement: AgreementID
  package let merchant: MerchantID
  /// Nil for the current period; of a reload for the next one.
  package var period: Int64?
  /// Nil for what the agreement says of the period.
  package var amount: Amount?
  package var capture: CaptureMode = .immediate
  /// Nil for the agreement's.
  package var merchantReference: String?
  /// Whether a person decided it, who knows what a restored store does not.
  package var isByPerson = false
  /// Where Tender charges by itself: as the schedule was when it decided to.
  package var schedule: AgreementSchedule?

  package init(_ agreement: AgreementID, of merchant: MerchantID) {
    (self.agreement, self.merchant) = (agreement, merchant)
  }
}

extension AgreementCharge {
  /// The longest merchant reference.
  private static let longestReference = 40

  /// By its schedule the agreement's with the number of the period, so that each charge has a name of its own.
  fileprivate func reference(of agreement: Agreement, _ period: AgreementCalendar.Period) -> String {
    if let merchantReference { return merchantReference }
    guard schedule != nil else { return agreement.merchantReference }
    let number = "-\(period.number)"
    return String(agreement.merchantReference.prefix(Self.longestReference - number.count)) + number
  }
}

/// A charge whose agreement, credential and route were found. Whether it may be made, its claim decides.
package struct PreparedCharge: Sendable {
  let charge: AgreementCharge
  package let agreement: Agreement
  let credential: StoredCredential
  let acquirer: Acquirer
  let sale: SaleDetails
  /// For a period that has no order yet.
  let order: OrderID
}

/// A charge that was claimed.
package struct ClaimedCharge: Sendable {
  package let period: AgreementCalendar.Period
  package let order: Order
  package let attempt: Attempt
  let confirmed: ConfirmedOrder
}

// A later payment of an agreement, step by step: find the credential that the provider keeps, claim the period (one commit),
// ask, record. From the claim on it is a payment like any other: unknown outcomes, captures and recovery are the same.
//
// The provider is asked by the names that it gave the first payment; no number is kept here.
extension PaymentGateway {
  /// Finds what the charge is made with. Writes nothing.
  package func prepare(_ charge: AgreementCharge) async throws -> PreparedCharge {
    let found = try await database.read { store in
      try Journal.agreement(charge.agreement, of: charge.merchant, in: store).map { agreement in
        (agreement, try journal.credential(of: agreement, in: store), try Journal.payment(of: agreement, in: store))
      }
    }
    guard let (agreement, kept, first) = found else { throw refused(.unknown(charge.agreement)) }
    guard agreement.status == .active else { throw refused(.notChargeable(agreement.status)) }
    guard let kept, let first else { throw GatewayError.agreementNotChargeable(agreement.id) }
    guard let acquirer = routes[kept.route], acquirer.capabilities.instruments.contains(.stored) else {
      throw GatewayError.agreementNotChargeable(agreement.id)
    }
    var sale = SaleDetails(order: nil, merchantAccount: kept.merchantAccount, cardNetwork: first.card.network)
    (sale.cardName, sale.cardType) = (first.card.name, first.card.type)
    sale.agreement = .init(agreement.terms.kind, shopper: first.order.rawValue)
    return PreparedCharge(
      charge: charge, agreement: agreement,
      credential: StoredCredential(
        firstPayment: kept.acquirerReference, reference: kept.storedReference,
        networkTransactionID: kept.networkTransactionID, networkLinkID: kept.networkLinkID, card: first.card),
      acquirer: acquirer, sale: sale, order: OrderID(random.timeOrderedID(clock)))
  }

  /// Claims the period and its payment in one commit with what the caller adds. Afterwards the acquirer may be asked.
  ///
  /// - Throws: ``GatewayError/agreementRefused(_:)``; `KeyTaken`.
  package func claim(
    _ prepared: PreparedCharge, for call: PaymentCall,
    adding addition: @escaping @Sendable (ClaimedCharge, Transaction) throws -> Void
  ) async throws -> ClaimedCharge {
    do {
      return try await trace(.claim) {
        try await database.writeOnce { store, inDoubt in
          if let inDoubt, try journal.hasBegun(inDoubt.attempt, in: store) { return inDoubt }
          let claimed = try claim(prepared, for: call, in: store)
          try addition(claimed, store)
          return claimed
        }
      }
    } catch let error as AgreementError {
      throw refused(error)
    } catch is ClaimRefused {
      throw refused(.conflict)
    }
  }

  private func claim(
    _ prepared: PreparedCharge, for call: PaymentCall, in store: Transaction
  ) throws -> ClaimedCharge {
    let (charge, agreement) = (prepared.charge, prepared.agreement)
    let taken = try journal.takePeriod(
      charge.period, of: agreement.id, of: charge.merchant, for: prepared.order, by: charge.schedule, in: store)
    let amount = charge.amount ?? taken.period.amount
    guard amount.currency == taken.period.amount.currency, amount.isPositive else {
      throw GatewayError.operationRefused(.invalidAmount(amount))
    }
    guard prepared.acquirer.capabilities.toAcquirer(amount) != nil else { throw GatewayError.amountTooFine(amount) }
    let order = Order(
      id: taken.order, merchant: charge.merchant, basket: .period(taken.period.number, of: agreement.id),
      amount: amount,
      applicationDataHash: [], merchantReference: charge.reference(of: agreement, taken.period),
      capture: charge.capture)
    var sale = prepared.sale
    sale.order = order.id.rawValue
    let confirmed = ConfirmedOrder(
      order, use: TokenUse(charging: agreement.id, random.hex(16)), instrument: .stored(prepared.credential),
      amountConfirmed: true, RouteChoice(sale: sale), merchant: routes.sale(of: charge.merchant),
      candidates: [prepared.acquirer])
    try refuseIfRestored(
      confirmed, taken.period, of: agreement, isNamed: charge.period != nil, isByPerson: charge.isByPerson, in: store)
    let attempt = try claim(confirmed, for: call, in: store)
    try journal.note(attempt, chargeOf: agreement.id, in: store)
    return ClaimedCharge(period: taken.period, order: order, attempt: attempt, confirmed: confirmed)
  }

  /// Asks the acquirer for what was claimed, records its answer, and captures at once if the charge says so.
  package func authorize(_ claimed: ClaimedCharge, in call: PaymentCall) async throws -> KeyedAnswer {
    let outcome = try await authorize(claimed.confirmed, claimed.attempt, in: call)
    return KeyedAnswer(outcome: outcome, operations: outcome.operations, firstCallAt: nil, sameRequest: true)
  }

  private func refused(_ error: AgreementError) -> GatewayError { .agreementRefused(error) }
}

extension TokenUse {
  /// In the place of a payment token's fingerprints: a charge has none. What keeps it from being made twice is its period.
  fileprivate init(charging agreement: AgreementID, _ random: String) {
    self.init(transactionID: "charge:\(agreement):\(random)", payloadHash: "charge:\(agreement):\(random)")
  }
}
