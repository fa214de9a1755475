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

  /// What a call comes to: how long it takes, and what it does.
  struct Act: Sendable {
    var delay: Duration = .zero
    /// Whether nothing is done and nothing answered; or done and not answered.
    var isLost = false
    var isAnswerLost = false
    let run: @Sendable (Transaction) throws -> AdyenReply
  }

  @Sendable func pay(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenPaymentRequest(call.body)
      try check(wanted.merchantAccount, call)
      if let error = wanted.testError { return try connectionError(error) }
      let payment = try await payment(wanted, call.account)
      let outcome = payment.script.outcome
      return Act(
        delay: payment.script.delay, isLost: outcome == .noAnswer, isAnswerLost: outcome == .noAnswerAfterApproval
      ) { try store.pay(payment, in: $0) }
    }
  }

  func modify(
    _ kind: AdyenModification.Kind, _ request: Request, _ context: Context
  ) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenModificationRequest(kind, call.body)
      try check(wanted.merchantAccount, call)
      return Act { try store.accept(kind, wanted, of: call.psp, for: call.account, in: $0) }
    }
  }

  @Sendable func cancelByReference(_ request: Request, _ context: Context) async throws -> Response {
    try await answering(request, context) { call in
      let wanted = try AdyenModificationRequest(.technicalCancel, call.body)
      try check(wanted.merchantAccount, call)
      return Act { try store.acceptTechnicalCancel(wanted, for: call.account, in: $0) }
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
      return Act { _ in AdyenReply(200, ["paymentMethods": [method]]) }
    }
  }

  private func check(_ merchantAccount: String, _ call: Call) throws(AdyenProblem) {
    guard merchantAccount == call.account.merchantAccount else { throw .otherAccount }
  }

  /// Opens a sealed payment token, and finds out what the card and the amount are scripted to come to.
  private func payment(_ wanted: AdyenPaymentRequest, _ account: AdyenAccount) async throws -> AdyenCardPayment {
    var refusal = wanted.testRefusalCode.flatMap(AdyenRefusal.init)
    let card: NetworkToken?
    switch wanted.method {
    case .card(let token, let holderName):
      card = token
      refusal = refusal ?? AdyenRefusal(holderName: holderName)
    case .applePay(let token):
      let opened = try await open(token)
      card = try? opened.networkToken
      if !wanted.amount.equals(opened.amount) { refusal = .invalidAmount }
    }
    let script = card.map { ScriptedResponse(dpan: $0.dpan, minorUnits: wanted.amount.value) }
    return AdyenCardPayment(
      request: wanted, account: account, card: card, refusal: refusal,
      script: script ?? ScriptedResponse(outcome: .decline(responseCode: "05"), delay: .zero))
  }

  private func open(_ token: JSONValue) async throws -> PaymentData {
    do { return try await service.keys.open(token) } catch let error as PaymentTokenError {
      throw AdyenProblem(422, "174", "Unable to decrypt data: \(error.reason)")
    }
  }

  /// Adyen's switch for communication errors: only where no connection was made is the key free again.
  private func connectionError(_ kind: String) throws(AdyenProblem) -> Act {
    guard kind == "IOEXCEPTION_RECEIVED" else {
      throw AdyenProblem(500, "000", "No connection available", .internalError, isTransient: true)
    }
    return Act { _ in AdyenReply(500, AdyenProblem(500, "000", "Communication error", .internalError).json) }
  }
}

// Around every call.
extension AdyenRoutes {
  /// Authenticates the account, reads the body, injects faults, and renders errors.
  func answering(
    _ request: Request, _ context: Context, _ prepare: @Sendable (Call) async throws -> Act
  ) async throws -> Response {
    let key = request.headers[.idempotencyKey]
    do {
      let fault = service.faults.takeForCall()
      if let fault, fault.isBefore { return try await fail(fault, key) }
      let account = try account(request)
      let bytes = try await Self.bytes(of: request)
      let call = Call(
        account: account, body: JSONField(try JSONReader.read(bytes)), psp: context.parameters.get("psp") ?? "")
      let contents = "\(request.uri.path) \(String(decoding: bytes, as: UTF8.self))"
      let (reply, isSilent) = try await run(
        .init(account: account.merchantAccount, key: key, contents: contents), try await act(prepare, call))
      if isSilent { return try await silence() }
      return try await spoil(fault, reply, key)
    } catch let problem as AdyenProblem {
      return Self.response(AdyenReply(problem), key, isTransient: problem.isTransient)
    } catch let error as JSONError {
      return Self.response(AdyenReply(.notReadable(error.description)), key)
    }
  }

