import Administration
import HTTPServing
import Hummingbird
import Ledger
import Mail
import Storage
import TenderPayments

/// What `tender mail` asks of a running server.
struct MailAdministrationController: Sendable {
  let administration: MailAdministration
  let environment: TenderPayments.Environment
  /// Nil where mail is off.
  let mail: ServerMail?

  /// `GET /mail?state=dead&limit=50`
  func list(_ request: Request, _ context: ServerContext) async throws -> Response {
    let query = request.query
    let state = query["state"].flatMap(StoredMail.State.init)
    return JSONAnswer.response(try await administration.list(state, limit: query["limit"].flatMap { Int($0) } ?? 50))
  }

  /// `GET /mail/ID`
  func show(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await require(context.parameters.get("mail") ?? ""))
  }

  /// `POST /mail/retry?id=ID`; without an id every message that was given up.
  func retry(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(["retried": try await administration.retry(request.query["id"])])
  }

  /// `POST /mail/test?to=ADDRESS`: sends a message now.
  func test(_ request: Request, _ context: ServerContext) async throws -> Response {
    let mail = try requireMail()
    guard let address = request.query["to"].flatMap({ MailAddress($0) }) else {
      throw Problem(.badRequest, "invalid_address", "to is an e-mail address in plain ASCII.")
    }
    let id = try await mail.queueTest(to: address)
    try await mail.dispatcher.round()
    return JSONAnswer.response(try await tried(id))
  }

  /// `POST /mail/warnings?at=2028-01-01T00:00:00Z`: says now what is due at that moment.
  func warn(_ request: Request, _ context: ServerContext) async throws -> Response {
    let mail = try requireMail()
    let at = request.query["at"].flatMap { Timestamp(rfc3339: $0) }
    guard at == nil || environment == .simulated else {
      throw Problem(.conflict, "not_simulated", "Only in simulated warnings are sent before their time.")
    }
    let queued = try await mail.sayWhatIsDue(at: at)
    try await mail.dispatcher.round()
    return JSONAnswer.response(["queued": queued])
  }

  /// The message after its first try, which the server's own dispatcher may be making.
  private func tried(_ id: String) async throws -> MailReportRow {
    for _ in 0..<400 {
      let mail = try await require(id)
      guard mail.state == .waiting, mail.tries == 0 else { return mail }
      try await Task.sleep(for: .milliseconds(100))
    }
    return try await require(id)
  }

  private func require(_ id: String) async throws -> MailReportRow {
    guard let mail = try await administration.find(id) else { throw MailAdministration.unknown(id) }
    return mail
  }

  private func requireMail() throws -> ServerMail {
    guard let mail else { throw Problem(.conflict, "mail_off", "mail.host is not set: this server sends no mail.") }
    return mail
  }
}

extension ServerMail {
  /// - Returns: the message's id.
  func queueTest(to address: MailAddress) async throws -> String {
    let (mail, random) = (QueuedMail(.test, to: [address], .test(settings.brand), settings.brand), random)
    return try await journal.database.write { store in
      try MailOutbox.add(mail, random: random, in: store)
      return try MailOutbox.list(.waiting, limit: 500, in: store).first { $0.kind == .test }?.id ?? ""
    }
  }
}

/// The answers behind `tender mail`, whether a server holds the store or the command line itself.
package struct MailAdministration: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  /// - Parameter state: nil for every state.
  package func list(_ state: StoredMail.State?, limit: Int) async throws -> [MailReportRow] {
    let limit = min(500, max(1, limit))
    return try await database.read { try MailOutbox.list(state, limit: limit, in: $0) }.map {
      MailReportRow($0, isWhole: false)
    }
  }

  /// The whole message; nil where there is none of this id.
  package func find(_ id: String) async throws -> MailReportRow? {
    try await database.read { try MailOutbox.find(id, in: $0) }.map { MailReportRow($0, isWhole: true) }
  }

  /// - Parameter id: nil for every message that was given up.
  package func retry(_ id: String?) async throws -> Int {
    if let id, try await find(id) == nil { throw Self.unknown(id) }
    return try await database.write { try MailOutbox.retry(id, in: $0) }
  }

  static func unknown(_ id: String) -> Problem {
    Problem(.notFound, "mail_unknown", "There is no message \(id.prefix(64)).")
  }
}

/// A message as the command line shows it.
package struct MailReportRow: Codable, Sendable {
  package let id: String
  package let kind: MailKind
  package let merchant: MerchantID?
  package let recipient: String
  package let subject: String
  package let state: StoredMail.State
  package let tries: Int64
  package let nextTry: String
  /// The server's answer.
  package let result: String?
  package let created: String
  /// Nil in a list, and for a message that is sealed or was erased.
  package let text: String?

  init(_ mail: StoredMail, isWhole: Bool) {
    (id, kind, merchant, recipient) = (mail.id, mail.kind, mail.merchant, mail.recipient)
    (subject, state, tries, result) = (mail.subject, mail.state, mail.tries, mail.result)
    (nextTry, created) = (mail.nextTry.description, mail.createdAt.description)
    text = isWhole ? mail.text : nil
  }
}
