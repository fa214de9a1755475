import HTTPTypes
import Ledger
package import Mail
package import Storage
package import TenderPayments

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

  package static func unknown(_ id: String) -> Problem {
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

  package init(_ mail: StoredMail, isWhole: Bool) {
    (id, kind, merchant, recipient) = (mail.id, mail.kind, mail.merchant, mail.recipient)
    (subject, state, tries, result) = (mail.subject, mail.state, mail.tries, mail.result)
    (nextTry, created) = (mail.nextTry.description, mail.createdAt.description)
    text = isWhole ? mail.text : nil
  }
}
