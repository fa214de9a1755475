import Crypto
import Storage
import StrictJSON
import TenderPayments

/// The database of the emulated Worldline Acquiring: payments, operations, and the answers to repeats.
struct WorldlineAcquiringStore: Sendable {
  let database: Database
  let random: RandomBytes
  /// Hashes cryptograms and requests; made once for each database.
  private let key: SymmetricKey

  init(database: Database, random: RandomBytes) async throws {
    self.database = database
    self.random = random
    let fresh = random.next(32)
    let bytes = try await database.write { transaction in
      try transaction.run(
        "INSERT INTO keys (name, value) VALUES ('fingerprint', $1) ON CONFLICT DO NOTHING", .blob(fresh))
      return try transaction.row("SELECT value FROM keys WHERE name = 'fingerprint'")?.blob("value") ?? fresh
    }
    key = SymmetricKey(data: bytes)
  }

  func fingerprint(_ text: String) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key))
  }

  /// A name in the form of Worldline's: `pay:ch:etu:` and 22 characters.
  func newName() -> String {
    let text = Base64.encode(random.next(16)).replacing("+", with: "-").replacing("/", with: "_")
    return "pay:ch:etu:" + text.prefix(22)
  }

  /// A request of a merchant under an operation's name.
  struct Named: Sendable {
    let merchant: String
    let operationID: String
    /// Path and body, without the time of the transaction.
    let contents: String
  }

  /// Runs `act` once for each operation's name, in one commit with its answer.
  ///
  /// - Returns: the answer, and whether it is a repeated one.
  func once(
    _ request: Named, _ act: @escaping @Sendable (Transaction) throws -> WorldlineAcquiringOperation
  ) async throws -> (answer: JSONValue, isRepeated: Bool) {
    let digest = fingerprint(request.contents)
    return try await database.write { transaction in
      if let known = try answer(to: request, digest, in: transaction) { return (known, true) }
      let operation = try act(transaction)
      try operation.insert(request.merchant, contents: digest, in: transaction)
      return (.object(operation.answer), false)
    }
  }

  private func answer(to request: Named, _ digest: String, in transaction: Transaction) throws -> JSONValue? {
    let row = try transaction.row(
      "SELECT contents, answer FROM operations WHERE merchant = $1 AND operation_id = $2", .text(request.merchant),
      .text(request.operationID))
    guard let row else { return nil }
    guard try row.text("contents") == digest else {
      throw WorldlineAcquiringProblem.conflict("operationId was used for another request")
    }
    return try JSONReader.read(Array(try row.text("answer").utf8))
  }
}
