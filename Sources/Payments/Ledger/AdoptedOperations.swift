import Storage
import TenderPayments

/// The lines of one report or listing, of which each is looked at beside the others: what the journal has of one operation
/// answers one line.
struct ListedBatch: Sendable {
  private struct Name: Hashable, Sendable {
    let kind: OperationKind
    let reference: String

    init(_ listed: ListedOperation) { (kind, reference) = (listed.bookedKind, listed.reference.rawValue) }

    init(_ kind: OperationKind, _ reference: String) { (self.kind, self.reference) = (kind, reference) }
  }

  private let lines: Set<Name>
  /// A person's lines that were looked at.
  private var seen: Set<Name> = []
  private var answered: Set<String> = []

  init(_ listed: [ListedOperation]) { lines = Set(listed.filter { $0.result == .approved }.map(Name.init)) }

  mutating func note(_ listed: ListedOperation, answeredBy names: [String]) {
    answered.formUnion(names)
    if listed.result == .approved, !listed.endsHold { seen.insert(Name(listed)) }
  }

  /// Whether an earlier line has the same reference, so that nothing tells whether it is the same operation.
  func isRepeated(_ listed: ListedOperation) -> Bool { seen.contains(Name(listed)) }

  /// Whether what is known under these names may be what the line says: it answered no other one, and is none.
  ///
  /// - Parameter name: what marks it as answered.
  func leaves(_ name: String, called names: [String?], to listed: ListedOperation) -> Bool {
    !answered.contains(name)
      && !names.contains { other in
        guard let other, other != listed.reference.rawValue else { return false }
        return lines.contains(Name(listed.bookedKind, other))
      }
  }
}

/// What the journal has done of a payment, as what is listed is compared with it.
private struct BookedOperation {
  let reference: String
  let amount: Int64
  /// The reference of the line that gave it; nil for what no listing or report gave.
  let line: String?
  /// The provider's.
  let name: String?
  /// What no operation of ours asked for.
  let isPersons: Bool
  let sentAt: Timestamp

  /// All of a kind that were done, but for what orders gave back, which ``OrdersPot`` has.
  static func all(
    _ kind: OperationKind, of payment: PaymentID, in store: Transaction
  ) throws -> [BookedOperation] {
    try store.rows(
      """
      SELECT * FROM operations WHERE payment = $1 AND kind = $2 AND state IN ('approved', 'reversed', 'returned')
        AND (restored IS NULL OR detail IS NOT NULL) ORDER BY number
      """, .text(payment.rawValue), .text(kind.rawValue)
    ).map(BookedOperation.init)
  }

  private init(_ row: Row) throws {
    let isRestored = try row.integerOrNil("restored") != nil
    reference = try row.text("reference")
    amount = try row.integer("amount")
    line = isRestored ? try row.textOrNil("detail") : nil
    name = try row.textOrNil("acquirer_reference")
    isPersons = try row.text("cause") == OperationCause.provider.stored && line != reference
    sentAt = try row.time("sent_at")
  }

  /// Whether it may be what is listed, by the other lines.
  func isLeft(by batch: ListedBatch, to listed: ListedOperation) -> Bool {
    batch.leaves(reference, called: [reference, line, isPersons ? name : nil], to: listed)
  }
}

/// What a listed operation that has no row of its own is, by what the journal has of its payment.
enum ListedMatch {
  /// It is what these have.
  case known([String])
  /// It has the name of another amount, or cannot be told apart from what the journal has: a person has to look.
  case contradicted
  case unknown
}

