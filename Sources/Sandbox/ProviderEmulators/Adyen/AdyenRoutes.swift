import AcquirerSandbox
import ApplePayToken
import HTTPServing
import HTTPTypes
import Hummingbird
import Storage
import StrictJSON
import TenderPayments
import TokenIssuer

/// The routes of the emulated Adyen: authenticate, decode, run once for each idempotency key, render.
struct AdyenRoutes<Context: RequestContext>: Sendable {
  let service: AdyenSandboxService
  private var store: AdyenStore { service.store }

  /// A call of an account that is authenticated.
  struct Call: Sendable {
    let account: AdyenAccount
    let body: JSONField
    let psp: String
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenPaymentRequest(call.body)
      try check(wanted.merchantAccount, call)
      if let error = wanted.testError { return try connectionError(error) }
      let payment = try await payment(wanted, call.account)
      return ProviderAct(payment.script) { try store.pay(payment, in: $0) }
    }
  }

  func modify(
    _ kind: AdyenModification.Kind, _ request: Request, _ context: Context
  ) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenModificationRequest(kind, call.body)
      try check(wanted.merchantAccount, call)
      return ProviderAct { try store.accept(kind, wanted, of: call.psp, for: call.account, in: $0) }
    }
  }

  @Sendable func cancelByReference(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenModificationRequest(.technicalCancel, call.body)
      try check(wanted.merchantAccount, call)
      return ProviderAct { try store.acceptTechnicalCancel(wanted, for: call.account, in: $0) }
    }
  }

  @Sendable func paymentMethods(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      guard case .string(let account) = call.body.value["merchantAccount"] else {
        throw AdyenProblem.required("merchantAccount")
      }
      try check(account, call)
      let method: JSONValue = [
        "brands": ["amex", "discover", "jcb", "mc", "visa"], "name": "Apple Pay", "type": "applepay",
      ]
      return ProviderAct { _ in ProviderReply(200, ["paymentMethods": [method]]) }
    }
  }

  private func check(_ merchantAccount: String, _ call: Call) throws(AdyenProblem) {
    guard merchantAccount == call.account.merchantAccount else { throw .otherAccount }
  }

  /// Opens a sealed payment token, and finds out what the card and the amount are scripted to come to.
  private func payment(_ wanted: AdyenPaymentRequest, _ account: AdyenAccount) async throws -> AdyenCardPayment {
    var refusal = wanted.testRefusalCode.flatMap(AdyenRefusal.init)
    let card: NetworkToken?
    var stored: AdyenStoredMethod?
    switch wanted.method {
    case .stored(let use):
      let method = try await store.database.read {
        try AdyenStoredMethod.find(use, of: account.merchantAccount, in: $0)
      }
      (card, stored, refusal) = (nil, method, refusal ?? method.refusal(of: use))
    case .card(let token, let holderName):
      card = token
      refusal = refusal ?? AdyenRefusal(holderName: holderName)
    case .applePay(let token):
      let opened = try await open(token)
      card = try? opened.networkToken
      if !wanted.amount.equals(opened.amount) { refusal = .invalidAmount }
    }
    let script =
      card.map { ScriptedResponse(dpan: $0.dpan, minorUnits: wanted.amount.value) }
      ?? stored.map { ScriptedResponse(storedCard: $0.card, minorUnits: wanted.amount.value) }
    return AdyenCardPayment(
      request: wanted, account: account, card: card, stored: stored, refusal: refusal,
      script: script ?? ScriptedResponse(outcome: .decline(responseCode: "05"), delay: .zero))
  }

  private func open(_ token: JSONValue) async throws -> PaymentData {
    do { return try await service.keys.open(token) } catch let error as PaymentTokenError {
      throw AdyenProblem(422, "174", "Unable to decrypt data: \(error.reason)")
    }
  }

  /// Adyen's switch for communication errors: only where no connection was made is the key free again.
  private func connectionError(_ kind: String) throws(AdyenProblem) -> ProviderAct {
    guard kind == "IOEXCEPTION_RECEIVED" else {
      throw AdyenProblem(500, "000", "No connection available", .internalError, isTransient: true)
    }
    return ProviderAct { _ in ProviderReply(500, AdyenProblem(500, "000", "Communication error", .internalError).json) }
  }
}

// Around every call.
extension AdyenRoutes {
  /// Authenticates the account, reads the body, injects faults, and renders errors.
  func answering(
    _ request: Request, _ context: Context, _ prepare: @Sendable (Call) async throws -> ProviderAct
  ) async throws -> Response {
    let key = request.headers[.idempotencyKey]
    do {
      let fault = service.faults.takeForCall()
      if let fault, fault.isBefore { return try await fail(fault) }
      let account = try account(request)
      let bytes = try await Self.bytes(of: request)
      let call = Call(
        account: account, body: JSONField(try JSONReader.read(bytes)), psp: context.parameters.get("psp") ?? "")
      let contents = "\(request.uri.path) \(String(decoding: bytes, as: UTF8.self))"
      let reply = try await service.calls.run(
        try await act(prepare, call),
        KeyedRequest(account: account.merchantAccount, key: key, contents: contents), in: store,
        busy: AdyenProblem.inProgress)
      return try await service.calls.answer(reply, fault, failed: ProviderReply(AdyenProblem.internalError)) {
        Self.response($0, key)
      }
    } catch let problem as AdyenProblem {
      return Self.response(ProviderReply(problem), key, isTransient: problem.isTransient)
    } catch let error as JSONError {
      return Self.response(ProviderReply(.notReadable(error.description)), key)
    }
  }

  /// The body, up to 64 KiB.
  static func bytes(of request: Request) async throws -> [UInt8] {
    do { return try await BodyReader.collect(request, limit: 65_536) } catch BodyReader.Failure.tooLong {
      throw AdyenProblem.tooLong
    }
  }

  /// A problem is an answer too, and a repeat gets it again.
  private func act(_ prepare: @Sendable (Call) async throws -> ProviderAct, _ call: Call) async throws -> ProviderAct {
    do { return try await prepare(call) } catch let problem as AdyenProblem where !problem.isTransient {
      return ProviderAct { _ in ProviderReply(problem) }
    }
  }

  func account(_ request: Request) throws(AdyenProblem) -> AdyenAccount {
    let key = request.headers[.apiKey]
    guard let account = service.accounts.first(where: { $0.apiKey == key }) else { throw .unauthorized }
    if let key = request.headers[.idempotencyKey], key.utf8.count > 64 {
      throw .notReadable("Idempotency-Key is longer than 64 characters")
    }
    return account
  }

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: ProviderFault) async throws -> Response {
    switch fault {
    case .requestLost: return try await service.calls.keepSilent()
    case .tooManyRequests: return Response(status: .tooManyRequests)
    case .inProgress: throw AdyenProblem.inProgress
    case .unavailable: throw AdyenProblem(503, "703", "Service unavailable", .internalError, isTransient: true)
    default: throw AdyenProblem.internalError
    }
  }

  static func response(_ reply: ProviderReply, _ key: String? = nil, isTransient: Bool = false) -> Response {
    var response = reply.response
    response.headers[.idempotencyKey] = key
    if isTransient { response.headers[.transientError] = "true" }
    return response
  }
}

extension HTTPField.Name {
  fileprivate static let apiKey = named("X-API-Key")
  fileprivate static let idempotencyKey = named("Idempotency-Key")
  fileprivate static let transientError = named("transient-error")

  /// The names above are valid, so the fallback is never taken.
  private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .contentType }
}
