import Foundation
import Gateway
import Ledger
import Storage
import TenderPayments

/// What simulations have been through.
package struct Coverage: Sendable, Hashable {
  /// How often the engine died at a place.
  package var deaths: [String: Int] = [:]
  /// How often a call to the acquirer met a fate.
  package var fates: [String: Int] = [:]
  /// How often a status met an event.
  package var events: [String: Int] = [:]
  /// How often a call with an idempotency key got which answer.
  package var keys: [String: Int] = [:]

  /// How often a hazard was met.
  package var hazards: [String: Int] = [:]
  /// How often writes shared a commit.
  package var commits: [String: Int] = [:]
  /// How often banks of a kind, and what happened with several routes.
  package var profiles: [String: Int] = [:]

  /// How often several processes on one store met.
  package var meetings: [String: Int] = [:]

  package init() {}

  package mutating func add(_ other: Coverage) {
    deaths.merge(other.deaths, uniquingKeysWith: +)
    fates.merge(other.fates, uniquingKeysWith: +)
    events.merge(other.events, uniquingKeysWith: +)
    keys.merge(other.keys, uniquingKeysWith: +)
    hazards.merge(other.hazards, uniquingKeysWith: +)
    commits.merge(other.commits, uniquingKeysWith: +)
    profiles.merge(other.profiles, uniquingKeysWith: +)
    meetings.merge(other.meetings, uniquingKeysWith: +)
  }

  /// How writes share a commit.
  enum Sharing: String, CaseIterable {
    case several = "of several writes"
    case besideFailed = "of a write beside one that failed"
  }

  /// - Parameter count: of the writes that wrote something.
  mutating func note(_ commit: SharedCommit, _ count: Int) {
    if count > 1 { commits[Sharing.several.rawValue, default: 0] += 1 }
    if count > 0, commit.failed > 0 { commits[Sharing.besideFailed.rawValue, default: 0] += 1 }
  }

  /// - Parameter place: where the engine died; several if it was at the commit of several writes.
  mutating func note(death place: String) {
    let place = ["before a write", "before a commit"].contains(place) ? "waiting" : place
    for place in place.components(separatedBy: ", ") { deaths[place, default: 0] += 1 }
  }

  private static let allProfiles: [String] =
    BankProfile.Conduct.allCases.map(\.rawValue)
    + BankProfile.Conduct.allCases.filter(\.takesSealed).map { "\($0.rawValue), sealed" }
    + Peculiarity.allCases.map(\.rawValue)
    + SimulatedWorld.Routing.allCases.flatMap { [$0.rawValue, "\($0.rawValue), with breakers"] }
    + [
      "two routes", "rerouted", "decided by a person", refundOfSeveral, decision, wrongDecision, expiryAsMovement,
      raisedHold, agreement, laterPayment, scheduledPayment, unlinkedToken,
    ]

  /// A refund that gave back several captures, each by an operation of its own.
  static let refundOfSeveral = "a refund of several captures"
  static let expiryAsMovement = "an expired hold that the provider reports"
  static let agreement = "an agreement"
  static let laterPayment = "a later payment of an agreement"
  static let scheduledPayment = "a payment by an agreement's schedule"
  static let unlinkedToken = "a merchant token that Apple unlinked"
  static let raisedHold = "a hold that was raised"
  static let decision = "an operation decided by a person"
  static let wrongDecision = "an operation decided by a person, wrongly"

  /// Every row of the state table, as the audit chain names it.
  static let allEvents: [String] = PaymentState.table.flatMap { status, row in
    row.keys.map { "\(status.rawValue), \($0)" }
  }.sorted()

  static let allDeaths: [String] =
    CrashPoint.allCases.map(\.rawValue)
    + Supply.commits.flatMap { ["before \($0)", "after \($0)"] } + ["before a read", "waiting"]

  /// The commits of the engine, by the tables that they write.
  enum Supply {
    static let commits = [
      "audit audit_heads idempotency operations order_contacts orders outbox payment_webhooks payments platform_orders "
        + "token_uses",
      "audit audit_heads operations order_contacts orders outbox payments token_uses",
      "agreement_charges agreements audit audit_heads operations order_contacts orders outbox payments token_uses",
      "audit audit_heads idempotency operations outbox payments", "audit audit_heads idempotency operations payments",
      "audit audit_heads inbox operations outbox payments", "audit audit_heads inbox operations payments",
      "audit audit_heads operations", "audit audit_heads operations outbox payments",
      "audit audit_heads operations payments", "audit audit_heads payments", "inbox", "inbox operations", "operations",
      "outbox outbox_head webhook_deliveries", "payments", "webhook_deliveries",
    ]
  }

  /// What no simulation has been through and 5,000 should.
  package var missing: [String] {
    Self.allEvents.filter { events[$0] == nil && Self.impossible[$0] == nil && Self.rare[$0] == nil }
      .map { "event: \($0)" }
      + Self.allDeaths.filter { deaths[$0] == nil && Self.impossible[$0] == nil }.map { "death: \($0)" }
      + EngineLife.Keyed.kinds.filter { keys[$0] == nil }.map { "key: \($0)" }
      + Hazard.allCases.filter { hazards[$0.rawValue] == nil }.map { "hazard: \($0.rawValue)" }
      + Self.allProfiles.filter { profiles[$0] == nil }.map { "profile: \($0)" }
      + Sharing.allCases.filter { commits[$0.rawValue] == nil }.map { "commit: \($0.rawValue)" }
  }

  /// What processes that share a store have not been through and 1,000 simulations of them should.
  ///
  /// A deadlock need not be met: none was in the first 1,900.
  package var missingMeetings: [String] {
    Meeting.allCases.filter { $0 != .deadlock }.map(\.rawValue).filter { meetings[$0] == nil }
  }

  /// What was reached and is said to be impossible: then the reason is wrong.
  package var surprises: [String] {
    Self.impossible.keys.filter { events[$0] != nil || deaths[$0] != nil }.sorted()
  }

  package var table: [String] {
    let kinds = [
      ("deaths", deaths), ("fates", fates), ("events", events), ("keys", keys), ("hazards", hazards),
      ("commits", commits), ("profiles", profiles), ("meetings", meetings),
    ]
    return kinds.flatMap { kind, counts in
      counts.sorted { $0.key < $1.key }.map { "\(kind)\t\($0.key)\t\($0.value)" }
    }
  }

  /// Out of the lines of a ``table``.
  package init(table: [String]) {
    for line in table {
      let cells = line.split(separator: "\t")
      guard cells.count == 3, let count = Int(cells[2]) else { continue }
      switch cells[0] {
      case "deaths": deaths[String(cells[1])] = count
      case "fates": fates[String(cells[1])] = count
      case "hazards": hazards[String(cells[1])] = count
      case "commits": commits[String(cells[1])] = count
      case "profiles": profiles[String(cells[1])] = count
      case "meetings": meetings[String(cells[1])] = count
      case "keys": keys[String(cells[1])] = count
      default: events[String(cells[1])] = count
      }
    }
  }
}
