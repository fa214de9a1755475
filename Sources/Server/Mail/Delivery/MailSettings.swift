/// How the operator sends mail, and to whom.
package struct MailSettings: Sendable {
  package let server: SMTPServer
  package let from: MailAddress
  /// Who is warned and gets the alarms.
  package let recipients: [MailAddress]
  /// The brand of the operator's own messages.
  package let brand: MailBrand

  package init(server: SMTPServer, from: MailAddress, recipients: [MailAddress], brand: MailBrand) {
    (self.server, self.from, self.recipients, self.brand) = (server, from, recipients, brand)
  }
}
