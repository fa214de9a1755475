import AcquirerSandbox
import DirectWire
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments

// Around every call.
extension WorldlineDirectRoutes {
  /// Authenticates the merchant, reads the body, injects faults, and renders errors.
  func answering(
    _ request: Request, _ context: Context, _ prepare: @Sendable (Call) async throws -> ProviderAct
  ) async throws -> Response {
    do {
      let fault = service.faults.takeForCall()
      if let fault, fault.isBefore { return try await fail(fault) }
      let (account, key) = try caller(request, context.parameters.get("merchantId"))
      let call = Call(
        account: account, body: try await Self.bytes(of: request), id: context.parameters.get("id") ?? "")
      let reply = try await service.calls.run(
        try await act(prepare, call), KeyedRequest(account: account.merchantID, key: key), in: store,
        busy: WorldlineDirectRefusal(.inProgress))
      return try await service.calls.answer(reply, fault, failed: try refused(.serverError), render: Self.response)
    } catch let refusal as WorldlineDirectRefusal {
      return try Self.response(refused(refusal.fault))
    }
  }

  private func refused(_ fault: PlatformFault) throws -> ProviderReply {
    try ProviderReply(fault, id: store.random.uuid())
  }

  /// The merchant whose key has signed the call, and the call's idempotence key.
  private func caller(_ request: Request, _ merchant: String?) throws -> (WorldlineDirectAccount, String?) {
    do {
      let signed = try SignedRequest(
        method: request.method.rawValue, target: request.uri.description,
        headers: request.headers.map { ($0.name.rawName, $0.value) })
      let account = service.accounts.first { $0.apiKeyID == signed.apiKeyID }
      let caller = try RequestAuthenticator().authenticate(
        signed, secret: account?.secretAPIKey, at: service.clock.machine())
      guard let account, account.merchantID == merchant else { throw WorldlineDirectRefusal(.accessNotAllowed) }
      if let key = caller.idempotencyKey, !Idempotence.isKey(key) {
        throw WorldlineDirectRefusal(.invalidValue(Idempotence.key, "not 1 to 40 ASCII characters"))
      }
      return (account, caller.idempotencyKey)
    } catch is SignatureRefusal {
      throw WorldlineDirectRefusal(.accessNotAllowed)
    }
  }

  /// The body, up to 64 KiB.
  static func bytes(of request: Request) async throws -> [UInt8] {
    do { return try await BodyReader.collect(request, limit: 65_536) } catch BodyReader.Failure.tooLong {
      throw WorldlineDirectRefusal(.invalidValue("body", "longer than 64 KiB"))
    }
  }

  /// What the request says wrong is an answer too, and a repeat gets it again.
  private func act(_ prepare: @Sendable (Call) async throws -> ProviderAct, _ call: Call) async throws -> ProviderAct {
    do {
      let act = try await prepare(call)
      return act.replacing { transaction in try replying { try act.run(transaction) } }
    } catch let refusal as WorldlineDirectRefusal {
      return ProviderAct { _ in try refused(refusal.fault) }
    } catch let error as JSONError {
      return ProviderAct { _ in try refused(.init(error)) }
    }
  }

  private func replying(_ run: () throws -> ProviderReply) throws -> ProviderReply {
    do { return try run() } catch let refusal as WorldlineDirectRefusal {
      return try refused(refusal.fault)
    } catch let error as JSONError {
      return try refused(.init(error))
    }
  }

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: ProviderFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await service.calls.keepSilent()
    case .tooManyRequests: return Response(status: .tooManyRequests)
    case .inProgress: throw WorldlineDirectRefusal(.inProgress)
    case .unavailable: return ProviderReply.page(503).response
    default: throw WorldlineDirectRefusal(.serverError)
    }
  }

  static func response(_ reply: ProviderReply) -> Response {
    var response = reply.response
    if let first = reply.firstAt, let name = HTTPField.Name(Idempotence.requestTimestamp) {
      response.headers[name] = "\(first.milliseconds)"
    }
    return response
  }
}