  /// The body, up to 64 KiB.
  static func bytes(of request: Request) async throws -> [UInt8] {
    do { return try await BodyReader.collect(request, limit: 65_536) } catch BodyReader.Failure.tooLong {
      throw AdyenProblem.tooLong
    }
  }

  /// A problem is an answer too, and a repeat gets it again.
  private func act(_ prepare: @Sendable (Call) async throws -> Act, _ call: Call) async throws -> Act {
    do { return try await prepare(call) } catch let problem as AdyenProblem where !problem.isTransient {
      return Act { _ in AdyenReply(problem) }
    }
  }

  private func run(
    _ request: AdyenStore.KeyedRequest, _ act: Act
  ) async throws -> (AdyenReply, isSilent: Bool) {
    if act.isLost { return (AdyenReply(.inProgress), true) }
    let key = "\(request.account) \(request.key ?? service.store.newPSPReference())"
    guard service.inProgress.begin(key) else { throw AdyenProblem.inProgress }
    defer { service.inProgress.end(key) }
    if act.delay > .zero { try await Task.sleep(for: act.delay) }
    let (reply, isRepeated) = try await store.once(request, act.run)
    return (reply, act.isAnswerLost && !isRepeated)
  }

  func account(_ request: Request) throws(AdyenProblem) -> AdyenAccount {
    let key = request.headers[.apiKey]
    guard let account = service.accounts.first(where: { $0.apiKey == key }) else { throw .unauthorized }
    if let key = request.headers[.idempotencyKey], key.utf8.count > 64 {
      throw .notReadable("Idempotency-Key is longer than 64 characters")
    }
    return account
  }

  /// Waits until the caller has given up.
  private func silence() async throws -> Response {
    try await Task.sleep(for: service.silence)
    return Response(status: .gatewayTimeout)
  }

  /// Answers for a fault that comes before anything is done.
  private func fail(_ fault: AdyenFault, _ key: String?) async throws -> Response {
    switch fault {
    case .requestLost: return try await silence()
    case .tooManyRequests: return Response(status: .tooManyRequests)
    case .inProgress: throw AdyenProblem.inProgress
    case .unavailable: throw AdyenProblem(503, "703", "Service unavailable", .internalError, isTransient: true)
    default: throw AdyenProblem(500, "000", "Internal error", .internalError)
    }
  }

  /// The answer, as a fault that comes afterwards leaves it.
  private func spoil(_ fault: AdyenFault?, _ reply: AdyenReply, _ key: String?) async throws -> Response {
    switch fault {
    case .answerLost: return try await silence()
    case .failedAfter:
      return Self.response(AdyenReply(500, AdyenProblem(500, "000", "Internal error", .internalError).json), key)
    case .answerGarbled: return Self.html(reply.status)
    case .answerTruncated:
      let bytes = reply.body.serialized()
      return Self.response(Array(bytes.prefix(bytes.count / 2)), reply.status, key)
    case .answerLate:
      try await Task.sleep(for: .seconds(3))
      return Self.response(reply, key)
    default: return Self.response(reply, key)
    }
  }

  static func response(_ reply: AdyenReply, _ key: String? = nil, isTransient: Bool = false) -> Response {
    response(reply.body.serialized(), reply.status, key, isTransient: isTransient)
  }

  private static func response(
    _ body: [UInt8], _ status: Int, _ key: String?, isTransient: Bool = false
  ) -> Response {
    var response = JSONAnswer.response(bytes: body, status: HTTPResponse.Status(code: status))
    response.headers[.idempotencyKey] = key
    if isTransient { response.headers[.transientError] = "true" }
    return response
  }

  private static func html(_ status: Int) -> Response {
    JSONAnswer.response(
      bytes: Array("<html><body>Please try again later.</body></html>".utf8), status: HTTPResponse.Status(code: status),
      contentType: MediaType.html)
  }
}

extension HTTPField.Name {
  fileprivate static let apiKey = named("X-API-Key")
  fileprivate static let idempotencyKey = named("Idempotency-Key")
  fileprivate static let transientError = named("transient-error")

  /// The names above are valid, so the fallback is never taken.
  private static func named(_ name: String) -> HTTPField.Name { HTTPField.Name(name) ?? .contentType }
}