/// How what is listed after a restore is found in the journal.
extension Operations {
  /// The open operation here that is listed. A reversal is listed under its authorization's reference.
  static func findOpen(
    _ listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> Attempt? {
    let reference =
      listed.kind == .reverse
      ? try store.row(
        "SELECT reference FROM operations WHERE target = $1 AND kind = 'reverse' AND \(isOpen) LIMIT 1",
        .text(listed.reference.rawValue))?.value("reference") : listed.reference
    guard let reference, let (attempt, state) = try find(reference, in: store), state.isOpen,
      attempt.kind == listed.kind, attempt.route == route
    else { return nil }
    return attempt
  }

  /// The payment of what is listed: by our name of its authorization, or else by a name that the journal has of it.
  static func payment(
    of listed: ListedOperation, through route: String, in store: Transaction
  ) throws -> (id: PaymentID, isNamed: Bool)? {
    let first = listed.kind == .reverse ? listed.reference : listed.authorization
    if let first, let attempt = try find(first, in: store)?.attempt, attempt.route == route {
      return (attempt.payment, true)
    }
    for name in [listed.name, listed.reference.rawValue].compactMap(\.self) {
      let row = try store.row(
        """
        SELECT payment FROM operations
        WHERE kind = $2 AND route = $3 AND (acquirer_reference = $1 OR restored IS NOT NULL AND detail = $1) LIMIT 1
        """, .text(name), .text(listed.bookedKind.rawValue), .text(route))
      if let row { return (try row.value("payment"), false) }
    }
    return nil
  }

  /// Compares what is listed with what was done of its payment. Nothing here has its reference as its own.
  static func match(
    _ listed: ListedOperation, of payment: PaymentID, beside batch: ListedBatch, after restoredAt: Timestamp,
    in store: Transaction
  ) throws -> ListedMatch {
    let all = try BookedOperation.all(listed.bookedKind, of: payment, in: store)
    let left = all.filter { $0.isLeft(by: batch, to: listed) }
    return try listed.isOurs(at: store.now)
      ? matchOurs(listed, of: payment, left, after: restoredAt, in: store)
      : matchPersons(listed, of: payment, all, left, beside: batch, in: store)
  }

  /// The provider's event of ours may have come without our reference.
  private static func matchOurs(
    _ listed: ListedOperation, of payment: PaymentID, _ left: [BookedOperation], after restoredAt: Timestamp,
    in store: Transaction
  ) throws -> ListedMatch {
    let alike = left.filter { $0.isPersons && $0.amount == listed.amount.minorUnits }
    if let name = listed.name, let same = alike.first(where: { $0.name == name }) {
      let isTold = try same.line == nil && !isShared(name, of: payment, in: store)
      return isTold ? .known([same.reference]) : .contradicted
    }
    let nameless = alike.contains {
      ($0.name == nil || listed.name == nil) && ($0.line != nil || $0.sentAt >= restoredAt)
    }
    return nameless ? .contradicted : .unknown
  }

  private static func matchPersons(
    _ listed: ListedOperation, of payment: PaymentID, _ all: [BookedOperation], _ left: [BookedOperation],
    beside batch: ListedBatch, in store: Transaction
  ) throws -> ListedMatch {
    let (amount, line) = (listed.amount.minorUnits, listed.reference.rawValue)
    let names = Set([line, listed.name].compactMap(\.self))
    func isNamed(_ known: BookedOperation) -> Bool {
      known.name.map(names.contains) ?? false || known.line.map(names.contains) ?? false
    }
    if listed.endsHold {
      if let same = all.first(where: { $0.isPersons && isNamed($0) }) { return .known([same.reference]) }
    } else {
      if batch.isRepeated(listed) { return .contradicted }
      if let same = left.first(where: { $0.isPersons && $0.line == line }) {
        let isSame = same.name == nil || listed.name == nil || same.name == listed.name
        return isSame && same.amount == amount ? .known([same.reference]) : .contradicted
      }
      let named = left.filter(isNamed)
      let persons = named.filter(\.isPersons)
      if let same = persons.first(where: { $0.amount == amount }) { return .known([same.reference]) }
      // Operations may share a name, as captures of one intent do, of which a listing says what persons took together.
      if !persons.isEmpty {
        return persons.reduce(0) { $0.addingClamped($1.amount) } == amount
          ? .known(persons.map(\.reference)) : .contradicted
      }
      if let own = named.first(where: { $0.amount == amount }), let name = own.name {
        return try isShared(name, of: payment, in: store) ? .contradicted : .known([own.reference])
      }
    }
    return .unknown
  }

  /// Whether something is left of which nothing tells that it is another operation: of the same amount, and without the
  /// provider's name on one of the two sides.
  static func hasAlike(
    _ listed: ListedOperation, of payment: PaymentID, beside batch: ListedBatch, in store: Transaction
  ) throws -> Bool {
    guard !listed.isOurs(at: store.now) else { return false }
    return try BookedOperation.all(listed.bookedKind, of: payment, in: store).contains {
      $0.amount == listed.amount.minorUnits && ($0.name == nil || listed.name == nil)
        && $0.isLeft(by: batch, to: listed)
    }
  }

  /// Whether it is the provider's name of the payment, so that it names none of its operations.
  static func isShared(_ name: String, of payment: PaymentID, in store: Transaction) throws -> Bool {
    try store.row(
      "SELECT reference FROM operations WHERE payment = $1 AND kind = 'authorize' AND acquirer_reference = $2 LIMIT 1",
      .text(payment.rawValue), .text(name)) != nil
  }

  /// Keeps the provider's name of what a report gave without it before.
  static func learnName(of listed: ListedOperation, for references: [String], in store: Transaction) throws {
    guard let name = listed.name else { return }
    for reference in references {
      try store.run(
        """
        UPDATE operations SET acquirer_reference = $2
        WHERE reference = $1 AND restored IS NOT NULL AND acquirer_reference IS NULL
        """, .text(reference), .text(name))
    }
  }

  /// The amount of an operation of a person's that a listing gave back under the provider's name.
  ///
  /// - Parameter amount: which of several under one name is meant, as captures of one intent are.
  static func findAdoptedAmount(
    of kind: OperationKind, called name: String, near amount: Int64, of payment: PaymentID, in store: Transaction
  ) throws -> Int64? {
    let amounts = try store.rows(
      """
      SELECT amount FROM operations
      WHERE payment = $1 AND kind = $2 AND restored IS NOT NULL AND detail <> reference
        AND (acquirer_reference = $3 OR detail = $3)
      """, .text(payment.rawValue), .text(kind.rawValue), .text(name)
    ).map { try $0.integer("amount") }
    return amounts.contains(amount) ? amount : amounts.first
  }

  /// Whether a report gave an operation of this amount back and did not say the provider's name of it.
  static func hasAdoptedWithoutName(
    _ kind: OperationKind, _ amount: Int64, of payment: PaymentID, in store: Transaction
  ) throws -> Bool {
    try store.row(
      """
      SELECT reference FROM operations
      WHERE payment = $1 AND kind = $2 AND amount = $3 AND restored IS NOT NULL AND detail IS NOT NULL
        AND acquirer_reference IS NULL LIMIT 1
      """, .text(payment.rawValue), .text(kind.rawValue), .integer(amount)) != nil
  }
}
