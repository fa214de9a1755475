package import DirectWire
import Ledger
package import Storage
package import TenderPayments

/// Agreements as they are shown: below `/v2/{merchantId}/agreements`, and by `tender agreement`.
package enum PlatformAgreements {
  /// One agreement with its charges and its history; nil where the merchant has none of this id.
  package static func find(
    _ id: AgreementID, of merchant: MerchantID, in store: Transaction
  ) throws -> AgreementAnswer? {
    guard let agreement = try Journal.agreement(id, of: merchant, in: store) else { return nil }
    var answer = AgreementAnswer(agreement, at: store.now)
    let retries = try Journal.retries(of: id, in: store)
    if retries.declines > 0 || retries.stopped != nil {
      answer.retry = .init(
        declines: retries.declines, notBefore: retries.notBefore.map { WireTime($0) }, stopped: retries.stopped)
    }
    answer.merchantToken = try Journal.merchantTokenFacts(of: agreement, in: store).map { facts in
      AgreementAnswer.MerchantToken(
        cardSuffix: facts.card?.suffix, cardExpiry: facts.card?.expiry, cardName: facts.card?.name,
        cardCountry: facts.card?.country, describedAt: facts.describedAt.map { WireTime($0) },
        unlinking: facts.unlinking?.rawValue, detail: facts.detail)
    }
    answer.charges = try Journal.charges(of: id, in: store).map { charge in
      AgreementAnswer.Charge(
        period: charge.period, due: charge.due.map { WireTime($0) },
        paymentId: charge.payment.map { DirectPaymentID(payment: $0.id.rawValue, operation: 0) },
        status: charge.payment?.status, amount: charge.payment?.amount.minorUnits)
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
      found.map { AgreementAnswer($0, at: store.now) }, nextCursor: next.map { cursor($0.id) })
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
  fileprivate init(_ agreement: Agreement, at now: Timestamp) {
    let calendar = agreement.calendar
    self.init(
      id: agreement.id, status: agreement.status, merchantReference: agreement.merchantReference,
      merchantCustomerId: agreement.customer,
      paymentId: DirectPaymentID(payment: agreement.firstPayment.rawValue, operation: 0),
      currencyCode: agreement.terms.amount.currency,
      terms: AgreementDocument(agreement.terms, timeZone: agreement.timeZone),
      hasMerchantToken: agreement.merchantToken != nil, createdAt: WireTime(agreement.createdAt),
      current: calendar?.current(at: now).map(Period.init), next: calendar?.next(after: now).map(Period.init))
  }
}

extension AgreementAnswer.Period {
  fileprivate init(_ period: AgreementCalendar.Period) {
    self.init(number: period.number, due: period.due.map { WireTime($0) }, amount: period.amount.minorUnits)
  }
}
