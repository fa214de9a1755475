package import DirectWire
import Gateway
import HTTPTypes
package import Ledger
import PlatformAPI
import Settings
import Storage
package import TenderPayments

// What an operator does to an agreement by `tender agreement`. Each attempt stands in the office's audit chain, with its outcome.
extension PaymentAdministration {
  /// The newest agreements.
  ///
  /// - Parameter merchant: nil for every merchant's.
  package static func agreements(
    _ journal: Journal, of merchant: MerchantID?, status: AgreementStatus?, limit: Int64
  ) async throws -> AgreementListing {
    try await journal.database.read { store in
      let found = try Journal.agreements(of: merchant.map { [$0] }, status: status, limit: limit, in: store)
      return AgreementListing(agreements: try found.compactMap { try AgreementReport.find($0.id, in: store) })
    }
  }

  /// The agreement of this id; or the only one of this merchant's reference, or of this first payment.
  package static func agreement(_ journal: Journal, _ name: String) async throws -> AgreementReport {
    try await journal.database.read { store in
      let payment = DirectPaymentID(name).map { PaymentID($0.payment) }
      let ids = try Journal.agreements(named: name, payment: payment, limit: 11, in: store).map(\.id)
      guard ids.count < 2 else {
        let names = ids.prefix(10).map(\.rawValue).joined(separator: ", ") + (ids.count > 10 ? " …" : "")
        throw Problem(
          .conflict, "agreement_ambiguous",
          "Several agreements have the reference \(name). Name one by its id: \(names).")
      }
      guard let id = ids.first, let found = try AgreementReport.find(id, in: store) else {
        throw GatewayError.agreementRefused(.unknown(AgreementID(name)))
      }
      return found
    }
  }

  /// The newest agreements, from inside a server.
  package func agreements(
    of merchant: MerchantID?, status: AgreementStatus?, limit: Int64
  ) async throws -> AgreementListing {
    try await Self.agreements(journal, of: merchant, status: status, limit: limit)
  }

  package func agreement(_ name: String) async throws -> AgreementReport { try await Self.agreement(journal, name) }

  /// Ends an agreement for good.
  ///
  /// - Parameter name: its id, or the merchant's reference or first payment that it alone has; also of the calls below.
  package func end(_ name: String, by person: CommandLineOperator) async throws -> AgreementReport {
    let before = try await Self.agreement(journal, name)
    return try await audit("end", before, [], key: nil, by: person) {
      _ = try await end(before.agreement.id, of: before.merchant, because: person.reason)
      return try await Self.agreement(journal, before.agreement.id.rawValue)
    }
  }

  /// Suspends or resumes an agreement, or names the price of its coming periods.
  ///
  /// - Parameters:
  ///   - amount: in the agreement's currency, as `10.00`.
  ///   - from: RFC 3339; nil for now.
  package func change(
    _ name: String, to status: AgreementStatus? = nil, amount: String? = nil, from: String? = nil,
    by person: CommandLineOperator
  ) async throws -> AgreementReport {
    let before = try await Self.agreement(journal, name)
    let id = before.agreement.id
    let verb = amount == nil ? status?.rawValue ?? "change" : "price"
    return try await audit(verb, before, [status?.rawValue, amount, from.map { "from \($0)" }], key: nil, by: person) {
      var request = AgreementChangeRequest(status: status, reason: person.reason)
      if let amount {
        let time = try from.map { text -> Timestamp in
          guard let time = Timestamp(rfc3339: text) else {
            throw Problem(
              .badRequest, "bad_request", "from is a time as 2027-01-31T09:00:00Z.", field: "from")
          }
          return time
        }
        request.price = .init(
          amount: try Self.amount(amount, before.agreement.currencyCode).minorUnits, from: time.map { WireTime($0) })
      }
      _ = try await PlatformAgreements.change(id, request, of: before.merchant, by: .operator, in: journal)
      return try await Self.agreement(journal, id.rawValue)
    }
  }

