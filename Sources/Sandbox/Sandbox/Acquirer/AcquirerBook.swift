import Crypto
import Foundation
import Storage
import TenderPayments

/// The acquirer's ledger: holds, and the operations on them.
struct AcquirerBook: Sendable {
  let database: Database
  private let random: RandomBytes
  let profile: IdempotencyProfile
  /// Under it cryptograms and requests are hashed; made once for each store, so that a stolen list of card numbers
  /// helps nobody to guess them.
  private let key: SymmetricKey

  init(database: Database, random: RandomBytes, profile: IdempotencyProfile = .strict) async throws {
    self.database = database
    self.profile = profile
    self.random = random
    let fresh = random.next(32)
    let bytes = try await database.write { store in
      try store.run(
        "INSERT INTO keys (name, value) VALUES ('fingerprint', $1) ON CONFLICT DO NOTHING", .blob(fresh))
      return try store.row("SELECT value FROM keys WHERE name = 'fingerprint'")?.blob("value") ?? fresh
    }
    self.key = SymmetricKey(data: bytes)
  }

  /// Holds the amount, or says why not. Under a known reference: the first answer again.
  func hold(_ wanted: HoldRequest, of merchant: String, _ outcome: SandboxOutcome) async throws -> AcquirerReply {
    let request = fingerprint(wanted.canonical)
    let cryptogram = fingerprint(Array("\(wanted.dpan.revealed):\(wanted.cryptogram.revealed)".utf8))
    return try await database.write { store in
      if let known = try known(wanted.reference, merchant, request, store) { return known }
      let hold = Hold(wanted, of: merchant, named: newName(store), at: store.now)
      let code = try judge(wanted, merchant, cryptogram, outcome, store)
      let isApproved = code == "00" || code == "10"
      let reply = AcquirerReply(
        reference: wanted.reference, acquirerReference: hold.acquirerReference, amount: wanted.amount,
        responseCode: code, authorizationCode: isApproved ? authorizationCode() : nil,
        networkTransactionID: isApproved ? networkTransactionID() : nil,
        approvedAmount: code == "10" ? wanted.amount.half : nil)
      try hold.insert(code: code, approved: reply.approvedAmount, in: store)
      try Self.insert(reply, "authorize", on: hold.acquirerReference, of: merchant, request, in: store)
      return reply
    }
  }

  /// Captures, voids or refunds a hold. Under a known reference: the first answer again.
  ///
  /// - Parameter later: whether it is only accepted now, and decided later.
  func apply(
    _ kind: FollowUp, _ wish: FollowUpWish, to name: String, of merchant: String, later: Bool = false
  ) async throws -> AcquirerReply {
    let request = fingerprint(Array("\(kind.rawValue) \(name) ".utf8) + wish.canonical)
    return try await database.write { store in
      if let known = try known(wish.reference, merchant, request, store) { return known }
      guard var hold = try Hold.find(name, of: merchant, in: store) else { throw SandboxProblem.notFound }
      let isOver = hold.lapse(at: store.now)
      let code = later && !isOver ? "09" : hold.post(kind, wish.amount, isFinal: wish.isFinal)
      if code == "00" || isOver { try hold.save(in: store) }
      let reply = AcquirerReply(
        reference: wish.reference, acquirerReference: newName(store), amount: wish.amount, responseCode: code,
        authorizationCode: nil, networkTransactionID: nil)
      try Self.insert(
        reply, kind.rawValue, isFinal: wish.isFinal, on: hold.acquirerReference, of: merchant, request, in: store)
      return reply
    }
  }

  /// Undoes an authorization: `00` done, `25` there is none, `12` it has gone too far. One that comes after its
  /// reversal is refused.
  func reverse(_ reference: String, of merchant: String) async throws -> String {
    try await database.write { store in
      try store.run(
        "INSERT INTO reversals (merchant, reference) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(merchant),
        .text(reference))
      guard var hold = try Hold.find(reference: reference, of: merchant, in: store) else { return "25" }
      let code = hold.reverse()
      if code == "00" { try hold.save(in: store) }
      return code
    }
  }

  func answer(to reference: String, of merchant: String) async throws -> AcquirerReply? {
    try await database.read { try Self.reply(reference, merchant, $0)?.reply }
  }

  /// The answer to an inquiry. Whoever asks about what is pending finds that it has been decided meanwhile.
  func settledAnswer(to reference: String, of merchant: String) async throws -> AcquirerReply? {
    try await database.write { store in
      try settle(reference, of: merchant, in: store) ?? Self.reply(reference, merchant, store)?.reply
    }
  }

  func holds(of merchant: String, limit: Int64) async throws -> [Hold] {
    try await database.read { try Hold.all(of: merchant, limit: limit, in: $0) }
  }
}

extension AcquirerBook {
  /// A cryptogram is accepted once, whatever came of it.
  private func judge(
    _ wanted: HoldRequest, _ merchant: String, _ cryptogram: String, _ outcome: SandboxOutcome, _ store: Transaction
  ) throws -> String {
    let late = try store.row(
      "SELECT reference FROM reversals WHERE merchant = $1 AND reference = $2", .text(merchant),
      .text(wanted.reference))
    guard late == nil else { return "12" }
    let isFirst = try store.run(
      "INSERT INTO cryptograms (fingerprint, used_at) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(cryptogram),
      .time(store.now))
    guard isFirst == 1 else { return "05" }
    switch outcome {
    case .approve, .noAnswerAfterApproval, .noAnswer: return "00"
    case .approveForLess: return "10"
    case .pending: return "09"
    case .decline(let code): return code
    }
  }

  private func fingerprint(_ bytes: [UInt8]) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: bytes, using: key))
  }

  func newName(_ store: Transaction) -> String {
    let now = store.now
    return random.timeOrderedID(WallClock { now })
  }

  func authorizationCode() -> String { random.hex(3).uppercased() }
  private func networkTransactionID() -> String { random.next(15).map { String($0 % 10) }.joined() }

  /// What a repeat gets, after the profile that is played: the first answer, a refusal, or nothing, and then it is done
  /// once more.
  private func known(
    _ reference: String, _ merchant: String, _ request: String, _ store: Transaction
  ) throws -> AcquirerReply? {
    guard let known = try Self.reply(reference, merchant, store) else { return nil }
    let age = store.now.since(known.at)
    let isError = !["00", "09", "10"].contains(known.reply.responseCode)
    guard age < profile.window, profile.storesErrors || !isError else {
      try forget(reference, merchant, store)
      return nil
    }
    guard known.request == request || profile.otherContents == .firstAnswer else { throw SandboxProblem.duplicate }
    return known.reply
  }

  /// The reference is free again; what was done under it stays in the ledger under another name, so that a second
  /// effect is there to be seen.
  private func forget(_ reference: String, _ merchant: String, _ store: Transaction) throws {
    let past = "\(reference)~\(store.now.microseconds)"
    for table in ["operations", "holds"] {
      try store.run(
        "UPDATE \(table) SET reference = $3 WHERE merchant = $1 AND reference = $2", .text(merchant),
        .text(reference), .text(past))
    }
  }
}
