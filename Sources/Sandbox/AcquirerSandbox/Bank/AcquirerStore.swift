import Crypto
import Foundation
import Storage
import TenderPayments
import TokenIssuer

/// The acquirer's database: holds, and the operations on them.
struct AcquirerStore: ProviderStore {
  let database: Database
  let random: RandomBytes
  let secret: SymmetricKey
  let profile: IdempotencyProfile

  init(
    path: String, clock: WallClock, random: RandomBytes, profile: IdempotencyProfile = .strict
  ) async throws {
    (database, secret) = try await Self.open(path: path, clock: clock, random: random)
    (self.random, self.profile) = (random, profile)
  }

  /// Holds the amount, or declines. A known reference gets the first answer again.
  func hold(_ wanted: HoldRequest, of merchant: String, _ outcome: SandboxOutcome) async throws -> AcquirerReply {
    let request = fingerprint(wanted.canonical)
    return try await database.write { transaction in
      if let known = try replay(wanted.reference, merchant, request, transaction) { return known }
      let (credential, refusal) = try findStored(wanted, merchant, transaction)
      let hold = Hold(
        wanted, of: merchant, cardSuffix: wanted.cardSuffix ?? credential?.cardSuffix ?? "0000",
        named: newName(transaction), at: transaction.now)
      let code = try refusal ?? responseCode(wanted, merchant, outcome, transaction)
      let isApproved = code == "00" || code == "10"
      var reply = AcquirerReply(
        reference: wanted.reference, acquirerReference: hold.acquirerReference, amount: wanted.amount,
        responseCode: code, authorizationCode: isApproved ? authorizationCode() : nil,
        networkTransactionID: isApproved ? networkTransactionID() : nil,
        approvedAmount: code == "10" ? wanted.amount.half : nil)
      try hold.insert(code: code, approved: reply.approvedAmount, in: transaction)
      if case .card(let dpan, _, let series?) = wanted.means, let identifier = reply.networkTransactionID {
        let name = "SC-" + random.hex(10)
        try StoredCredential.keep(dpan, as: name, for: series, of: hold, identifier, in: transaction)
        reply.storedCredential = name
      }
      try Self.insert(reply, "authorize", on: hold.acquirerReference, of: merchant, request, in: transaction)
      return reply
    }
  }

  /// Captures, voids or refunds a hold. A known reference gets the first answer again.
  ///
  /// - Parameter later: whether it is only accepted now, and decided later.
  func apply(
    _ kind: FollowUp, _ request: FollowUpRequest, to name: String, of merchant: String, later: Bool = false
  ) async throws -> AcquirerReply {
    let digest = fingerprint(Array("\(kind.rawValue) \(name) ".utf8) + request.canonical)
    return try await database.write { transaction in
      if let known = try replay(request.reference, merchant, digest, transaction) { return known }
      guard var hold = try Hold.find(name, of: merchant, in: transaction) else { throw AcquirerProblem.notFound }
      let isOver = hold.lapse(at: transaction.now)
      let code = later && !isOver ? "09" : hold.post(kind, request.amount, isFinal: request.isFinal)
      if code == "00" || isOver { try hold.save(in: transaction) }
      let reply = AcquirerReply(
        reference: request.reference, acquirerReference: newName(transaction), amount: request.amount,
        responseCode: code, authorizationCode: nil, networkTransactionID: nil)
      try Self.insert(
        reply, kind.rawValue, isFinal: request.isFinal, on: hold.acquirerReference, of: merchant, digest,
        in: transaction)
      return reply
    }
  }

  /// Reverses an authorization: `00` done, `25` unknown, `12` already captured. An authorization that arrives after its
  /// reversal is declined.
  func reverse(_ reference: String, of merchant: String) async throws -> String {
    try await database.write { transaction in
      try transaction.run(
        "INSERT INTO reversals (merchant, reference) VALUES ($1, $2) ON CONFLICT DO NOTHING", .text(merchant),
        .text(reference))
      guard var hold = try Hold.find(reference: reference, of: merchant, in: transaction) else { return "25" }
      let code = hold.reverse()
      if code == "00" { try hold.save(in: transaction) }
      return code
    }
  }

