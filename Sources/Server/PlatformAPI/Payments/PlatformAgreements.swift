package import DirectWire
import Gateway
package import Ledger
package import Storage
package import TenderPayments

/// Agreements as they are shown: below `/v2/{merchantId}/agreements`, and by `tender agreement`.
package enum PlatformAgreements {
  /// One agreement with its charges and its history; nil where the merchant has none of this id.
  package static func find(
    _ id: AgreementID, of merchant: MerchantID, in store: Transaction
  ) throws -> AgreementAnswer? {
    guard let agreement = try Journal.agreement(id, of: merchant, in: store) else { return nil }
    var answer = try AgreementAnswer(agreement, in: store)
    let prices = try Journal.prices(of: agreement, in: store)
    if !prices.isEmpty {
      answer.prices = prices.map { .init(amount: $0.amount.minorUnits, from: WireTime($0.from)) }
    }
    answer.merchantToken = try Journal.merchantTokenFacts(of: agreement, in: store).map { facts in
      AgreementAnswer.MerchantToken(
        cardSuffix: facts.card?.suffix, cardExpiry: facts.card?.expiry, cardName: facts.card?.name,
        cardCountry: facts.card?.country, describedAt: facts.describedAt.map { WireTime($0) },
        unlinking: facts.unlinking?.rawValue, detail: facts.detail)
    }
    let retries = try Journal.retries(of: id, in: store)
    if retries.declines > 0 || retries.stopped != nil {
      answer.retry = .init(
        declines: retries.declines, notBefore: retries.notBefore.map { WireTime($0) }, stopped: retries.stopped)
    }
    answer.charges = try Journal.charges(of: id, in: store).map { charge in
      AgreementAnswer.Charge(
        period: charge.period, due: charge.due.map { WireTime($0) },
        paymentId: charge.payment.map { DirectPaymentID(payment: $0.id.rawValue, operation: 0) },
        status: charge.payment?.status, amount: charge.payment?.amount.minorUnits,
        declines: charge.declines.isEmpty ? nil : charge.declines.map { AgreementAnswer.Charge.Declined($0) })
    }
    answer.history = try Journal.history(of: id, in: store).map { change in
      AgreementAnswer.Change(
        event: change.event.rawValue, status: change.after, by: change.party, reason: change.reason,
        at: WireTime(change.at))
    }
    return answer
  }

  /// A merchant's agreements, newest first.
  package static func page(
    of merchant: MerchantID, status: AgreementStatus?, before: AgreementID?, limit: Int64, in store: Transaction
  ) throws -> AgreementPageAnswer {
    let found = try Journal.agreements(
      of: [merchant], status: status, before: before, limit: limit, in: store)
    let next = found.count == Int(limit) ? found.last : nil
    return AgreementPageAnswer(
      try found.map { try AgreementAnswer($0, in: store) }, nextCursor: next.map { cursor($0.id) })
  }

  /// The query of `GET /v2/{merchantId}/agreements`.
  ///
  /// - Throws: ``QueryRefused``
  package static func page(
    _ values: [(name: String, value: String)], of merchant: MerchantID, in store: Transaction
  ) throws -> AgreementPageAnswer {
    let query = try QueryParameters(values, known: ["status", "limit", "cursor"])
    let status = try query.read("status", "pending, active, suspended or ended") { AgreementStatus(rawValue: $0) }
    let before = try query.read("cursor", "the page before gave it", agreement)
    return try page(of: merchant, status: status, before: before, limit: query.limit(), in: store)
  }

  /// Opaque to callers.
  private static func cursor(_ agreement: AgreementID) -> String { Base64URL.encode(Array(agreement.rawValue.utf8)) }

  private static func agreement(_ cursor: String) -> AgreementID? {
    guard let bytes = Base64URL.decode(cursor), bytes.count == 32,
      bytes.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) })
    else { return nil }
    return AgreementID(String(decoding: bytes, as: UTF8.self))
  }
}

