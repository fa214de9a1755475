import Acquiring
import Gateway
import HTTPTransport
import Ledger
import PaymentTesting
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// What goes wrong once between a connector and its provider, with every operation, by each connector's own
/// capabilities. Events arrive, recovery gets time, and the auditor compares both ledgers.
@Suite struct `A fault on the way to a provider` {
  @Test(arguments: ProviderVisit.kinds)
  func `leaves both ledgers in step, whatever it was and whatever was asked`(
    kind: ProviderVisit.Kind
  ) async throws {
    let wire = FaultyWire()
    let hasTwoSteps = kind.provider.hasTwoSteps && kind.isSealed
    let violations = try await kind.provider.visit(isSealed: kind.isSealed, through: wire.wrapping) { visit in
      for fault in ProviderFault.allCases {
        for step in ProviderStep.allCases where step != .secondStep || hasTwoSteps {
          try await visit.meets(fault, in: step, on: wire)
        }
      }
      // What nobody can find out has an alarm after a day.
      visit.shop.clock.advance(.seconds(90_000))
      try await visit.recovers()
    }
    #expect(violations == [])
  }
}

/// Which request breaks.
private enum ProviderStep: String, CaseIterable {
  case authorize, capture, void, refund
  /// The second of two requests that authorize a sealed payment token.
  case secondStep

  var isAuthorization: Bool { self == .authorize || self == .secondStep }
}

private enum ProviderFault: String, CaseIterable {
  case lostReply, resetReply, lostRequest, page, truncated, empty, errorAfterwards, errorBefore, tooManyRequests
  case refusedConnection

  /// Whether the provider did it.
  var isDone: Bool {
    switch self {
    case .lostRequest, .errorBefore, .tooManyRequests, .refusedConnection: false
    default: true
    }
  }
}

extension ProviderVisit {
  /// Recovery, and the provider's events before and after it.
  fileprivate func recovers() async throws {
    try await events()
    _ = try await gateway.recover()
    try await events()
  }

  /// One order, with the fault in the step.
  fileprivate func meets(_ fault: ProviderFault, in step: ProviderStep, on wire: FaultyWire) async throws {
    let name: Comment = "\(fault) in \(step)"
    let order = Shop.order("\(fault)-\(step)")
    if step.isAuthorization { wire.breaks(fault, after: step == .secondStep ? 1 : 0) }
    let payment = try await authorize(order, shop.token(for: order))
    if !step.isAuthorization {
      #expect(payment.status == .authorized, name)
      if step == .refund {
        _ = try await done(gateway.capture(payment.id))
        try await settle(payment.id)
      }
      wire.breaks(fault)
      try await ask(step, of: payment.id)
    }
    for pause in [15, 70, 70, 400, 400] {
      shop.clock.advance(.seconds(pause))
      try await recovers()
    }
    #expect(!wire.isArmed, name)
    let after = try #require(try await gateway.payment(payment.id))
    #expect(expected(after: step, fault).contains(after.status), "\(name): \(after.status)")
  }

  private func ask(_ step: ProviderStep, of payment: PaymentID) async throws {
    switch step {
    case .capture: _ = try await gateway.capture(payment)
    case .void: _ = try await gateway.void(payment)
    case .refund: _ = try await gateway.refund(payment)
    case .authorize, .secondStep: break
    }
  }

  /// What was done is found, or its answer comes again under the key. What was not done is done by a repeat under the
  /// key; without one it was never done. An authorization at Adyen is cancelled by our reference, which nobody can
  /// confirm for one that never arrived.
  private func expected(after step: ProviderStep, _ fault: ProviderFault) -> Set<PaymentStatus> {
    switch step {
    case .authorize where provider.hasTwoSteps && isSealed: return [.failed]
    case .authorize where provider == .adyen:
      return fault == .refusedConnection ? [.failed] : [.authorized, .voided, .failed, .unknown, .declined]
    // Both Worldlines' limit of requests declines for now: nothing was done, and another try may pay.
    case .authorize where fault == .tooManyRequests: return [.failed, .declined, .authorized]
    case .authorize, .secondStep: return outcomes(fault, provider.repeatsAuthorizations, .authorized, else: .failed)
    case .capture: return outcomes(fault, provider != .braintree, .captured, else: .authorized)
    case .void: return outcomes(fault, provider != .braintree, .voided, else: .authorized)
    case .refund: return outcomes(fault, provider != .braintree, .refunded, else: .captured)
    }
  }

  /// Some connectors take 429 as the proof that nothing was done.
  private func outcomes(
    _ fault: ProviderFault, _ isRepeated: Bool, _ done: PaymentStatus, else undone: PaymentStatus
  ) -> Set<PaymentStatus> {
    switch fault {
    case .refusedConnection: [undone]
    case .tooManyRequests: isRepeated ? [done, undone] : [undone]
    default: fault.isDone || isRepeated ? [done] : [undone]
    }
  }
}

/// Forwards requests, and breaks the one that was chosen.
private final class FaultyWire: Sendable {
  private let armed = Mutex<(fault: ProviderFault, after: Int)?>(nil)

  /// - Parameter count: how many requests go through before.
  func breaks(_ fault: ProviderFault, after count: Int = 0) { armed.withLock { $0 = (fault, count) } }

  var isArmed: Bool { armed.withLock { $0 != nil } }

  var wrapping: @Sendable (HTTPSender) -> HTTPSender {
    { inner in
      HTTPSender { request, timeout throws(TransportError) in
        guard let fault = self.next() else { return try await inner.send(request, timeout) }
        return try await Self.broken(fault, request, timeout, inner)
      }
    }
  }

  private func next() -> ProviderFault? {
    armed.withLock { armed in
      guard let (fault, after) = armed else { return nil }
      armed = after > 0 ? (fault, after - 1) : nil
      return after > 0 ? nil : fault
    }
  }

  private static func broken(
    _ fault: ProviderFault, _ request: OutboundRequest, _ timeout: Duration, _ inner: HTTPSender
  ) async throws(TransportError) -> InboundResponse {
    switch fault {
    case .lostRequest: throw .timedOut
    case .refusedConnection: throw .notSent("the certificate has expired")
    case .errorBefore: return InboundResponse(status: 500)
    case .tooManyRequests: return InboundResponse(status: 429, headers: [HTTPField("Retry-After", "5")])
    default: break
    }
    let reply = try await inner.send(request, timeout)
    switch fault {
    case .lostReply: throw .timedOut
    case .resetReply: throw .interrupted("connection reset by peer")
    case .page: return InboundResponse(status: 200, body: Array("<html>busy</html>".utf8))
    case .truncated: return InboundResponse(status: reply.status, body: reply.body.dropLast(9))
    case .empty: return InboundResponse(status: reply.status)
    case .errorAfterwards: return InboundResponse(status: 500, body: reply.body)
    default: return reply
    }
  }
}
