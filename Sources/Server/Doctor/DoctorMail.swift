import Mail
import Settings
import TenderPayments

extension DoctorCheck {
  static let mailGroup = [mailConfigured, mailRecipients, mailConnection, mailTLS, mailAuthentication, mailOutbox]

  static let mailConfigured = DoctorCheck(
    "mail_configured", "Mail can be sent.",
    meaning: "Mail is off: no warning is sent before certificates and domains expire.",
    remedy: "Set mail.host, mail.from and mail.recipients; docs/mail.md.")
  static let mailRecipients = DoctorCheck(
    "mail_recipients", "The warnings have a recipient.", meaning: "Warnings and alarms are not sent.",
    remedy: "Set mail.recipients.")
  static let mailConnection = DoctorCheck(
    "mail_connection", "The mail server answers.", meaning: "Messages wait in the outbox, for two days at most.",
    remedy: "Check mail.host and mail.port, and let the firewall pass the connection.")
  static let mailTLS = DoctorCheck(
    "mail_tls", "The mail server offers TLS with a certificate that is trusted.", meaning: "Nothing is sent to it.",
    remedy: "Check mail.security; name the root of your own authority in mail.rootsFile.")
  static let mailAuthentication = DoctorCheck(
    "mail_authentication", "The mail server accepts the user.", meaning: "It takes no messages.",
    remedy: "Correct mail.user and mail.passwordFile.")
  static let mailOutbox = DoctorCheck(
    "mail_outbox", "No message was given up or waits for an hour.", meaning: "A recipient did not get the message.",
    remedy: "`tender mail list --state dead` shows the server's answers; then `tender mail retry --all`.")
}

extension Doctor {
  func mailFindings() async -> [DoctorFinding] {
    let settings: MailSettings?
    do { settings = try configuration.mailSettings() } catch {
      return [DoctorCheck.mailConfigured.failed("mail", ErrorWords.of(error))] + outbox()
    }
    guard let settings else { return [mailOff] + outbox() }
    let recipients = settings.recipients.map(\.text).joined(separator: ", ")
    let who =
      recipients.isEmpty
      ? DoctorCheck.mailRecipients.warning("mail", "mail.recipients is empty")
      : DoctorCheck.mailRecipients.ok("mail", recipients)
    return [DoctorCheck.mailConfigured.ok("mail", settings.server.address), who]
      + stages(await system.network.mail(settings.server), settings.server) + outbox()
  }

  /// A demo or a test has nobody to warn.
  private var mailOff: DoctorFinding {
    let words = "mail.host is not set"
    return isSimulated
      ? DoctorCheck.mailConfigured.skipped("mail", words + ": mail is off")
      : DoctorCheck.mailConfigured.warning("mail", words)
  }

  /// What came before the stage that failed is well, and what comes after was not tried.
  private func stages(_ result: SMTPResult, _ server: SMTPServer) -> [DoctorFinding] {
    let checks: [(DoctorCheck, SMTPResult.Stage)] = [
      (.mailConnection, .connection), (.mailTLS, .tls), (.mailAuthentication, .authentication),
    ]
    var findings: [DoctorFinding] = []
    for (check, stage) in checks {
      guard result.stage != stage, result.stage != .message || stage != .authentication else {
        findings.append(
          stage == .connection
            ? check.notReachable(server.address, result.words) : check.failed(server.address, result.words))
        break
      }
      findings.append(check.ok(server.address, result.stage == .done ? result.words : "well"))
    }
    return findings
  }

  private func outbox() -> [DoctorFinding] {
    guard let store = facts?.store else { return [DoctorCheck.mailOutbox.skipped("outbox", factsProblem)] }
    if store.deadMails > 0 {
      return [DoctorCheck.mailOutbox.failed("outbox", "\(store.deadMails) given up")]
    }
    guard store.oldestMailSeconds <= 3_600 else {
      let minutes = store.oldestMailSeconds / 60
      return [DoctorCheck.mailOutbox.warning("outbox", "\(store.waitingMails) wait, the oldest for \(minutes) minutes")]
    }
    return [DoctorCheck.mailOutbox.ok("outbox", "\(store.waitingMails) wait")]
  }
}