extension AgreementAnswer {
  fileprivate init(_ agreement: Agreement, in store: Transaction) throws {
    let (calendar, now) = (agreement.calendar, store.now)
    func priced(_ period: AgreementCalendar.Period?) throws -> Period? {
      try period.map { Period(try Journal.applyPrice(to: $0, of: agreement, in: store)) }
    }
    self.init(
      id: agreement.id, status: agreement.status, merchantReference: agreement.merchantReference,
      merchantCustomerId: agreement.customer,
      paymentId: DirectPaymentID(payment: agreement.firstPayment.rawValue, operation: 0),
      currencyCode: agreement.terms.amount.currency,
      terms: AgreementDocument(agreement.terms, timeZone: agreement.timeZone, isScheduled: agreement.schedule != nil),
      hasMerchantToken: agreement.merchantToken != nil, createdAt: WireTime(agreement.createdAt),
      current: try priced(calendar?.current(at: now)), next: try priced(calendar?.next(after: now)))
    let isActive = agreement.status == .active
    schedule = agreement.schedule.map { Schedule(period: $0.period, at: isActive ? $0.at.map { WireTime($0) } : nil) }
  }
}

extension AgreementAnswer.Charge.Declined {
  fileprivate init(_ declined: ChargedPeriod.Declined) {
    self.init(
      paymentId: DirectPaymentID(payment: declined.payment.rawValue), reason: declined.reason, at: WireTime(declined.at)
    )
  }
}

extension AgreementAnswer.Period {
  fileprivate init(_ period: AgreementCalendar.Period) {
    self.init(number: period.number, due: period.due.map { WireTime($0) }, amount: period.amount.minorUnits)
  }
}

// What a merchant's server or a person changes.
extension PlatformAgreements {
  /// `POST /v2/{merchantId}/agreements/{id}`: suspends, resumes or ends an agreement, and names the price of its coming
  /// periods, in one commit.
  ///
  /// - Throws: ``PlatformRefusal``; `GatewayError`.
  package static func change(
    _ id: AgreementID, _ request: AgreementChangeRequest, of merchant: MerchantID, by party: AgreementParty,
    in journal: Journal
  ) async throws -> AgreementAnswer {
    let event = try event(request)
    guard event != nil || request.price != nil else { throw PlatformRefusal.missing("status") }
    do {
      return try await journal.database.write { store in
        guard let agreement = try Journal.agreement(id, of: merchant, in: store) else {
          throw AgreementError.unknown(id)
        }
        // Before it may end.
        if let price = request.price {
          let amount = Amount(minorUnits: price.amount, currency: agreement.terms.amount.currency)
          try journal.price(
            id, of: merchant, AgreementPrice(amount, from: price.from?.timestamp ?? store.now), by: party,
            because: request.reason, in: store)
        }
        if let event { _ = try journal.change(id, of: merchant, by: event, party, because: request.reason, in: store) }
        guard let answer = try find(id, of: merchant, in: store) else { throw AgreementError.unknown(id) }
        return answer
      }
    } catch let error as AgreementError {
      throw GatewayError.agreementRefused(error)
    }
  }

  private static func event(_ request: AgreementChangeRequest) throws -> AgreementEvent? {
    if let price = request.price, !(1...Amount.limit.upperBound).contains(price.amount) {
      throw PlatformRefusal.invalid(
        "price.amount", "An amount is 1 to \(Amount.limit.upperBound), in minor units.")
    }
    switch request.status {
    case nil: return nil
    case .active: return .resumed
    case .suspended: return .suspended
    case .ended: return .ended
    case .pending: throw PlatformRefusal.invalid("status", "active, suspended or ended.")
    }
  }
}

extension PlatformPayments {
  /// ``PlatformAgreements/change(_:_:of:by:in:)`` for a merchant's server.
  ///
  /// - Parameter body: an `AgreementChangeRequest`, as it arrived.
  package func changeAgreement(
    _ id: AgreementID, _ body: [UInt8], of merchant: MerchantID
  ) async throws -> AgreementAnswer {
    try await refusing {
      guard let request = try Self.read(AgreementChangeRequest.self, body) else {
        throw PlatformRefusal.missing("status")
      }
      return try await PlatformAgreements.change(id, request, of: merchant, by: .merchant, in: journal)
    }
  }
}
