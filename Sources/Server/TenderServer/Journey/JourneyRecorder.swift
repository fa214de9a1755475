import Acquiring
import ApplePayToken
import Gateway
import HTTPTransport
import Hummingbird
import TenderPayments

/// Writes down the journeys of payments that are only simulated, so that a demo can tell them.
///
/// Nobody but a simulated Apple can have one made, and only the environment `simulated` has such an Apple. It believes
/// that Apple's root alone, so what it opens to show is never a payment token of a real card. It stands around the
/// rooms, at the functions that they are handed anyway; none of them knows of it.
struct JourneyRecorder: Sendable {
  let book: JourneyBook
  private let opener: TokenOpener
  private let clock: WallClock

  init(of apple: SimulatedApple, keys: ProcessingKeyRing, clock: WallClock) throws {
    book = JourneyBook()
    opener = TokenOpener(verifier: TokenVerifier(trust: try .simulated(rootPEM: apple.tokenRootPEM)), keys: keys)
    self.clock = clock
  }
}

// Where it stands.
extension JourneyRecorder {
  /// The steps of a payment: what is checked before, opened, claimed, and recorded at the end.
  func note(_ step: PaymentStep) {
    guard let witness = CallWitness.current else { return }
    switch step {
    case .begun(let order, let token):
      witness.lap("orderChecked")
      let arrival = clock.now()
      witness.may(show: { opened(token, of: order.merchant, at: arrival) })
    case .confirmed: witness.lap("tokenOpened")
    case .finished:
      witness.lap("recorded")
      witness.showsPayment()
    }
  }

  /// Around the acquirer: what was durable before it was asked, and how long it took to answer.
  func watching(_ acquirer: Acquirer) -> Acquirer {
    var watched = acquirer
    watched.authorize = { request, deadline in
      CallWitness.current?.lap("claimed")
      let answer = await acquirer.authorize(request, deadline)
      CallWitness.current?.lap("authorized", outcome: answer.word)
      return answer
    }
    watched.capture = { request, deadline in
      CallWitness.current?.lap("answerRecorded")
      let answer = await acquirer.capture(request, deadline)
      CallWitness.current?.lap("captured", outcome: answer.word)
      return answer
    }
    return watched
  }

  /// Around the connection to Apple's gateway.
  func watching(_ gateway: HTTPSender) -> HTTPSender {
    HTTPSender { request, timeout throws(TransportError) in
      CallWitness.current?.lap("callerChecked")
      let answer = try await gateway.send(request, timeout)
      CallWitness.current?.lap("appleAnswered")
      return answer
    }
  }

  /// Opened a second time, when somebody looks: the first time it is the gateway's alone.
  private func opened(_ token: EncryptedPaymentToken, of merchant: MerchantID, at time: Timestamp) -> OpenedPayment? {
    (try? opener.open(token, for: merchant, at: time)).map(OpenedPayment.init)
  }
}

extension JourneyRecorder: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    let witness = CallWitness()
    do {
      let response = try await CallWitness.$current.withValue(witness) { try await next(request, context) }
      record(witness, request, context, response.status.code)
      return response
    } catch {
      record(witness, request, context, ProblemTable.problem(for: error).status.code)
      throw error
    }
  }

  private func record(_ witness: CallWitness, _ request: Request, _ context: ServerContext, _ status: Int) {
    // Who looks on is no part of what is looked at.
    guard let route = context.endpointPath, !route.hasSuffix(JourneyController.name) else { return }
    witness.lap("answered")
    guard let (basket, report) = witness.report("\(request.method.rawValue) \(route)") else { return }
    book.add(report, status: status, to: basket, at: clock.now())
  }
}

extension OpenedPayment {
  fileprivate init(_ opened: OpenedPaymentToken) {
    let token = opened.verified.token
    version = token.version.rawValue
    transactionId = Hex.encode(token.transactionID)
    publicKeyHash = Hex.encode(token.publicKeyHash)
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
