import AcquirerSandbox
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments

// The calls that stand for Adyen's web pages. They need the account's API key.
extension AdyenRoutes {
  /// `{url}`: the address of the webhook.
  @Sendable func setWebhook(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account, body in
      try await service.store.sendEvents(of: account.merchantAccount, to: try body.member("url").string)
      return ProviderReply(200, body.value)
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      ProviderReply(
        200, ["csr": .string(try await service.keys.request(for: try body.member("merchantIdentifier").string))])
    }
  }

  /// `{next}`: the fault of the next call or delivery.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      try service.faults.inject(body)
      return ProviderReply(200, body.value)
    }
  }

  /// Every payment of the account with its balances, oldest first.
  @Sendable func list(_ request: Request, _ context: Context) async throws -> Response {
    let account: AdyenAccount
    do { account = try self.account(request) } catch { return Self.response(ProviderReply(error)) }
    let payments = try await service.store.database.read { try AdyenPayment.all(of: account.merchantAccount, in: $0) }
    return Self.response(ProviderReply(200, ["payments": .array(payments.map(\.json))]))
  }

  /// The payment accounting report.
  @Sendable func report(_ request: Request, _ context: Context) async throws -> Response {
    let account: AdyenAccount
    do { account = try self.account(request) } catch { return Self.response(ProviderReply(error)) }
    let report = try await service.store.report(of: account.merchantAccount)
    return JSONAnswer.response(bytes: Array(report.utf8), contentType: MediaType.csv)
  }

  /// What a person, a cardholder or the time does: `captures`, `cancels`, `refunds`, `failures` (of the newest refund),
  /// `chargebacks`, `chargeback-reversals`, `expiries`; `{value}` in Adyen's units, where not all of it is meant.
  @Sendable func actInDashboard(_ request: Request, _ context: Context) async throws -> Response {
    let (psp, act) = (context.parameters.get("psp") ?? "", context.parameters.get("act") ?? "")
    return try await managing(request) { account, body in
      let value = try body.memberIfPresent("value")?.minorUnits
      return try await service.store.database.write {
        try service.store.act(act, on: psp, value, for: account, in: $0)
      }
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (AdyenAccount, JSONField) async throws -> ProviderReply
  ) async throws -> Response {
    do {
      let account = try account(request)
      return Self.response(try await work(account, JSONField(try JSONReader.read(try await Self.bytes(of: request)))))
    } catch let problem as AdyenProblem {
      return Self.response(ProviderReply(problem))
    } catch let error as JSONError {
      return Self.response(ProviderReply(.notReadable(error.description)))
    }
  }
}

extension AdyenStore {
  fileprivate func act(
    _ act: String, on pspReference: String, _ value: Int64?, for account: AdyenAccount, in transaction: Transaction
  ) throws -> ProviderReply {
    guard var payment = try AdyenPayment.find(pspReference, of: account.merchantAccount, in: transaction) else {
      return ProviderReply(.payment)
    }
    switch act {
    case "captures": try begin(.capture, value ?? payment.authorised, on: payment, in: transaction)
    case "refunds": try begin(.refund, value ?? payment.captured, on: payment, in: transaction)
    case "cancels": try begin(.cancel, nil, on: payment, in: transaction)
    case "failures": try failLastRefund(of: payment, for: account, in: transaction)
    case "chargebacks": try dispute("CHARGEBACK", "Chargeback", payment, value, for: account, in: transaction)
    case "chargeback-reversals":
      try dispute("CHARGEBACK_REVERSED", "ChargebackReversed", payment, value, for: account, in: transaction)
    case "expiries": try expire(&payment, for: account, in: transaction)
    default: throw AdyenProblem.notReadable("there is no act \(act)")
    }
    return ProviderReply(200, payment.json)
  }

  /// Without a reference of its own: its event names the payment's.
  private func begin(
    _ kind: AdyenModification.Kind, _ value: Int64?, on payment: AdyenPayment, in transaction: Transaction
  ) throws {
    try AdyenModification(
      pspReference: newPSPReference(), account: payment.account, payment: payment.pspReference, kind: kind,
      reference: nil, value: value
    ).insert(in: transaction)
  }

  private func failLastRefund(
    of payment: AdyenPayment, for account: AdyenAccount, in transaction: Transaction
  ) throws {
    let row = try transaction.row(
      """
      SELECT psp_reference FROM modifications
      WHERE payment = $1 AND kind = 'refund' AND state = 'done' ORDER BY created_at DESC
      """, .text(payment.pspReference))
    guard let name = try row?.text("psp_reference"),
      let refund = try AdyenModification.find(name, of: payment.account, in: transaction)
    else { throw AdyenProblem.payment }
    try fail(refund, on: payment, for: account, in: transaction)
  }

  private func dispute(
    _ code: String, _ recordType: String, _ payment: AdyenPayment, _ value: Int64?, for account: AdyenAccount,
    in transaction: Transaction
  ) throws {
    let value = value ?? payment.captured
    try book(recordType, value, on: payment, in: transaction)
    try write(
      .payment(code, newPSPReference(), payment, value, reason: "Other Fraud-Card Absent", at: transaction.now),
      of: account, in: transaction)
  }

  /// Releases what was not captured.
  private func expire(
    _ payment: inout AdyenPayment, for account: AdyenAccount, in transaction: Transaction
  ) throws {
    let rest = payment.authorised - payment.captured
    payment.authorised = payment.captured
    if payment.captured == 0 { payment.state = .expired }
    try payment.save(in: transaction)
    try book("Expired", rest, on: payment, in: transaction)
    try write(
      .payment("EXPIRE", payment.pspReference, payment, rest, at: transaction.now), of: account, in: transaction)
  }
}

extension AdyenPayment {
  /// For lists of the sandbox.
  var json: JSONValue {
    [
      "pspReference": .string(pspReference), "reference": .string(reference), "state": .string(state.rawValue),
      "amount": amount.json, "authorised": .integer(authorised), "captured": .integer(captured),
      "refunded": .integer(refunded), "cardSuffix": .string(cardSuffix),
    ]
  }
}
