import Storage
import TenderPayments

extension Journal {
  /// Reads all chains and compares them with the payments: are the hashes linked, did every change follow the state
  /// table, does every version of a payment have its entry, has the payment the status and balances of the last one?
  ///
  /// It reads pages, each in a snapshot of its own, so that a long chain does not block writes. Entries that are
  /// written meanwhile are read as well: before payments are compared, the chain is read to its end in the same
  /// snapshot.
  package func verifyAudit() async throws -> AuditReport {
    var check = AuditCheck()
    try await check.readChain(of: database)
    try await check.comparePayments(of: database)
    try await check.findLost(in: database)
    return check.report
  }
}

/// Walks the chains page by page, and keeps where each has left a payment.
private struct AuditCheck {
  private static let page: Int64 = 1_000

  /// Where the walk through one chain is.
  private struct Position {
    var number: Int64 = 0
    var hash = ""
  }

  /// What one chain has of a payment so far. After a copy to another engine a payment has entries in two chains.
  private struct Part {
    let chain: String
    let statusBefore: PaymentStatus?
    let firstVersion: Int64
    private(set) var status: PaymentStatus
    private(set) var version: Int64
    private(set) var authorized, captured, refunded, chargedBack: Int64

    init(_ entry: AuditEntry) {
      (chain, statusBefore, firstVersion) = (entry.chain, entry.before, entry.version)
      (status, version) = (entry.after, entry.version)
      (authorized, captured) = (entry.authorized, entry.captured)
      (refunded, chargedBack) = (entry.refunded, entry.chargedBack)
    }

    mutating func add(_ entry: AuditEntry) {
      (status, version) = (entry.after, entry.version)
      (authorized, captured) = (entry.authorized, entry.captured)
      (refunded, chargedBack) = (entry.refunded, entry.chargedBack)
    }

    func agrees(with record: PaymentRecord) -> Bool {
      let balances = record.balances
      return version == record.version && status == balances.status && authorized == balances.authorized
        && captured == balances.captured && refunded == balances.refunded && chargedBack == balances.chargedBack
    }
  }

  private struct History {
    var parts: [Part]
    var isCompared = false
  }

  var report = AuditReport()
  private var positions: [String: Position] = [:]
  private var histories: [PaymentID: History] = [:]

  /// Every chain to its end, or near it: what is written meanwhile is left to the comparison.
  mutating func readChain(of database: Database) async throws {
    while true {
      let from = positions
      let read = try await database.read { try ChainPage(after: from.mapValues(\.number), Self.page, in: $0) }
      take(read)
      if read.reachesEnd { return }
    }
  }

  /// Payments in pages, each together with what the chain has got since, in one snapshot.
  mutating func comparePayments(of database: Database) async throws {
    var newest = ""
    while true {
      let (from, id) = (positions, newest)
      let (read, payments) = try await database.read { store in
        (
          try ChainPage(after: from.mapValues(\.number), Self.page, in: store),
          try store.rows(
            "SELECT * FROM payments WHERE id > $1 ORDER BY id LIMIT $2", .text(id), .integer(Self.page)
          ).map(PaymentRecord.init)
        )
      }
      take(read)
      guard read.reachesEnd else { continue }
      for payment in payments { compare(payment) }
      guard let end = payments.last else { return }
      newest = end.payment.id.rawValue
    }
  }

  /// Payments in the chain that were not compared: one that was added in between, or one that is gone.
  mutating func findLost(in database: Database) async throws {
    for id in histories.filter({ !$0.value.isCompared }).keys {
      while histories[id]?.isCompared == false {
        let from = positions
        let (read, payment) = try await database.read { store in
          (
            try ChainPage(after: from.mapValues(\.number), Self.page, in: store), try PaymentRecord.find(id, in: store)
          )
        }
        take(read)
        guard read.reachesEnd else { continue }
        if let payment { compare(payment) } else { lose(id) }
      }
    }
  }

  private mutating func lose(_ id: PaymentID) {
    addViolation("payment \(id) is in the chain and nowhere else")
    histories[id]?.isCompared = true
  }

  private mutating func take(_ read: ChainPage) {
    for (entry, hash) in read.entries {
      let position = positions[entry.chain] ?? Position()
      check(entry, follows: position.number, position.hash, claims: hash)
      positions[entry.chain] = Position(number: entry.number, hash: hash)
    }
    guard read.reachesEnd else { return }
    for (chain, head) in read.heads { compare(chain, with: head) }
    for chain in read.chains where read.heads[chain] == nil { addViolation("\(chain): the chain has lost its head") }
  }

