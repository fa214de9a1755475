import HTTPServing
import HTTPTypes
import Hummingbird
import MailSandbox
import NIOCore
import StrictJSON
import TenderPayments

/// The pages of the mailbox: its list, and each message as text, as HTML in a frame that can do nothing, and as it came.
struct MailboxPages: Sendable {
  let mailbox: Mailbox
  let addresses: ListeningAddresses
  let pages: Pages

  /// `GET /mail`
  func list(_ request: Request, _ context: SandboxContext) throws -> Response {
    try pages.response("mail", MailboxPage(mailbox.entries, addresses.current), allowing: "style-src 'self'")
  }

  /// `GET /mail/7`
  func message(_ request: Request, _ context: SandboxContext) throws -> Response {
    try pages.response(
      "message", MessagePage(try entry(context)), allowing: "style-src 'self'; frame-src 'self'")
  }

  /// `GET /mail/7/html`: what stands in the frame. Without scripts, forms and an origin of its own, wherever it is shown.
  func html(_ request: Request, _ context: SandboxContext) throws -> Response {
    var response = Response.html(try entry(context).mail.html ?? "")
    response.headers[.contentSecurityPolicy] =
      "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src https: data:; frame-ancestors 'self'"
    return response
  }

  /// `GET /mail/7/raw`
  func raw(_ request: Request, _ context: SandboxContext) throws -> Response {
    Response(
      status: .ok, headers: [.contentType: "text/plain; charset=utf-8"],
      body: ResponseBody(byteBuffer: ByteBuffer(bytes: try entry(context).delivery.message)))
  }

  /// `GET /sandbox/mail`: the same for programs.
  func json(_ request: Request, _ context: SandboxContext) -> Response {
    JSONAnswer.response(["messages": .array(mailbox.entries.map(\.json))])
  }

  private func entry(_ context: SandboxContext) throws -> Mailbox.Entry {
    guard let number = Int(try context.parameter("number")), let entry = mailbox.entry(number) else {
      throw SandboxProblem(status: 404, code: "not_found", message: "There is no such message.")
    }
    return entry
  }
}

/// The values of the list.
private struct MailboxPage {
  struct Row {
    let number: Int
    let time: String
    let from: String
    let to: String
    let subject: String
  }

  let host: String
  let port: Int
  let user = SMTPConversation.user
  let password = SMTPConversation.password
  let rows: [Row]
  let isEmpty: Bool

  init(_ entries: [Mailbox.Entry], _ addresses: SandboxAddresses) {
    (host, port, isEmpty) = (addresses.mailHost, addresses.mailPort, entries.isEmpty)
    rows = entries.map { entry in
      Row(
        number: entry.number, time: entry.time.description, from: entry.mail.field("From"),
        to: entry.delivery.recipients.joined(separator: ", "), subject: entry.mail.field("Subject"))
    }
  }
}

/// The values of a message's page.
private struct MessagePage {
  let number: Int
  let subject: String
  let time: String
  let fields: [ReceivedMail.Field]
  let text: String
  let hasText: Bool
  let hasHTML: Bool

  init(_ entry: Mailbox.Entry) {
    (number, time) = (entry.number, entry.time.description)
    (subject, fields) = (entry.mail.field("Subject"), entry.mail.fields)
    (text, hasText, hasHTML) = (entry.mail.text ?? "", entry.mail.text != nil, entry.mail.html != nil)
  }
}

extension Mailbox.Entry {
  fileprivate var json: JSONValue {
    [
      "number": .integer(Int64(number)), "time": .string(time.description), "sender": .string(delivery.sender),
      "recipients": .array(delivery.recipients.map(JSONValue.string)), "subject": .string(mail.field("Subject")),
      "from": .string(mail.field("From")), "text": .string(mail.text ?? ""), "html": .string(mail.html ?? ""),
    ]
  }
}
