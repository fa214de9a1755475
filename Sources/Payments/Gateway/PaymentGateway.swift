package import Acquiring
package import ApplePayToken
package import Ledger
import Storage
package import Telemetry
package import TenderPayments

/// Authorizes payment tokens, captures, voids and refunds, and never loses or repeats one of these operations.
///
/// Each verb has a file of its own: `Authorize.swift` authorizes, `FollowUp.swift` captures, voids and refunds,
/// `Recover.swift` resolves what they had to leave open, `Receive.swift` receives the events that a provider sends.
///
/// A new payment chooses a route by the merchant's rules. Everything after its authorization goes to the stored route.
package struct PaymentGateway: Sendable {
  let opener: TokenOpener
  package let journal: Journal
  package let routes: RouteTable
  let clock: WallClock
  let random: RandomBytes
  let scheduler: Scheduler
  let policy: GatewayPolicy
  let crashes: CrashPoints
  let admission: AdmissionControl
  let inFlight = OperationsInFlight()
  let clocks: ClockComparison
  let telemetry: Telemetry

  /// - Parameters:
  ///   - routes: each acquirer behind a circuit breaker of its own, if it is on a wire.
  ///   - random: only for how long recovery waits.
  ///   - crashes: what happens at the named points; nothing, outside of tests.
  ///   - admission: which a server shares with its gateway; nil for one of the gateway's own.
  ///   - telemetry: begins what recovery does.
  package init(
    opener: TokenOpener, journal: Journal, routes: RouteTable, clock: WallClock = .system,
    random: RandomBytes = .system, scheduler: Scheduler = .system, policy: GatewayPolicy = GatewayPolicy(),
    crashes: CrashPoints = .none, admission: AdmissionControl? = nil,
    telemetry: Telemetry = .off
  ) {
    self.telemetry = telemetry
    self.opener = opener
    self.journal = journal
    self.routes = routes.convertingAmounts()
    self.clock = clock
    self.random = random
    self.scheduler = scheduler
    self.policy = policy
    self.crashes = crashes
    self.admission = admission ?? AdmissionControl(maximumInFlight: policy.maximumInFlight)
    self.clocks = ClockComparison(clock, scheduler)
  }

  var database: Database { journal.database }

  /// What is not finished at routes that are not configured.
  package func unfinishedElsewhere() async throws -> [UnfinishedRoute] {
    try await journal.findUnfinished(besides: routes.names)
  }

  /// By how much the time of day has gone ahead of the time since the start.
  package var clockLead: Duration { clocks.lead }
  /// Whether the two agree, so that holds and idempotency keys may expire.
  package var clocksAgree: Bool { clocks.agree }
  /// Whether what ends at a date may be ended now: the two agree, and a wrong clock had the time to be corrected since the
  /// start.
  package var allowsEnding: Bool { clocks.allowEnding }

  package func payment(_ id: PaymentID) async throws -> Payment? { try await journal.payment(id) }
  package func payment(for order: OrderID) async throws -> Payment? { try await journal.payment(of: order) }
  package func payment(for basket: BasketID) async throws -> Payment? { try await journal.payment(of: basket) }

  /// The acquirer of a stored route.
  func acquirer(of attempt: Attempt) throws(GatewayError) -> Acquirer {
    guard let acquirer = routes[attempt.route] else { throw .acquirerNotConfigured(attempt.route) }
    return acquirer
  }

  func require(_ payment: PaymentID) async throws -> Payment {
    guard let known = try await journal.payment(payment) else {
      throw GatewayError.operationRefused(.noSuchPayment(payment))
    }
    return known
  }
}

extension PaymentGateway {
  /// A gateway with one route.
  package init(
    opener: TokenOpener, journal: Journal, acquirer: Acquirer, clock: WallClock = .system,
    random: RandomBytes = .system, scheduler: Scheduler = .system, policy: GatewayPolicy = GatewayPolicy(),
    crashes: CrashPoints = .none, admission: AdmissionControl? = nil,
    telemetry: Telemetry = .off
  ) {
    self.init(
      opener: opener, journal: journal, routes: RouteTable(acquirer), clock: clock, random: random,
      scheduler: scheduler, policy: policy, crashes: crashes, admission: admission, telemetry: telemetry)
  }
}

/// The gateway's time limits, and what it reports while an outcome is open.
package struct GatewayPolicy: Sendable, Hashable {
  /// How long one call may take in all: less than the 30 seconds that the payment sheet waits.
  package var budget: Duration = .seconds(25)
  /// How long the acquirer may take for one answer; never longer than half of the journal's lease.
  package var timeout: Duration = .seconds(20)
  /// How long an inquiry or a reversal of recovery may take, for which no caller waits.
  package var inquiryTimeout: Duration = .seconds(5)
  /// How long the gateway tries to record an answer while the caller waits, when the store fails.
  package var recordTimeout: Duration = .seconds(5)
  /// With less left of the budget nothing is written and the acquirer is not asked: an answer could not come in time.
  package var authorizationNeeds: Duration = .seconds(2)
  /// With less left of the budget no capture is begun in the shopper's call; recovery captures then.
  package var captureNeeds: Duration = .seconds(2)
  /// What is reported to the shopper while the outcome is open. After *pending* a late approval is adopted; after
  /// *failure* it is reversed.
  package var reportUnknownAs: ReportedOutcome = .pending
  /// How many authorizations may be under way at once. The next one is refused before anything is written.
  package var maximumInFlight = 512
  /// After this time without an outcome an alarm is raised.
  package var alarmAfter: Duration = .seconds(86_400)
  /// How many operations recovery resolves at once.
  package var recoveryWidth = 8
  /// How many captures recovery has under way at once.
  package var captureWidth = 8
  /// How many holds recovery releases at once.
  package var expiryWidth = 4

  package init() {}

  var answerTimeout: Duration { min(timeout, Journal.lease / 2) }
}