  private mutating func compare(_ chain: String, with head: ChainPage.Head) {
    let position = positions[chain] ?? Position()
    report.heads[chain] = position.hash
    if position.number != head.number || position.hash != head.hash {
      addViolation("\(chain): the chain ends at \(position.number), its head says \(head.number)")
    }
  }

  private mutating func check(_ entry: AuditEntry, follows number: Int64, _ hash: String, claims claimed: String) {
    report.entries += 1
    let name = "\(entry.chain) \(entry.number)"
    if entry.number != number + 1 { addViolation("\(name): entry \(number + 1) is missing") }
    if entry.hash(after: hash) != claimed { addViolation("\(name): the hash does not fit") }
    if !entry.followsTable { addViolation("\(name): \(entry.event) cannot lead to \(entry.after.rawValue)") }
    note(entry, name)
  }

  private mutating func note(_ entry: AuditEntry, _ name: String) {
    var history = histories[entry.payment] ?? History(parts: [])
    if let index = history.parts.firstIndex(where: { $0.chain == entry.chain }) {
      let known = history.parts[index]
      check(name, entry.before, entry.version, follow: known.status, known.version)
      history.parts[index].add(entry)
    } else {
      history.parts.append(Part(entry))
    }
    histories[entry.payment] = history
  }

  /// An entry has the version before it when it changes nothing of the payment, otherwise the next one.
  private mutating func check(
    _ name: String, _ before: PaymentStatus?, _ version: Int64, follow status: PaymentStatus?, _ last: Int64
  ) {
    if before != status { addViolation("\(name): the payment was \(status?.rawValue ?? "not there") before") }
    if version != last, version != last + 1 { addViolation("\(name): version \(version) follows \(last)") }
  }

  /// Do the parts of several chains continue one another?
  private mutating func join(_ parts: [Part], of payment: PaymentID) -> Part? {
    let ordered = parts.sorted { ($0.firstVersion, $0.version) < ($1.firstVersion, $1.version) }
    var (status, version) = (PaymentStatus?.none, Int64(0))
    for part in ordered {
      check("payment \(payment) in \(part.chain)", part.statusBefore, part.firstVersion, follow: status, version)
      (status, version) = (part.status, part.version)
    }
    return ordered.last
  }

  private mutating func compare(_ record: PaymentRecord) {
    report.payments += 1
    let id = record.payment.id
    guard let history = histories[id], let last = join(history.parts, of: id) else {
      report.paymentsWithoutHistory += 1
      addViolation("payment \(id) has no history")
      return
    }
    histories[id]?.isCompared = true
    if !last.agrees(with: record) { addViolation("payment \(id) is not where its last entry left it") }
  }

  /// The first hundred are listed, each once; a broken chain has as many as it has entries.
  private mutating func addViolation(_ text: String) {
    if report.violations.count < 100, !report.violations.contains(text) { report.violations.append(text) }
  }
}

/// The next entries of every chain, read in one snapshot.
private struct ChainPage: Sendable {
  struct Head: Sendable {
    let number: Int64
    let hash: String
  }

  var entries: [(entry: AuditEntry, hash: String)] = []
  var heads: [String: Head] = [:]
  /// The chains that the entries name, with a head or without.
  var chains: [String] = []
  /// Whether these are the last entries of every chain.
  var reachesEnd = true

  init(after positions: [String: Int64], _ limit: Int64, in store: Transaction) throws {
    for row in try store.rows("SELECT chain, seq, hash FROM audit_heads ORDER BY chain") {
      heads[try row.text("chain")] = Head(number: try row.integer("seq"), hash: try row.text("hash"))
    }
    chains = try Self.chains(in: store)
    for chain in chains {
      let rows = try store.rows(
        "SELECT * FROM audit WHERE chain = $1 AND seq > $2 ORDER BY seq LIMIT $3", .text(chain),
        .integer(positions[chain] ?? 0), .integer(limit))
      entries += try rows.map { (try AuditEntry($0), try $0.text("hash")) }
      if rows.count == Int(limit) { reachesEnd = false }
    }
  }

  /// One step of the index for each, instead of all of its entries.
  private static func chains(in store: Transaction) throws -> [String] {
    var chains: [String] = []
    while let next = try store.row(
      "SELECT min(chain) AS chain FROM audit WHERE chain > $1", .text(chains.last ?? ""))?.textOrNil("chain")
    {
      chains.append(next)
    }
    return chains
  }
}
