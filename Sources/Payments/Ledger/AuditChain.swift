import Crypto
import Storage
import TenderPayments

// The audit chains: one entry for every change of a payment, each with the hash of the one before it in its chain,
// written in the commit of the change. Changing or removing an entry breaks every later one.
extension Journal {
  /// - Parameter head: of the payment's chain; nil if it is not locked yet. What is locked before the change is written
  ///   lets the database take the change and its entry at once.
  func note(
    _ event: String, of operation: AttemptReference, from before: PaymentRecord?, to after: PaymentRecord,
    on head: AuditHead? = nil, in store: Transaction
  ) throws {
    let head = try head ?? lockedHead(of: after.payment.id, in: store)
    let entry = AuditEntry(
      chain: head.chain, number: head.number + 1, payment: after.payment.id, operation: operation, event: event,
      before: before?.balances.status, after: after.balances.status, authorized: after.balances.authorized,
      captured: after.balances.captured, refunded: after.balances.refunded, chargedBack: after.balances.chargedBack,
      version: after.version, at: store.now)
    try head.add(entry, in: store)
  }

  /// The chain that has the payment's entries. A commit holds the head of its chain: where transactions commit beside
  /// one another, payments are spread over several chains, and only those of one chain wait for each other.
  func chain(of payment: PaymentID) -> String {
    guard database.isShared else { return "main" }
    return "payments-\(Self.chainNumber(of: payment))"
  }

  /// 0 to 63, the same in every process: FNV-1a.
  private static func chainNumber(of payment: PaymentID) -> UInt64 {
    let hash = payment.rawValue.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    return hash >> 58
  }

  func headQuery(of payment: PaymentID) -> Query<AuditHead> {
    Query(
      SQLStatement(
        "SELECT chain, seq, hash FROM audit_heads WHERE chain = $1", .text(chain(of: payment)), locking: .waiting),
      read: AuditHead.init)
  }

  func lockedHead(of payment: PaymentID, in store: Transaction) throws -> AuditHead {
    try lockedHead(of: payment, found: store.first(headQuery(of: payment)), in: store)
  }

  /// The head of the payment's chain. Several nodes may make the first head of a chain at once; one of them does.
  ///
  /// - Parameter head: the answer to ``headQuery(of:)``.
  func lockedHead(of payment: PaymentID, found head: AuditHead?, in store: Transaction) throws -> AuditHead {
    if let head { return head }
    try store.run(
      "INSERT INTO audit_heads (chain, seq, hash) VALUES ($1, 0, '') ON CONFLICT DO NOTHING",
      .text(chain(of: payment)))
    guard let head = try store.first(headQuery(of: payment)) else {
      throw StorageError.other("an audit chain has no head")
    }
    return head
  }

  /// Records what moves no money: an alarm, an outcome that was reported to the shopper.
  func remark(
    _ event: String, _ words: String? = nil, on payment: PaymentID, _ head: AuditHead? = nil, in store: Transaction
  ) throws {
    let record = try PaymentRecord.lock(payment, in: store)
    try note(AuditEntry.text(event, words), of: AttemptReference(""), from: record, to: record, on: head, in: store)
  }

  /// Writes down which alarms a change raised, and that it ended one.
  func remarkAlarms(of after: PaymentRecord, on head: AuditHead? = nil, in store: Transaction) throws {
    let id = after.payment.id
    if let ended = after.endedAlarm { try remark(AuditEntry.ended, ended, on: id, head, in: store) }
    for reason in after.raised { try remark(AuditEntry.alarmed, reason.rawValue, on: id, head, in: store) }
  }
}

/// The newest entry of a chain, locked until the transaction ends. Each entry moves it on.
final class AuditHead {
  let chain: String
  private(set) var number: Int64
  private var hash: String

  fileprivate init(_ row: Row) throws {
    (chain, number, hash) = (try row.text("chain"), try row.integer("seq"), try row.text("hash"))
  }

  fileprivate func add(_ entry: AuditEntry, in store: Transaction) throws {
    (number, hash) = (entry.number, entry.hash(after: hash))
    try entry.insert(hash: hash, in: store)
    try store.run(
      "UPDATE audit_heads SET seq = $2, hash = $3 WHERE chain = $1", .text(chain), .integer(number), .text(hash))
  }
}

