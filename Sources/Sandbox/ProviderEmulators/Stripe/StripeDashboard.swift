import AcquirerSandbox
import HTTPServing
import Hummingbird
import Storage
import StrictJSON
import TenderPayments

// The calls that stand for Stripe's dashboard. They need the account's secret key.
extension StripeRoutes {
  /// `{url, rolling?}`: the address of the webhook, and whether its secret is being rolled.
  @Sendable func setWebhook(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { owner, body in
      let isRolling = try body.memberIfPresent("rolling")?.bool ?? false
      try await service.store.sendEvents(of: owner.id, to: try body.member("url").string)
      try await service.store.rollSecret(of: owner.id, isRolling)
      return body.value
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      ["csr": .string(try await service.keys.request(for: try body.member("merchantIdentifier").string))]
    }
  }

  /// `{next}`: the fault of the next call or delivery.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      try service.faults.inject(body)
      return body.value
    }
  }

  /// Every intent of the account with its balances, oldest first.
  @Sendable func list(_ request: Request, _ context: Context) async throws -> Response {
    do {
      let owner = try owner(request, .everything)
      let intents = try await service.store.database.read { try StripeIntent.all(of: owner.id, in: $0) }
      return JSONAnswer.response(["payments": .array(intents.reversed().map(\.row))])
    } catch let problem as StripeProblem {
      return JSONAnswer.response(problem.json, status: .init(code: problem.status))
    }
  }

  /// What a person, a cardholder or the time does: `captures`, `cancels`, `refunds`, `failures` (of the newest refund),
  /// `disputes`, `dispute-reversals`, `expiries`; `{value}` in Stripe's units, where not all of it is meant.
  @Sendable func actInDashboard(_ request: Request, _ context: Context) async throws -> Response {
    let (id, act) = (context.parameters.get("id") ?? "", context.parameters.get("act") ?? "")
    return try await managing(request) { owner, body in
      let value = try body.memberIfPresent("value")?.minorUnits
      return try await service.store.database.write {
        try service.store.act(act, on: id, value, of: owner.id, in: $0)
      }
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (StripeOwner, JSONField) async throws -> JSONValue
  ) async throws -> Response {
    do {
      let owner = try owner(request, .everything)
      let body = JSONField(try JSONReader.read(try await Self.bytes(of: request)))
      return JSONAnswer.response(try await work(owner, body))
    } catch let problem as StripeProblem {
      return JSONAnswer.response(problem.json, status: .init(code: problem.status))
    } catch let error as JSONError {
      return JSONAnswer.response(StripeProblem(400, error.description).json, status: .badRequest)
    }
  }
}

extension StripeStore {
  fileprivate func act(
    _ act: String, on id: String, _ value: Int64?, of account: String, in transaction: Transaction
  ) throws -> JSONValue {
    guard var intent = try StripeIntent.find(id, of: account, in: transaction) else {
      throw StripeProblem.unknown("payment_intent", id)
    }
    switch act {
    case "captures":
      let capture = try StripeCaptureRequest(value.map { "amount_to_capture=\($0)" } ?? "")
      _ = try self.capture(id, capture, of: account, .person, in: transaction)
    case "cancels": try cancel(&intent, because: "requested_by_customer", .person, in: transaction)
    case "refunds":
      let refund = try StripeRefundRequest("payment_intent=\(id)" + (value.map { "&amount=\($0)" } ?? ""))
      _ = try self.refund(refund, of: account, .person, in: transaction)
    case "failures": try failLastRefund(of: intent, in: transaction)
    case "disputes": try dispute(intent, value, "funds_withdrawn", "needs_response", in: transaction)
    case "dispute-reversals": try dispute(intent, value, "funds_reinstated", "won", in: transaction)
    case "expiries": try cancel(&intent, because: "automatic", .itself, in: transaction)
    default: throw StripeProblem(400, "there is no act \(act)")
    }
    return try StripeIntent.find(id, of: account, in: transaction)?.row ?? .null
  }

  private func failLastRefund(of intent: StripeIntent, in transaction: Transaction) throws {
    let refund = try StripeRefund.all(of: intent.account, in: transaction).first {
      $0.intent == intent.id && $0.status == .succeeded && !$0.isRelease
    }
    guard let refund else { throw StripeProblem(400, "there is no refund") }
    try end(refund, as: .failed, in: transaction)
  }

  private func dispute(
    _ intent: StripeIntent, _ value: Int64?, _ event: String, _ status: String, in transaction: Transaction
  ) throws {
    let dispute: JSONValue = [
      "id": .string("dp_" + intent.id.dropFirst(3)), "object": "dispute", "amount": .integer(value ?? intent.received),
      "charge": .string(intent.charge ?? ""), "currency": .string(intent.money.code), "livemode": false,
      "payment_intent": .string(intent.id), "reason": "fraudulent", "status": .string(status),
    ]
    let first = status == "won" ? "charge.dispute.closed" : "charge.dispute.created"
    for type in [first, "charge.dispute.\(event)"] {
      try write(StripeEvent(type, dispute, .itself), of: intent.account, in: transaction)
    }
  }
}

extension StripeIntent {
  /// For lists of the sandbox.
  fileprivate var row: JSONValue {
    [
      "id": .string(id), "status": .string(status.rawValue), "amount": .integer(money.value),
      "currency": .string(money.code), "capturable": .integer(capturable), "received": .integer(received),
      "refunded": .integer(refunded), "metadata": Self.json(metadata), "cardSuffix": .string(cardSuffix),
    ]
  }
}
