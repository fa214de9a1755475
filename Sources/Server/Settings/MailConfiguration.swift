import Foundation
import HTTPTransport
package import Mail
import TenderSheet

/// The settings `mail.*` of `tender serve`.
package struct MailConfiguration: Sendable {
  /// Nil where mail is off.
  package var host: String?
  package var port = 587
  package var security = SMTPServer.Security.startTLS
  package var user: String?
  package var password: String?
  /// A file with the password, read at every delivery.
  package var passwordFile: String?
  package var from: MailAddress?
  /// The sender's name of the operator's own messages.
  package var name = "Tender"
  package var recipients: [MailAddress] = []
  package var locale = "en"
  package var rootsFile: String?

  package init() {}

  /// How the operator's own messages look; nil where mail is off.
  package var brand: MailBrand? { host == nil || from == nil ? nil : MailBrand(name: name, locale: locale) }

  /// Nil where mail is off.
  ///
  /// - Parameters:
  ///   - ownName: what EHLO carries.
  ///   - egress: the way to the server.
  /// - Throws: ``ConfigurationError``
  func settings(ownName: String, egress: Egress = .direct) throws -> MailSettings? {
    guard let host, let from, let brand else { return nil }
    let server = SMTPServer(
      host: host, port: port, security: security, user: user, password: try currentPassword,
      rootsPEM: try rootsFile.map { try OutboundConfiguration.roots($0, "mail.rootsFile") }, ownName: ownName,
      egress: egress)
    return MailSettings(server: server, from: from, recipients: recipients, brand: brand)
  }

  private var currentPassword: String? {
    get throws {
      guard let passwordFile else { return password }
      do throws(UnfitValue) { return try SecretFile(passwordFile, isPassword: true).secret } catch {
        throw ConfigurationError("mail.passwordFile", "found \(error.found); write the password into that file")
      }
    }
  }

  func check() throws {
    guard let host else { return }
    guard from != nil else {
      throw ConfigurationError("mail.from", "mail needs an address that it comes from; write tender@example.com")
    }
    guard (user == nil) == (password == nil && passwordFile == nil) else {
      throw ConfigurationError("mail.user", "name both mail.user and mail.passwordFile, or neither")
    }
    guard security != .none || user == nil || ServiceAddress.isLoopback(host) else {
      throw ConfigurationError(
        "mail.security", "a password is not sent to \(host) without TLS; write one of: starttls, tls")
    }
    _ = try settings(ownName: "localhost")
  }
}

extension ServerConfiguration {
  /// Nil where mail is off.
  package func mailSettings() throws -> MailSettings? {
    try mail.settings(
      ownName: URL(string: publicURL)?.host() ?? "localhost", egress: try outbound.egress(to: .mail))
  }
}

extension SettingsTable where Target == ServerConfiguration {
  static let mail: [Setting<ServerConfiguration>] = [
    Setting("mail.host", .host, \.mail.host, "The SMTP server that takes mail; without it mail is off."),
    Setting("mail.port", .number(1...65_535), \.mail.port, "Its port; 465 for `tls`."),
    Setting(
      "mail.security", .choice(of: SMTPServer.Security.allCases), \.mail.security,
      "TLS after `STARTTLS`, which must be offered, or from the beginning; `none` for a relay on this machine."),
    Setting(
      "mail.user", .text("a user's name", as: "tender@example.com"), \.mail.user, "Who authenticates at the server."),
    Setting(
      "mail.password", .password, "The user's password; better in the file.", get: { $0.mail.password },
      set: { $0.mail.password = $1 }),
    Setting(
      "mail.passwordFile", .passwordFile, "A file with the password, read at every delivery.", get: { _ in nil },
      set: { $0.mail.passwordFile = $1.path }),
    Setting("mail.from", .mailAddress, \.mail.from, "The address that mail comes from."),
    Setting("mail.name", .text("a name", as: "Tender"), \.mail.name, "The name on the operator's own messages."),
    Setting(
      "mail.recipients", .list(of: .mailAddress, atMost: 20), \.mail.recipients,
      "Who is warned of ends and alarms, see docs/mail.md."),
    Setting(
      "mail.locale", .text("a language tag", as: "de-AT", where: ShopperLocale.isTag), \.mail.locale,
      "The language of the operator's own messages."),
    Setting(
      "mail.rootsFile", .file, \.mail.rootsFile,
      "The roots that the server's certificate must lead to, and no others, PEM. The default is the system's."),
  ]
}

extension SettingType<MailAddress> {
  static let mailAddress = one(
    "an e-mail address in plain ASCII", as: "orders@example.com", read: { MailAddress($0) }, text: { $0.text })
}

extension SettingType<String> {
  /// A password that others chose; it may be short.
  static let password = SettingType(
    wanted: "a password; better in the file that the setting with `File` at its end names", example: "password",
    isSecret: true, read: { texts throws(UnfitValue) in texts[0] }, text: { _ in "•••" })
}

extension SettingType<SecretFile> {
  /// A file that holds one; line ends after it do not count.
  static let passwordFile = SettingType(
    wanted: "the path of a file with a password", example: "/run/secrets/mail",
    read: { texts throws(UnfitValue) in try SecretFile(texts[0], isPassword: true) }, text: { _ in "•••" })
}
