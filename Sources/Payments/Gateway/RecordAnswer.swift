import Acquiring
import Ledger
import Storage
import Telemetry
package import TenderPayments

// What happens to an answer that the store does not take because its disk is full or fails. The acquirer has been asked
// by then, so the caller must not learn that nothing happened.
extension PaymentGateway {
  /// Records an answer. While the store does not take it, tries again for ``GatewayPolicy/recordTimeout``; then the
  /// outcome is open, and the next round of recovery records the answer.
  ///
  /// - Returns: what the journal has. When the answer is not recorded, recovery finds an operation without an answer
  ///   and a payment without a reported outcome.
  /// - Throws: ``GatewayError/outcomeNotRecorded(_:)`` when the store cannot be read either.
  func record(
    _ received: ReceivedAnswer, reportedTo recipient: Recipient, before deadline: Deadline
  ) async throws -> RecordedAnswer {
    try await trace(.record) { try await recordTrying(received, reportedTo: recipient, before: deadline) }
  }

  private func recordTrying(
    _ received: ReceivedAnswer, reportedTo recipient: Recipient, before deadline: Deadline
  ) async throws -> RecordedAnswer {
    let end = deadline.within(policy.recordTimeout)
    var pause = Duration.milliseconds(50)
    while true {
      do {
        return try await write(received, reportedTo: recipient)
      } catch let error as StorageError {
        guard error.isTransient else { return try await readRecorded(received.attempt) }
        guard end.remaining > .zero, journal.database.failure == nil else {
          inFlight.keep(received)
          return try await readRecorded(received.attempt)
        }
        try? await scheduler.sleep(pause)
        pause = min(pause * 2, .seconds(1))
      }
    }
  }

  /// Records the answers that the store did not take before. An operation that has another answer by
  /// now, or whose lease another process holds, keeps what it has.
  func recordLateAnswers() async {
    for late in inFlight.unrecorded {
      do {
        _ = try await write(late, reportedTo: .noCaller)
      } catch let error as StorageError where error.isTransient { return } catch {}
      // Recovery inquires about what the journal refuses, as after a crash.
      inFlight.forget(late.attempt.reference)
    }
  }

  /// One commit: the outcome, and the end of the call under its idempotency key.
  private func write(_ received: ReceivedAnswer, reportedTo recipient: Recipient) async throws -> RecordedAnswer {
    try await database.write { store in
      let recorded = try journal.record(
        received.answer, for: received.attempt, reportedTo: recipient, pause: .seconds(1), in: store)
      // What is dropped ends the call too where an event has brought the answer before.
      let isOver = !recorded.isDropped || recorded.outcome.isFinal
      if let key = received.key, isOver, received.isLast(recorded.outcome, recipient) {
        try IdempotencyKeys.release(key, in: store)
      }
      return recorded
    }
  }

  /// What the journal has of the attempt's request now.
  func readRecorded(_ attempt: Attempt) async throws -> RecordedAnswer {
    try await reading(attempt.payment) {
      RecordedAnswer(outcome: try await journal.outcome(of: attempt.request), isDropped: true)
    }
  }

  /// Reads what became of a payment whose acquirer has been asked.
  ///
  /// - Throws: ``GatewayError/outcomeNotRecorded(_:)`` when the store cannot be read: money may have moved.
  package func reading<R>(_ payment: PaymentID, _ read: () async throws -> R) async throws -> R {
    do { return try await read() } catch is StorageError { throw GatewayError.outcomeNotRecorded(payment) }
  }
}

/// An answer of the acquirer that is not in the journal yet.
struct ReceivedAnswer: Sendable {
  let answer: AcquirerAnswer
  let attempt: Attempt
  /// The idempotency key of the call, if it has one.
  let key: IdempotentCall?
  /// Whether the same call captures what this authorizes.
  var isCapturedNext = false

  /// Whether the call asks for nothing more after this outcome.
  func isLast(_ outcome: OperationOutcome, _ recipient: Recipient) -> Bool {
    let goesOn = isCapturedNext && outcome.payment.status == .authorized && recipient != .noCaller
    return !goesOn && !outcome.isSending
  }
}