extension PlatformFault {
  /// What is wrong with a body, under the name of the property.
  fileprivate init(_ error: JSONError) {
    let path = error.path.map { String($0.drop { $0 == "$" || $0 == "." }) } ?? ""
    self = error.code == .missing ? .missing(path) : .invalidValue(path, error.reason)
  }
}

// The calls that stand for the Merchant Portal. They need the merchant's API key as a password.
extension WorldlineDirectRoutes {
  /// `{url}`: the address of the webhooks.
  @Sendable func setWebhook(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { account, body in
      try await store.sendEvents(of: account.merchantID, to: try body.member("url").string)
      return body.value
    }
  }

  /// `{merchantIdentifier}`: a signing request for the certificate that payment tokens are encrypted to.
  @Sendable func requestCertificate(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      ["csr": .string(try await service.certificateRequest(for: try body.member("merchantIdentifier").string))]
    }
  }

  /// `{next}`: the fault of the next call or delivery.
  @Sendable func injectFault(_ request: Request, _ context: Context) async throws -> Response {
    try await managing(request) { _, body in
      try service.faults.inject(body)
      return body.value
    }
  }

  /// Every payment of the merchant with its operations, oldest first.
  @Sendable func list(_ request: Request, _ context: Context) async throws -> Response {
    guard let account = service.accounts.first(where: { $0.opensPortal(request.headers) }) else {
      return try Self.response(refused(.accessNotAllowed))
    }
    let payments = try await store.database.read { try WorldlineDirectPayment.all(of: account.merchantID, in: $0) }
    return JSONAnswer.response(payments.map(\.details))
  }

  /// What a person does, without a reference of ours: `captures`, `cancels`, `refunds`; `{value}` in minor units, where
  /// not all of it is meant.
  @Sendable func actInPortal(_ request: Request, _ context: Context) async throws -> Response {
    let (id, act) = (context.parameters.get("id") ?? "", context.parameters.get("act") ?? "")
    return try await managing(request) { account, body in
      let value = try body.memberIfPresent("value")
      let reply = try await store.database.write { transaction in
        guard let name = DirectPaymentID(id),
          let payment = try WorldlineDirectPayment.find(name.payment, of: account.merchantID, in: transaction)
        else { throw WorldlineDirectRefusal(.unknownPayment) }
        return try store.act(act, on: payment, value, for: account, in: transaction)
      }
      return try JSONReader.read(reply.body)
    }
  }

  private func managing(
    _ request: Request, _ work: @Sendable (WorldlineDirectAccount, JSONField) async throws -> JSONValue
  ) async throws -> Response {
    do {
      guard let account = service.accounts.first(where: { $0.opensPortal(request.headers) }) else {
        throw WorldlineDirectRefusal(.accessNotAllowed)
      }
      let body = JSONField(try JSONReader.read(try await Self.bytes(of: request)))
      return JSONAnswer.response(try await work(account, body))
    } catch let refusal as WorldlineDirectRefusal {
      return try Self.response(refused(refusal.fault))
    } catch let error as JSONError {
      return try Self.response(refused(.init(error)))
    }
  }
}

extension WorldlineDirectStore {
  fileprivate func act(
    _ act: String, on payment: WorldlineDirectPayment, _ value: JSONField?, for account: WorldlineDirectAccount,
    in transaction: Transaction
  ) throws -> ProviderReply {
    let amount = try value?.amount(in: payment.amount.currency)
    let money = amount.map(AmountOfMoney.init)
    return switch act {
    case "captures":
      try capture(CapturePaymentRequest(amount: amount, isFinal: nil), payment, for: account, in: transaction)
    case "cancels": try cancel(CancelPaymentRequest(amountOfMoney: money), payment, for: account, in: transaction)
    case "refunds": try refund(RefundPaymentRequest(amountOfMoney: money), payment, for: account, in: transaction)
    default: throw WorldlineDirectRefusal(.invalidValue("act", "there is no act \(act)"))
    }
  }
}
