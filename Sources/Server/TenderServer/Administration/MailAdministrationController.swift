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
    JSONAnswer.response(try await require(context.name("mail")))
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
    return JSONAnswer.response(try await waitForTry(id))
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
  private func waitForTry(_ id: String) async throws -> MailReportRow {
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
