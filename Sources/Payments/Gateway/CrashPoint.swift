/// The points at which a crash matters, each between two effects.
package enum CrashPoint: String, Sendable, Hashable, CaseIterable {
  /// The payment token is open; nothing is written.
  case authorizeOpened = "authorize.opened"
  /// The claim is durable; the acquirer has not been asked.
  case authorizeClaimed = "authorize.claimed"
  /// The acquirer has answered; the answer is not recorded.
  case authorizeAnswered = "authorize.answered"
  /// The answer is durable; the caller has not received it.
  case authorizeRecorded = "authorize.recorded"
  /// A capture, a void or a refund was reserved, was answered, and has its answer recorded.
  case captureReserved = "capture.reserved"
  case captureAnswered = "capture.answered"
  case captureRecorded = "capture.recorded"
  case voidReserved = "void.reserved"
  case voidAnswered = "void.answered"
  case voidRecorded = "void.recorded"
  case refundReserved = "refund.reserved"
  case refundAnswered = "refund.answered"
  case refundRecorded = "refund.recorded"
  /// Recovery holds the lease, and has not asked the acquirer.
  case recoveryLeased = "recovery.leased"
  /// Recovery has the inquiry's answer.
  case recoveryInquired = "recovery.inquired"
  /// The reversal is written, and the acquirer has not been asked for it.
  case recoveryReversing = "recovery.reversing"
  /// The acquirer has reversed; that is not recorded.
  case recoveryReversed = "recovery.reversed"
  /// Recovery has sent an operation again.
  case recoveryRepeated = "recovery.repeated"
  /// What recovery found is durable.
  case recoveryRecorded = "recovery.recorded"
  /// An event of the provider was found authentic.
  case eventAccepted = "event.accepted"
  /// It is recorded; it has not been acknowledged to the provider.
  case eventRecorded = "event.recorded"
}

/// What happens when a named point is reached: nothing, a kill, or a simulated end of the process.
package struct CrashPoints: Sendable {
  let reach: @Sendable (CrashPoint) async throws -> Void

  package init(_ reach: @escaping @Sendable (CrashPoint) async throws -> Void) { self.reach = reach }

  package static let none = CrashPoints { _ in }
}
