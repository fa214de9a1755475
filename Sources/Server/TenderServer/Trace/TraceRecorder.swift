import Acquiring
import Administration
import ApplePayToken
import Gateway
import HTTPTransport
import Hummingbird
import Settings
import TenderPayments

/// Records the calls of simulated payments for the demo's page.
///
/// Only the environment `simulated` has one. It trusts the simulated Apple's root alone, so it never opens a payment
/// token of a real card. It wraps functions that other modules are given; they do not know of it.
struct TraceRecorder: Sendable {
  /// The end of the addresses that show a trace, which none records.
  static let address = "/trace"

  let store: TraceStore
  private let opener: TokenOpener
  private let clock: WallClock

  init(of apple: SimulatedApple, keys: ProcessingKeyRing, clock: WallClock) throws {
    store = TraceStore()
    opener = TokenOpener(verifier: TokenVerifier(trust: try .simulated(rootPEM: apple.tokenRootPEM)), keys: keys)
    self.clock = clock
  }
}

// Where it stands.
extension TraceRecorder {
  /// The steps of a payment: what is checked before, opened, claimed, and recorded at the end.
  func note(_ step: PaymentStep) {
    guard let trace = CallTrace.current else { return }
    switch step {
    case .begun(let order, let token):
      trace.span("orderChecked")
      let arrival = clock.now()
      trace.may(show: { open(token, of: order.merchant, at: arrival) })
    case .confirmed: trace.span("tokenOpened")
    case .finished:
      trace.span("recorded")
      trace.showsPayment()
    }
  }

  /// Around the acquirer: what was durable before it was asked, and how long it took to answer.
  func tracing(_ acquirer: Acquirer) -> Acquirer {
    var traced = acquirer
    traced.authorize = { request, deadline in
      CallTrace.current?.span("claimed")
      let answer = await acquirer.authorize(request, deadline)
      CallTrace.current?.span("authorized", outcome: answer.word)
      return answer
    }
    traced.capture = { request, deadline in
      CallTrace.current?.span("answerRecorded")
      let answer = await acquirer.capture(request, deadline)
      CallTrace.current?.span("captured", outcome: answer.word)
      return answer
    }
    return traced
  }

  /// Records how long Apple's gateway takes.
  func tracing(_ gateway: HTTPSender) -> HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      CallTrace.current?.span("callerChecked")
      let answer = try await gateway.send(request, timeout)
      CallTrace.current?.span("appleAnswered")
      return answer
    }
  }

  /// Opens the payment token a second time, when a page asks for its content.
  private func open(_ token: EncryptedPaymentToken, of merchant: MerchantID, at time: Timestamp) -> OpenedPayment? {
    (try? opener.open(token, for: merchant, at: time)).map(OpenedPayment.init)
  }
}

extension TraceRecorder: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let trace = CallTrace()
    do {
      let response = try await CallTrace.$current.withValue(trace) { try await next(request, context) }
      record(trace, request, context, response.status.code)
      return response
    } catch {
      record(trace, request, context, ProblemTable.answer(to: error).status.code)
      throw error
    }
  }

  private func record(_ trace: CallTrace, _ request: Request, _ context: ServerContext, _ status: Int) {
    // Reading a trace is no part of it.
    guard let route = context.endpointPath, !route.hasSuffix(Self.address) else { return }
    trace.span("answered")
    guard let (basket, report) = trace.report("\(request.method.rawValue) \(route)") else { return }
    store.add(report, status: status, to: basket, at: clock.now())
  }
}

extension OpenedPayment {
  fileprivate init(_ opened: OpenedPaymentToken) {
    let token = opened.verified.token
    version = token.version.rawValue
    transactionId = Hex.encode(token.transactionID)
    publicKeyHash = Base64.encode(token.publicKeyHash)
    applicationDataHash = token.applicationDataHash.map { Hex.encode($0) }
    signedAt = opened.verified.signingTime.description
    paymentData = opened.paymentData.masked
  }
}

extension AcquirerAnswer {
  fileprivate var word: String {
    switch self {
    case .approved: "approved"
    case .declined: "declined"
    case .pending: "pending"
    case .unknown: "unknown"
    case .notSent: "notSent"
    }
  }
}
