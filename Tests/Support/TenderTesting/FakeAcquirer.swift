package import Acquiring
import HTTPTransport
import Synchronization
package import TenderPayments

/// An acquirer that gives a test's answers and records its requests, as if they had gone over the network.
package final class FakeAcquirer: Sendable {
  package typealias Responder = @Sendable (_ reference: AttemptReference, _ amount: Amount) async -> AcquirerAnswer

  private struct State {
    var authorize: Responder
    var capture: Responder
    var void: Responder
    var refund: Responder
    var inquiry: @Sendable (AttemptReference) -> Inquiry = { _ in .notFound }
    var reversal: Reversal = .nothingFound
    var authorizations: [AuthorizationRequest] = []
    var captures: [FollowUpRequest] = []
    var voids: [FollowUpRequest] = []
    var refunds: [FollowUpRequest] = []
    var inquiries: [InquiryRequest] = []
    var reversals: [InquiryRequest] = []
    var deadlines: [Duration] = []
  }

  private let state: Mutex<State>
  private let capabilities: AcquirerCapabilities

  /// It does not support repeated requests, and answers inquiries.
  package static let plain = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
    settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))

  /// The same, which also verifies cards.
  package static var verifying: AcquirerCapabilities {
    var capabilities = plain
    capabilities.verifiesCards = true
    return capabilities
  }

  /// Approves everything by default.
  package init(_ capabilities: AcquirerCapabilities = FakeAcquirer.plain) {
    let approve: Responder = { reference, _ in FakeAcquirer.approval(reference) }
    self.capabilities = capabilities
    state = Mutex(State(authorize: approve, capture: approve, void: approve, refund: approve))
  }

  package static func approval(_ reference: AttemptReference) -> AcquirerAnswer {
    .approved(Approval(acquirerReference: "A-\(reference)", authorizationCode: "A1B2C3"))
  }

  package func authorizes(_ responder: @escaping Responder) { state.withLock { $0.authorize = responder } }
  package func authorizes(_ answer: AcquirerAnswer) { authorizes { _, _ in answer } }
  package func captures(_ answer: AcquirerAnswer) { state.withLock { $0.capture = { _, _ in answer } } }
  package func captures(_ responder: @escaping Responder) { state.withLock { $0.capture = responder } }
  package func voids(_ answer: AcquirerAnswer) { state.withLock { $0.void = { _, _ in answer } } }
  package func voids(_ responder: @escaping Responder) { state.withLock { $0.void = responder } }
  package func refunds(_ answer: AcquirerAnswer) { state.withLock { $0.refund = { _, _ in answer } } }
  package func refunds(_ responder: @escaping Responder) { state.withLock { $0.refund = responder } }
  package func finds(_ inquiry: Inquiry) { state.withLock { $0.inquiry = { _ in inquiry } } }
  package func finds(_ inquiry: @escaping @Sendable (AttemptReference) -> Inquiry) {
    state.withLock { $0.inquiry = inquiry }
  }
  package func reverses(_ reversal: Reversal) { state.withLock { $0.reversal = reversal } }

  package var authorizations: [AuthorizationRequest] { state.withLock { $0.authorizations } }
  package var captures: [FollowUpRequest] { state.withLock { $0.captures } }
  package var voids: [FollowUpRequest] { state.withLock { $0.voids } }
  package var refunds: [FollowUpRequest] { state.withLock { $0.refunds } }
  package var inquiries: [InquiryRequest] { state.withLock { $0.inquiries } }
  package var reversals: [InquiryRequest] { state.withLock { $0.reversals } }
  /// The time limit of each call that moves money.
  package var deadlines: [Duration] { state.withLock { $0.deadlines } }

  package var acquirer: Acquirer {
    Acquirer(
      capabilities: capabilities,
      authorize: { request, deadline in
        let responder = self.note(deadline) { state in
          state.authorizations.append(request)
          return state.authorize
        }
        return await responder(request.reference, request.amount)
      },
      capture: { request, deadline in
        let responder = self.note(deadline) { state in
          state.captures.append(request)
          return state.capture
        }
        return await responder(request.reference, request.amount)
      },
      void: { request, deadline in
        let responder = self.note(deadline) { state in
          state.voids.append(request)
          return state.void
        }
        return await responder(request.reference, request.amount)
      },
      refund: { request, deadline in
        let responder = self.note(deadline) { state in
          state.refunds.append(request)
          return state.refund
        }
        return await responder(request.reference, request.amount)
      },
      inquire: { request, _ in self.inquire(request) },
      reverse: { request, _ in self.reverse(request) })
  }

  private func note(_ deadline: Deadline, _ take: (inout State) -> Responder) -> Responder {
    let remaining = deadline.remaining
    if remaining > .zero { NetworkUse.note() }
    return state.withLock { state in
      state.deadlines.append(remaining)
      return take(&state)
    }
  }

  private func inquire(_ request: InquiryRequest) -> Inquiry {
    NetworkUse.note()
    return state.withLock { state in
      state.inquiries.append(request)
      return state.inquiry(request.reference)
    }
  }

  private func reverse(_ request: InquiryRequest) -> Reversal {
    NetworkUse.note()
    return state.withLock { state in
      state.reversals.append(request)
      return state.reversal
    }
  }
}
