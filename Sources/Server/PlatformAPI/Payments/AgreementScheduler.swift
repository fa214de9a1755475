import DirectWire
package import Gateway
import Ledger
import Storage
package import TenderPayments

/// Charges the periods of agreements whose merchants leave it to Tender.
///
/// What is due stands in the ledger. Many processes may look at once: the claim of a period, one commit, is had by one. A period
/// without an answer waits for recovery, as any payment does.
package struct AgreementScheduler: Sendable {
  private let gateway: PaymentGateway
  private let scheduler: Scheduler
  /// How many agreements are worked on at once.
  private static let width = 4
  /// How long a running server rests after a round.
  private static let pause = Duration.seconds(1)

  package init(_ gateway: PaymentGateway, scheduler: Scheduler) {
    (self.gateway, self.scheduler) = (gateway, scheduler)
  }

  /// Works on the agreements that are longest overdue; what is left over is for the next round.
  package func round(_ limit: Int = 32) async throws -> ScheduleReport {
    let due = try await gateway.journal.schedulesDue(limit)
    let outcomes = await gateway.concurrently(due, width: Self.width) { try await follow($0) }
    return ScheduleReport(zip(due, outcomes).map { ($0, $1) }, isFull: due.count == limit)
  }

  /// When something is due next; nil for never.
  package func next() async throws -> Timestamp? { try await gateway.journal.nextSchedule() }

  /// Runs rounds until the task is cancelled.
  ///
  /// - Parameter report: receives the result of each round.
  package func keepCharging(_ report: @escaping @Sendable (Result<ScheduleReport, any Error>) -> Void) async {
    while !Task.isCancelled {
      let done = await outcome { try await round() }
      report(done)
      let isFull = (try? done.get())?.isFull == true
      do { try await scheduler.sleep(isFull ? .zero : Self.pause) } catch { return }
    }
  }

  private func follow(_ id: AgreementID) async throws -> ScheduleReport.Outcome {
    switch try await look(at: id) {
    case .charge(let merchant, let schedule): return try await charge(id, of: merchant, by: schedule)
    case .suspend: return .suspended
    case .next, .wait, .nothing: return .moved
    }
  }

  private func look(at id: AgreementID) async throws -> ScheduleStep {
    let journal = gateway.journal
    return try await journal.database.write { try journal.followSchedule(of: id, in: $0) }
  }

  private func charge(
    _ id: AgreementID, of merchant: MerchantID, by schedule: AgreementSchedule
  ) async throws -> ScheduleReport.Outcome {
    var charge = AgreementCharge(id, of: merchant)
    (charge.period, charge.schedule) = (schedule.period, schedule)
    let call = IdempotentCall(
      merchant: merchant, call: "schedule \(id)",
      key: IdempotencyKey("\(schedule.period) \(schedule.at?.microseconds ?? 0)"), requestHash: "schedule")
    do {
      let answer = try await AgreementCharging.perform(charge, under: call, through: gateway)
      // What follows from the answer is written at once; if the process ends here, the next look finds it.
      let next = try await look(at: id)
      guard next != .suspend else { return .suspended }
      return ScheduleReport.Outcome(answer.outcome.payment)
    } catch GatewayError.agreementRefused {
      // Another process, the merchant or a person came first: the next look sees what they did.
      return .moved
    } catch let error as GatewayError {
      try await postpone(schedule, of: id, by: error.isBrief ? .seconds(60) : .seconds(3_600))
      throw error
    }
  }

  private func postpone(_ schedule: AgreementSchedule, of id: AgreementID, by pause: Duration) async throws {
    let journal = gateway.journal
    try await journal.database.write { try journal.postpone(schedule, of: id, by: pause, in: $0) }
  }
}

/// The result of a round of the scheduler.
package struct ScheduleReport: Sendable {
  /// What became of an agreement.
  package enum Outcome: String, Sendable, Hashable, CaseIterable {
    case charged, declined, open, failed, suspended
    /// Nothing was charged: the next period waits for its date, or a charge for its answer or its next try.
    case moved

    init(_ payment: Payment) {
      switch payment.status {
      case .declined: self = .declined
      case .failed, .voided: self = .failed
      case .authorizing, .pending, .unknown: self = .open
      case .authorized, .partiallyCaptured, .captured, .partiallyRefunded, .refunded, .verified: self = .charged
      }
    }
  }

  package private(set) var counts: [Outcome: Int] = [:]
  /// What could not be charged, with the reason.
  package private(set) var failures: [(agreement: AgreementID, error: any Error)] = []
  /// Whether there may be more to do at once.
  package let isFull: Bool

  /// Whether nothing was due.
  package var isEmpty: Bool { counts.isEmpty && failures.isEmpty }

  init(_ outcomes: [(AgreementID, Result<Outcome, any Error>)], isFull: Bool) {
    self.isFull = isFull
    for (id, outcome) in outcomes {
      switch outcome {
      case .success(let outcome): counts[outcome, default: 0] += 1
      case .failure(let error): failures.append((id, error))
      }
    }
  }
}

extension GatewayError {
  /// Whether it passes by itself in a moment.
  fileprivate var isBrief: Bool {
    switch self {
    case .overloaded, .outOfTime, .callInProgress, .paymentInProgress, .outcomeNotRecorded: true
    case .tokenReused, .currencyNotTaken, .amountTooFine, .partNotPossible, .noRoute, .agreementNotOffered,
      .agreementRefused, .agreementNotChargeable, .answerMayCome, .acquirerNotConfigured, .routeNotReconciled,
      .tokenBeforeRestore, .paidBeforeRestore, .callMayBeLost, .noListing, .operationRefused:
      false
    }
  }
}
