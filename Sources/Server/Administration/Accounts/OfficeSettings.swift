package import Settings
package import TenderPayments

/// How the office is reached, and how long a session lasts.
package struct OfficeSettings: Sendable {
  /// `scheme://host[:port]`
  package var url: String
  /// Whether a server opens it there.
  package var isServed = true
  package var environment: TenderPayments.Environment
  package var sessions = SessionLimits()
  package var passwordCost = PasswordCost.standard
  package var trustedProxies = TrustedProxies()

  package init(url: String, environment: TenderPayments.Environment) {
    (self.url, self.environment) = (url, environment)
  }

  package var isSimulated: Bool { environment == .simulated }
  package var isSecure: Bool { url.hasPrefix("https://") }
}

extension ServerConfiguration {
  package var officeSettings: OfficeSettings {
    var settings = OfficeSettings(
      url: office.url ?? "http://localhost:\(office.port ?? 0)", environment: environment)
    settings.isServed = office.url != nil || office.port != nil
    settings.sessions.idle = .seconds(office.idleMinutes * 60)
    settings.sessions.whole = .seconds(office.sessionHours * 3_600)
    settings.passwordCost = office.passwordCost
    settings.trustedProxies = trustedProxies
    return settings
  }
}
