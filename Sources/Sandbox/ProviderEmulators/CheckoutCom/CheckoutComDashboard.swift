import AcquirerSandbox
import HTTPServing
import Hummingbird
import Storage
import StrictJSON
import TenderPayments

// The calls that stand for Checkout.com's dashboard. They need the account's secret key.
extension CheckoutComRoutes {
  /// `{url}`: the address of the webhook.
  @Sendable func setWebhook(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account, body in
      try await service.store.sendEvents(of: account.processingChannel, to: try body.member("url").string)
      return ProviderReply(200, body.value)
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      let csr = try await service.keys.request(for: try body.member("merchantIdentifier").string)
      return ProviderReply(200, ["csr": .string(csr)])
    }
  }

  /// `{next}`: the fault of the next call or delivery.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      try service.faults.inject(body)
      return ProviderReply(200, body.value)
    }
  }

  /// What a person, a cardholder or the time does: `captures`, `voids`, `refunds`, `disputes`, `disputes-won`,
  /// `expiries`; `{value}` in Checkout.com's units, where not all of it is meant.
  @Sendable func actInDashboard(_ request: Request, _ context: Context) async throws -> Response {
    let (id, act) = (context.parameters.get("id") ?? "", context.parameters.get("act") ?? "")
    return try await managing(request) { account, body in
      let value = try body.memberIfPresent("value")?.minorUnits
      return try await service.store.database.write {
        try service.store.act(act, on: id, value, of: account.processingChannel, in: $0)
      }
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (CheckoutComAccount, JSONField) async throws -> ProviderReply
  ) async throws -> Response {
    do {
      let account = try account(request)
      let bytes = try await BodyReader.collect(request, limit: 65_536)
      return try await work(account, JSONField(try JSONReader.read(bytes))).response
    } catch let problem as CheckoutComProblem {
      return ProviderReply(problem).response
    } catch is JSONError {
      return ProviderReply(CheckoutComProblem.invalid("request_body_invalid")).response
    }
  }
}

extension CheckoutComStore {
  fileprivate func act(
    _ act: String, on id: String, _ value: Int64?, of channel: String, in transaction: Transaction
  ) throws -> ProviderReply {
    guard var payment = try CheckoutComPayment.find(id, of: channel, in: transaction) else {
      throw CheckoutComProblem.notFound
    }
    switch act {
    case "captures": try begin(.capture, value ?? payment.available, on: payment, in: transaction)
    case "voids": try begin(.void, payment.available, on: payment, in: transaction)
    case "refunds": try begin(.refund, value ?? payment.captured - payment.refunded, on: payment, in: transaction)
    case "disputes": try dispute("dispute_received", payment, value, in: transaction)
    case "disputes-won": try dispute("dispute_won", payment, value, in: transaction)
    case "expiries": try expire(&payment, in: transaction)
    default: throw CheckoutComProblem.notFound
    }
    return ProviderReply(200, payment.details())
  }

  /// Without a reference of its own: its event names the payment's.
  private func begin(
    _ kind: CheckoutComAction.Kind, _ value: Int64, on payment: CheckoutComPayment, in transaction: Transaction
  ) throws {
    try CheckoutComAction(
      id: newName("act"), payment: payment.id, kind: kind, reference: nil, value: value
    ).insert(in: transaction)
  }

  /// The name of a payment's dispute is made of the payment's.
  private func dispute(
    _ type: String, _ payment: CheckoutComPayment, _ value: Int64?, in transaction: Transaction
  ) throws {
    var data: JSONObject = [
      "id": .string("dsp_" + payment.id.dropFirst(4)), "category": "fraudulent",
      "amount": .integer(value ?? payment.captured), "currency": .string(payment.amount.currency.code),
      "reason_code": "10.4", "payment_id": .string(payment.id), "date": .string(transaction.now.description),
    ]
    data["payment_reference"] = payment.reference.map(JSONValue.string)
    try write(type, data, of: payment.channel, in: transaction)
  }

  /// Releases what was not captured.
  private func expire(_ payment: inout CheckoutComPayment, in transaction: Transaction) throws {
    let rest = payment.available
    guard payment.void(as: .expired) else { throw CheckoutComProblem.notAllowed }
    try payment.save(in: transaction)
    var data: JSONObject = [
      "id": .string(payment.id), "amount": .integer(rest), "currency": .string(payment.amount.currency.code),
      "processed_on": .string(transaction.now.description),
    ]
    data["reference"] = payment.reference.map(JSONValue.string)
    try write("payment_expired", data, of: payment.channel, in: transaction)
  }
}
