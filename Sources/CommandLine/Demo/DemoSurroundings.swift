import AppleSandbox
import Mail
import Settings

extension MailConfiguration {
  /// Mail goes to the sandbox's mailbox.
  static func mailbox(_ addresses: SandboxAddresses, _ directory: String) -> MailConfiguration {
    var mail = MailConfiguration()
    (mail.host, mail.port) = (addresses.mailHost, addresses.mailPort)
    (mail.user, mail.password) = (addresses.mailUser, addresses.mailPassword)
    mail.rootsFile = directory + "/sandbox/pki/tls-root.pem"
    mail.from = MailAddress("tender@demo.invalid")
    mail.recipients = [MailAddress("operator@demo.invalid")].compactMap(\.self)
    return mail
  }
}

extension TelemetryConfiguration {
  /// Every trace, and metrics while one looks.
  static func all(to collector: String?) -> TelemetryConfiguration {
    var telemetry = TelemetryConfiguration()
    telemetry.endpoint = collector
    (telemetry.tracesPerThousand, telemetry.metricsSeconds) = (1_000, collector == nil ? 0 : 5)
    return telemetry
  }
}
