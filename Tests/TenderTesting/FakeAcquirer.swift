public import Acquiring
import Synchronization
public import TenderPayments

/// An acquirer that answers what a test tells it, and remembers what it was asked.
public final class FakeAcquirer: Sendable {
  public typealias Judge = @Sendable (_ reference: AttemptReference, _ amount: Amount) async -> AcquirerAnswer

  private struct State {
    var authorize: Judge
    var capture: Judge
    var inquiry: Inquiry = .notFound
    var authorizations: [AuthorizationRequest] = []
    var captures: [FollowUpRequest] = []
    var inquiries: [InquiryRequest] = []
  }

  private let state: Mutex<State>

  /// Approves everything, until told otherwise.
  public init() {
    let approve: Judge = { reference, _ in FakeAcquirer.approval(reference) }
    state = Mutex(State(authorize: approve, capture: approve))
  }

  public static func approval(_ reference: AttemptReference) -> AcquirerAnswer {
    .approved(Approval(acquirerReference: "A-\(reference)", authorizationCode: "A1B2C3"))
  }

  public func authorizes(_ judge: @escaping Judge) { state.withLock { $0.authorize = judge } }
  public func authorizes(_ answer: AcquirerAnswer) { authorizes { _, _ in answer } }
  public func captures(_ answer: AcquirerAnswer) { state.withLock { $0.capture = { _, _ in answer } } }
  public func finds(_ inquiry: Inquiry) { state.withLock { $0.inquiry = inquiry } }

  public var authorizations: [AuthorizationRequest] { state.withLock { $0.authorizations } }
  public var captures: [FollowUpRequest] { state.withLock { $0.captures } }
  public var inquiries: [InquiryRequest] { state.withLock { $0.inquiries } }

  public var acquirer: Acquirer {
    Acquirer(
      capabilities: AcquirerCapabilities(
        instruments: [.network], answersLater: true, idempotency: .none, inquiry: true, reversal: false,
        settleHorizon: .zero),
      authorize: { request, _ in await self.authorize(request) },
      capture: { request, _ in await self.capture(request) },
      void: { _, _ in .notSent("the fake acquirer voids nothing") },
      refund: { _, _ in .notSent("the fake acquirer refunds nothing") },
      inquire: { request, _ in self.inquire(request) },
      reverse: { _, _ in .nothingFound })
  }

  private func authorize(_ request: AuthorizationRequest) async -> AcquirerAnswer {
    let judge = state.withLock { state in
      state.authorizations.append(request)
      return state.authorize
    }
    return await judge(request.reference, request.amount)
  }

  private func capture(_ request: FollowUpRequest) async -> AcquirerAnswer {
    let judge = state.withLock { state in
      state.captures.append(request)
      return state.capture
    }
    return await judge(request.reference, request.amount)
  }

  private func inquire(_ request: InquiryRequest) -> Inquiry {
    state.withLock { state in
      state.inquiries.append(request)
      return state.inquiry
    }
  }
}