  /// Ends an agreement for good, for a caller that has noted the attempt.
  package func end(_ id: AgreementID, of merchant: MerchantID, because reason: String) async throws -> Agreement {
    do {
      return try await journal.database.write { [journal] store in
        try journal.change(id, of: merchant, by: .ended, .operator, because: reason, in: store)
      }
    } catch let error as AgreementError {
      throw GatewayError.agreementRefused(error)
    }
  }

  /// Charges a period once for the key.
  ///
  /// - Parameters:
  ///   - period: nil for the current one.
  ///   - amount: in the agreement's currency, as `10.00`; nil for the agreement's.
  package func charge(
    _ name: String, period: Int64?, amount: String?, key: String?, by person: CommandLineOperator
  ) async throws -> AgreementReport {
    let before = try await Self.agreement(journal, name)
    let id = before.agreement.id
    let asked = [amount, period.map { "period \($0)" }]
    return try await audit("charge", before, asked, key: key, by: person) {
      var charge = AgreementCharge(id, of: before.merchant)
      (charge.period, charge.isByPerson) = (period, true)
      charge.amount = try amount.map { try Self.amount($0, before.agreement.currencyCode) }
      let key = try key.map(Self.idempotencyKey) ?? IdempotencyKey(random.hex(16))
      let call = IdempotentCall(
        merchant: before.merchant, call: "administration charge \(id)", key: key,
        requestHash: asked.map { $0 ?? "-" }.joined(separator: " "))
      try await gateway.refuseUnfinishedElsewhere()
      let answer = try await onPaymentThreads { [gateway, charge] in
        try await AgreementCharging.perform(charge, under: call, through: gateway)
      }
      guard answer.sameRequest else {
        throw Problem(
          .unprocessableContent, "idempotency_key_reused", "This key was used for another charge.", field: "key")
      }
      var after = try await Self.agreement(journal, id.rawValue)
      let payment = answer.outcome.payment
      after.payment = PaymentReport(
        payment, reference: try await reference(of: payment.order),
        operations: try await journal.operations(of: payment.id), performed: answer.outcome.operations, key: key)
      return after
    }
  }

  private func audit(
    _ verb: String, _ before: AgreementReport, _ asked: [String?], key: String?, by person: CommandLineOperator,
    _ work: () async throws -> AgreementReport
  ) async throws -> AgreementReport {
    let entry = OfficeAction(
      person.actor, from: "", "agreement.\(verb)", merchant: before.merchant.rawValue,
      subject: before.agreement.id.rawValue, before: before.agreement.status.rawValue,
      after: asked.compactMap(\.self).joined(separator: ", "), reason: person.reason)
    func withKey(_ words: String) -> String { words + (key.map { ", key \($0)" } ?? "") }
    return try await OfficeAudit.attempt(
      entry, in: journal.database,
      failure: { error in
        let problem = ProblemTable.problem(for: error)
        return (problem.status.code < 500 ? .refused : .failed, withKey(problem.detail))
      }, outcome: { withKey($0.payment?.outcome ?? $0.agreement.status.rawValue) }, work)
  }
}

/// Agreements as the command line lists them.
package struct AgreementListing: Codable, Sendable {
  package let agreements: [AgreementReport]
}

/// An agreement as the command line shows it.
package struct AgreementReport: Codable, Sendable {
  package let merchant: MerchantID
  package let agreement: AgreementAnswer
  /// What a charge takes from now on unless another amount is named, in minor units; of a recurring payment the regular price.
  package let price: Int64
  /// The network of the card that began it; nil where it is not known.
  package let network: String?
  /// The payment that was just made; absent otherwise.
  package fileprivate(set) var payment: PaymentReport?

  fileprivate static func find(_ id: AgreementID, in store: Transaction) throws -> AgreementReport? {
    guard let merchant = try Journal.merchant(of: id, in: store),
      let kept = try Journal.agreement(id, of: merchant, in: store),
      let agreement = try PlatformAgreements.find(id, of: merchant, in: store)
    else { return nil }
    return AgreementReport(
      merchant: merchant, agreement: agreement, price: try kept.price(at: store.now, in: store).minorUnits,
      network: try Journal.payment(of: kept, in: store)?.card.network?.rawValue)
  }
}
