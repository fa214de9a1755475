import DirectWire
package import TenderPayments

/// A message as it leaves: for one recipient, as plain text and as HTML.
package struct MailMessage: Sendable, Hashable {
  /// Unique; the part of the Message-ID before the @. The same at every try, so that recipients can tell a repetition.
  package let id: String
  package let from: MailAddress
  package let senderName: String?
  package let replyTo: MailAddress?
  package let recipient: MailAddress
  package let subject: String
  /// A language tag such as `de`.
  package let language: String
  package let text: String
  package let html: String
  package let date: Timestamp

  package init(
    id: String, from: MailAddress, senderName: String? = nil, replyTo: MailAddress? = nil, to recipient: MailAddress,
    subject: String, language: String, text: String, html: String, date: Timestamp
  ) {
    (self.id, self.from, self.senderName, self.replyTo) = (id, from, senderName, replyTo)
    (self.recipient, self.subject, self.language) = (recipient, subject, language)
    (self.text, self.html, self.date) = (text, html, date)
  }

  /// The message of RFC 5322 with two parts, `multipart/alternative`; lines end in CRLF.
  package var bytes: [UInt8] { Array((header + body).utf8) }

  private var header: String {
    let replies = replyTo.map { MailHeader.line("Reply-To", $0.text) } ?? ""
    return MailHeader.line("Date", HTTPDate.text(date).replacing("GMT", with: "+0000"))
      + MailHeader.line("From", MailHeader.mailbox(senderName, from)) + replies
      + MailHeader.line("To", recipient.text) + MailHeader.line("Subject", MailHeader.text(subject))
      + MailHeader.line("Message-ID", "<\(id)@\(from.host)>")
      // No vacation note answers it, RFC 3834.
      + MailHeader.line("Auto-Submitted", "auto-generated") + MailHeader.line("Content-Language", language)
      + MailHeader.line("MIME-Version", "1.0")
      + MailHeader.line("Content-Type", "multipart/alternative; boundary=\"\(boundary)\"") + "\r\n"
  }

  private var body: String {
    part("plain", text) + part("html", html) + "--\(boundary)--\r\n"
  }

  private func part(_ type: String, _ content: String) -> String {
    "--\(boundary)\r\n" + MailHeader.line("Content-Type", "text/\(type); charset=utf-8")
      + MailHeader.line("Content-Transfer-Encoding", "quoted-printable") + "\r\n"
      + QuotedPrintable.encode(content) + "\r\n"
  }

  /// `=_` is in no text that is encoded as quoted-printable.
  private var boundary: String { "=_tender_\(id)" }
}
