package import Acquiring
import Synchronization
package import TenderPayments

/// An acquirer that answers what a test tells it, and remembers what it was asked.
package final class FakeAcquirer: Sendable {
  package typealias Judge = @Sendable (_ reference: AttemptReference, _ amount: Amount) async -> AcquirerAnswer

  private struct State {
    var authorize: Judge
    var capture: Judge
    var void: Judge
    var refund: Judge
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

  /// It cannot repeat, and can be inquired of.
  package static let plain = AcquirerCapabilities(
    name: "fake", instruments: [.network], idempotency: .none, inquiry: true, reversal: true,
    settleHorizon: .seconds(10), holdLifetime: .seconds(86_400 * 7))

  /// Approves everything, until told otherwise.
  package init(_ capabilities: AcquirerCapabilities = FakeAcquirer.plain) {
    let approve: Judge = { reference, _ in FakeAcquirer.approval(reference) }
    self.capabilities = capabilities
    state = Mutex(State(authorize: approve, capture: approve, void: approve, refund: approve))
  }

  package static func approval(_ reference: AttemptReference) -> AcquirerAnswer {
    .approved(Approval(acquirerReference: "A-\(reference)", authorizationCode: "A1B2C3"))
  }

  package func authorizes(_ judge: @escaping Judge) { state.withLock { $0.authorize = judge } }
  package func authorizes(_ answer: AcquirerAnswer) { authorizes { _, _ in answer } }
  package func captures(_ answer: AcquirerAnswer) { state.withLock { $0.capture = { _, _ in answer } } }
  package func captures(_ judge: @escaping Judge) { state.withLock { $0.capture = judge } }
  package func voids(_ answer: AcquirerAnswer) { state.withLock { $0.void = { _, _ in answer } } }
  package func voids(_ judge: @escaping Judge) { state.withLock { $0.void = judge } }
  package func refunds(_ answer: AcquirerAnswer) { state.withLock { $0.refund = { _, _ in answer } } }
  package func refunds(_ judge: @escaping Judge) { state.withLock { $0.refund = judge } }
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
  /// How much time each call that moves money was given.
  package var deadlines: [Duration] { state.withLock { $0.deadlines } }

  package var acquirer: Acquirer {
    Acquirer(
      capabilities: capabilities,
      authorize: { request, deadline in
        let judge = self.note(deadline) { state in
          state.authorizations.append(request)
          return state.authorize
        }
        return await judge(request.reference, request.amount)
      },
      capture: { request, deadline in
        let judge = self.note(deadline) { state in
          state.captures.append(request)
          return state.capture
        }
        return await judge(request.reference, request.amount)
      },
      void: { request, deadline in
        let judge = self.note(deadline) { state in
          state.voids.append(request)
          return state.void
        }
        return await judge(request.reference, request.amount)
      },
      refund: { request, deadline in
        let judge = self.note(deadline) { state in
          state.refunds.append(request)
          return state.refund
        }
        return await judge(request.reference, request.amount)
      },
      inquire: { request, _ in self.inquire(request) },
      reverse: { request, _ in self.reverse(request) })
  }

  private func note(_ deadline: Deadline, _ take: (inout State) -> Judge) -> Judge {
    let remaining = deadline.remaining
    return state.withLock { state in
      state.deadlines.append(remaining)
      return take(&state)
    }
  }

  private func inquire(_ request: InquiryRequest) -> Inquiry {
    state.withLock { state in
      state.inquiries.append(request)
      return state.inquiry(request.reference)
    }
  }

  private func reverse(_ request: InquiryRequest) -> Reversal {
    state.withLock { state in
      state.reversals.append(request)
      return state.reversal
    }
  }
}