  func answer(to reference: String, of merchant: String) async throws -> AcquirerReply? {
    try await database.read { try Self.reply(reference, merchant, $0)?.reply }
  }

  /// The answer to an inquiry, which resolves an operation that is pending.
  func resolvedAnswer(to reference: String, of merchant: String) async throws -> AcquirerReply? {
    try await database.write { transaction in
      try resolve(reference, of: merchant, in: transaction) ?? Self.reply(reference, merchant, transaction)?.reply
    }
  }

  func holds(of merchant: String, limit: Int64) async throws -> [Hold] {
    try await database.read { try Hold.all(of: merchant, limit: limit, in: $0) }
  }
}

extension AcquirerStore {
  /// The credential that a request charges, and why it is refused whatever the card says.
  private func findStored(
    _ wanted: HoldRequest, _ merchant: String, _ transaction: Transaction
  ) throws -> (StoredCredential?, refusal: String?) {
    guard case .stored(let charge) = wanted.means else { return (nil, nil) }
    guard let credential = try StoredCredential.find(charge, of: merchant, in: transaction) else { return (nil, "14") }
    return (credential, credential.refusal(of: charge))
  }

  /// The card of the credential that a request charges; nil for a request with a card, and for an unknown one.
  func storedCard(_ wanted: HoldRequest, of merchant: String) async throws -> SandboxCard? {
    guard case .stored(let charge) = wanted.means else { return nil }
    return try await database.read { try StoredCredential.find(charge, of: merchant, in: $0)?.card }
  }

  /// ISO 8583, field 39.
  private func responseCode(
    _ wanted: HoldRequest, _ merchant: String, _ outcome: SandboxOutcome, _ transaction: Transaction
  ) throws -> String {
    let late = try transaction.row(
      "SELECT reference FROM reversals WHERE merchant = $1 AND reference = $2", .text(merchant),
      .text(wanted.reference))
    guard late == nil else { return "12" }
    if case .card(let dpan, let cryptogram, _) = wanted.means {
      guard try accept(cryptogram, of: dpan, in: transaction) else { return "05" }
    }
    switch outcome {
    case .approve, .noAnswerAfterApproval, .noAnswer: return "00"
    case .approveForLess: return "10"
    case .pending: return "09"
    case .decline(let code): return code
    }
  }

  func newName(_ transaction: Transaction) -> String {
    let now = transaction.now
    return random.timeOrderedID(WallClock { now })
  }

  func authorizationCode() -> String { random.hex(3).uppercased() }
  private func networkTransactionID() -> String { random.next(15).map { String($0 % 10) }.joined() }

  /// What a repeat gets under the profile: the first answer, an error, or nil if it is a new operation.
  private func replay(
    _ reference: String, _ merchant: String, _ request: String, _ transaction: Transaction
  ) throws -> AcquirerReply? {
    guard let known = try Self.reply(reference, merchant, transaction) else { return nil }
    let age = transaction.now.since(known.at)
    let isError = !["00", "09", "10"].contains(known.reply.responseCode)
    guard age < profile.window, profile.storesErrors || !isError else {
      try forget(reference, merchant, transaction)
      return nil
    }
    guard known.request == request || profile.otherContents == .firstAnswer else { throw AcquirerProblem.duplicate }
    return known.reply
  }

  /// Frees the reference. The earlier operation stays under another name, so that a second effect is visible.
  private func forget(_ reference: String, _ merchant: String, _ transaction: Transaction) throws {
    let past = "\(reference)~\(transaction.now.microseconds)"
    for table in ["operations", "holds"] {
      try transaction.run(
        "UPDATE \(table) SET reference = $3 WHERE merchant = $1 AND reference = $2", .text(merchant),
        .text(reference), .text(past))
    }
  }
}
