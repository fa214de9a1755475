package import MerchantIdentity
package import Storage
package import TenderPayments
import Webhooks

/// Delivers the messages of the outbox: at least once, each under one Message-ID. What the server did not take waits
/// longer each time, until it is given up; what the server refuses for good is given up at once.
package struct MailDispatcher: Sendable {
  private let database: Database
  private let settings: MailSettings
  private let transport: MailTransport
  private let keys: @Sendable () async throws -> MasterKeys?
  private let random: RandomBytes
  private let report: @Sendable (MailReport) -> Void

  /// How long a message belongs to the process that tries it: longer than a try can take.
  static let lease: Duration = .seconds(60)
  /// How many messages are sent at a time.
  private static let width = 4
  /// Nine tries in about two days.
  static let schedule = RetrySchedule(waits: [
    .seconds(60), .seconds(5 * 60), .seconds(15 * 60), .seconds(3_600), .seconds(2 * 3_600), .seconds(4 * 3_600),
    .seconds(12 * 3_600), .seconds(24 * 3_600),
  ])

  /// - Parameters:
  ///   - database: opened with the outbox's migrations.
  ///   - keys: open confidential messages.
  ///   - report: receives every try, for logs and metrics.
  package init(
    database: Database, settings: MailSettings, transport: MailTransport = .smtp,
    keys: @escaping @Sendable () async throws -> MasterKeys? = { nil }, random: RandomBytes = .system,
    report: @escaping @Sendable (MailReport) -> Void = { _ in }
  ) {
    (self.database, self.settings, self.transport) = (database, settings, transport)
    (self.keys, self.random, self.report) = (keys, random, report)
  }

  /// Delivers until the task is cancelled.
  package func run(lookingEvery pause: Duration = .seconds(1)) async {
    while !Task.isCancelled {
      do { try await round() } catch { report(.trouble("\(error)")) }
      try? await Task.sleep(for: pause)
    }
  }

  /// Tries everything that is due.
  ///
  /// - Returns: how many tries were made.
  @discardableResult
  package func round() async throws -> Int {
    var tries = 0
    while !Task.isCancelled, case let due = try await claimSome(), !due.isEmpty {
      try await withThrowingTaskGroup(of: Void.self) { group in
        for (mail, sealed) in due { group.addTask { try await attempt(mail, sealed) } }
        try await group.waitForAll()
      }
      tries += due.count
    }
    return tries
  }

  /// Leases some of the mails that are due, so that no other process sends them; when the lease has passed, another may.
  private func claimSome() async throws -> [(StoredMail, SealedText?)] {
    try await database.write { store in
      try MailOutbox.claim(limit: Self.width, until: store.now.adding(Self.lease), in: store)
    }
  }

  private func attempt(_ mail: StoredMail, _ sealed: SealedText?) async throws {
    let result: SMTPResult
    do { result = await transport.send(try await message(mail, sealed), settings.server) } catch {
      result = SMTPResult(.connection, "the message cannot be opened: \(error)")
    }
    // Whoever interrupts us leaves the message to the next process.
    guard !Task.isCancelled || result.stage == .done else { return }
    try await finish(mail, result)
  }

  private func message(_ mail: StoredMail, _ sealed: SealedText?) async throws -> MailMessage {
    let keys = try await sealed == nil ? nil : keys()
    let opened = try sealed.map { try MailOutbox.open($0, mail.id, keys) }
    guard let recipient = MailAddress(mail.recipient) else { throw StorageError.column("recipient") }
    return MailMessage(
      id: mail.id, from: settings.from, senderName: mail.senderName, replyTo: mail.replyTo.flatMap(MailAddress.init),
      to: recipient, subject: mail.subject, language: mail.language, text: opened?.text ?? mail.text ?? "",
      html: opened?.html ?? mail.html ?? "", date: mail.createdAt)
  }

  private func finish(_ mail: StoredMail, _ result: SMTPResult) async throws {
    let chance = random.next(2).reduce(UInt16(0)) { $0 << 8 | UInt16($1) }
    let wait = result.isPermanent ? nil : Self.schedule.wait(afterFailures: mail.tries + 1, chance: chance)
    let state: StoredMail.State = result.stage == .done ? .sent : wait == nil ? .dead : .waiting
    let isOurs = try await database.write { store in
      try MailOutbox.finish(
        mail, state, result: result.words, next: store.now.adding(wait ?? .zero), in: store)
    }
    if isOurs { report(.tried(mail, state, result.words)) }
  }
}

/// What the dispatcher reports. Never a text, never a password.
package enum MailReport: Sendable, Hashable {
  /// A try, the message's state after it, and the server's answer.
  case tried(StoredMail, StoredMail.State, String)
  /// The store or the machine failed; the dispatcher goes on.
  case trouble(String)
}