/// The result of verifying the audit chain.
package struct AuditReport: Sendable, Hashable, Codable {
  package internal(set) var entries = 0
  package internal(set) var payments = 0
  /// Payments that the chain does not mention. Each is a violation.
  package internal(set) var paymentsWithoutHistory = 0
  /// The newest hash of each chain. Keep it outside the store: a chain that was cut at its end still links.
  package internal(set) var heads: [String: String] = [:]
  /// What does not hold, one sentence each. Empty for an intact chain.
  package internal(set) var violations: [String] = []
  package var isIntact: Bool { violations.isEmpty }
}

struct AuditEntry {
  /// Events beside the state table's. They move no money.
  static let alarmed = "alarm raised"
  static let acknowledged = "alarm acknowledged"
  static let ended = "alarm ended"
  static let reported = "outcome reported"
  static let rerouted = "route changed"
  static let refusedMovement = "movement not booked"

  let chain: String
  let number: Int64
  let payment: PaymentID
  let operation: AttemptReference
  let event: String
  /// Nil for the first entry of a payment.
  let before: PaymentStatus?
  let after: PaymentStatus
  let authorized: Int64
  let captured: Int64
  let refunded: Int64
  let chargedBack: Int64
  /// The payment's version after the change. It orders the entries of a payment whose store was copied to another
  /// engine, because those are in two chains.
  let version: Int64
  let at: Timestamp

  /// SHA-256 over the hash before and every field, a line each: no field holds a line break.
  func hash(after previous: String) -> String {
    let lines = [
      previous, chain, "\(number)", payment.rawValue, operation.rawValue, event, before?.rawValue ?? "", after.rawValue,
      "\(authorized)", "\(captured)", "\(refunded)", "\(chargedBack)", "\(version)", "\(at.microseconds)",
    ]
    return Hex.encode(SHA256.hash(data: Array(lines.joined(separator: "\n").utf8)))
  }

  fileprivate func insert(hash: String, in store: Transaction) throws {
    try store.run(
      """
      INSERT INTO audit (chain, seq, payment, operation, event, status_before, status_after, authorized, captured,
        refunded, recorded_at, hash, charged_back, version)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14)
      """,
      .text(chain), .integer(number), .text(payment.rawValue), .text(operation.rawValue), .text(event),
      .text(before?.rawValue ?? ""), .text(after.rawValue), .integer(authorized), .integer(captured),
      .integer(refunded), .time(at), .text(hash), .integer(chargedBack), .integer(version))
  }

  init(
    chain: String, number: Int64, payment: PaymentID, operation: AttemptReference, event: String,
    before: PaymentStatus?, after: PaymentStatus, authorized: Int64, captured: Int64, refunded: Int64,
    chargedBack: Int64, version: Int64, at: Timestamp
  ) {
    self.chain = chain
    self.number = number
    self.payment = payment
    self.operation = operation
    self.event = event
    self.before = before
    self.after = after
    self.authorized = authorized
    self.captured = captured
    self.refunded = refunded
    self.chargedBack = chargedBack
    self.version = version
    self.at = at
  }

  init(_ row: Row) throws {
    self.init(
      chain: try row.text("chain"), number: try row.integer("seq"), payment: try row.value("payment"),
      operation: try row.value("operation"), event: try row.text("event"),
      before: PaymentStatus(rawValue: try row.text("status_before")), after: try row.value("status_after"),
      authorized: try row.integer("authorized"), captured: try row.integer("captured"),
      refunded: try row.integer("refunded"), chargedBack: try row.integer("charged_back"),
      version: try row.integer("version"), at: try row.time("recorded_at"))
  }
}

extension AuditEntry {
  /// An event with an operator's note, in one line.
  static func text(_ event: String, _ words: String?) -> String {
    guard let words else { return event }
    return "\(event): \(words.split(whereSeparator: \.isNewline).joined(separator: " "))"
  }

  /// What happened to the payment; nil for what is not in the state table.
  var paymentEvent: PaymentEvent? { Self.events[String(event.prefix { $0 != ":" })] }

  private static let events = Dictionary(uniqueKeysWithValues: PaymentEvent.allCases.map { ("\($0)", $0) })

  /// Whether the state table allows this change.
  var followsTable: Bool {
    guard let before else { return event == "authorize begins" && after == .authorizing }
    let name = event.prefix { $0 != ":" }
    if [Self.alarmed, Self.acknowledged, Self.ended, Self.reported, Self.rerouted, Self.refusedMovement].contains(
      String(name))
    {
      return after == before
    }
    guard let known = paymentEvent, let destination = PaymentState.destination(from: before, known)
    else { return false }
    return switch destination {
    case .becomes(let status): after == status
    case .stays: after == before
    case .followsBalances: true
    }
  }
}
