import Foundation
package import TenderPayments

/// The settings `backOffice.openID.*` of `tender serve`: the provider at which operators sign in.
package struct OpenIDConfiguration: Sendable {
  /// Nil where no provider is configured for the sign-in.
  package var issuer: String?
  package var clientID = ""
  package var clientSecret: String?
  /// A file with the secret, read at every sign-in.
  package var clientSecretFile: String?
  /// As the button calls it.
  package var name = ""
  package var scopes = ["openid", "email"]
  /// The claim of the ID token that ``roles`` are read from.
  package var roleClaim = "groups"
  package var roles: [MappedRole] = []
  /// How old the provider's own sign-in may be; nil for as old as it lets.
  package var maximumAgeHours: Int?

  package init() {}

  /// What a value of the claim gives: `payments-team = operator of harbour kitsune`.
  package struct MappedRole: Sendable, Hashable {
    package static let names = ["viewer", "operator", "administrator"]

    package let value: String
    /// One of ``names``.
    package let role: String
    /// Empty for every merchant.
    package let merchants: [MerchantID]

    /// - Returns: nil for another form.
    package init?(_ text: String) {
      guard let sign = text.range(of: " = ", options: .backwards) else { return nil }
      let words = text[sign.upperBound...].split(separator: " ").map(String.init)
      value = text[..<sign.lowerBound].trimmingCharacters(in: .whitespaces)
      guard !value.isEmpty, let role = words.first, Self.names.contains(role),
        words.count == 1 || words.count > 2 && words[1] == "of"
      else { return nil }
      (self.role, merchants) = (role, words.dropFirst(2).map { MerchantID($0) })
    }

    package var text: String {
      "\(value) = \(role)" + (merchants.isEmpty ? "" : " of " + merchants.map(\.rawValue).joined(separator: " "))
    }
  }

  /// - Throws: ``ConfigurationError`` where the file is not as it must be.
  package var currentSecret: String {
    get throws {
      guard let clientSecretFile else { return clientSecret ?? "" }
      do throws(UnfitValue) { return try SecretFile(clientSecretFile, isPassword: true).secret } catch {
        throw ConfigurationError(
          "backOffice.openID.clientSecretFile", "found \(error.found); write the client's secret into that file")
      }
    }
  }

  func check(in environment: TenderPayments.Environment) throws {
    guard let issuer = issuer.flatMap(ServiceAddress.init) else {
      let isNamed = !clientID.isEmpty || clientSecret != nil || clientSecretFile != nil || !roles.isEmpty
      guard isNamed else { return }
      throw ConfigurationError("backOffice.openID.issuer", "name the provider, or take backOffice.openID out")
    }
    guard issuer.isHTTPS || environment == .simulated && issuer.isLoopback else {
      throw ConfigurationError("backOffice.openID.issuer", "a provider needs https")
    }
    guard !clientID.isEmpty else {
      throw ConfigurationError("backOffice.openID.clientID", "write the id that the provider gave to this client")
    }
    guard clientSecret != nil || clientSecretFile != nil else {
      throw ConfigurationError(
        "backOffice.openID.clientSecretFile", "write the client's secret into a file, and name it here")
    }
    guard !roles.isEmpty else {
      throw ConfigurationError(
        "backOffice.openID.roles",
        "without roles nobody gets in; write what a value of \(roleClaim) gives: [payments-team = operator]")
    }
    guard scopes.contains("openid") else {
      throw ConfigurationError("backOffice.openID.scopes", "the scope openid is missing")
    }
    _ = try currentSecret
  }
}

extension SettingsTable where Target == ServerConfiguration {
  static let openID: [Setting<ServerConfiguration>] = [
    Setting(
      "backOffice.openID.issuer", .issuer, \.office.openID.issuer,
      "The OpenID provider at which operators sign in, as its discovery document calls it; see docs/back-office.md."),
    Setting(
      "backOffice.openID.name", .text("a name", as: "Example"), "The provider's name on the page of the sign-in.",
      get: { $0.office.openID.name.isEmpty ? nil : $0.office.openID.name }, set: { $0.office.openID.name = $1 }),
    Setting(
      "backOffice.openID.clientID", .text("an id of the provider's", as: "tender-office"),
      "This office's id at the provider.",
      get: { $0.office.openID.clientID.isEmpty ? nil : $0.office.openID.clientID },
      set: { $0.office.openID.clientID = $1 }),
    Setting(
      "backOffice.openID.clientSecret", .password, "Its secret there; better in the file.",
      get: { $0.office.openID.clientSecret }, set: { $0.office.openID.clientSecret = $1 }),
    Setting(
      "backOffice.openID.clientSecretFile", .passwordFile, "A file with the secret, read at every sign-in.",
      get: { _ in nil }, set: { $0.office.openID.clientSecretFile = $1.path }),
    Setting(
      "backOffice.openID.scopes", .list(of: .scope, atMost: 20), \.office.openID.scopes,
      "What the provider is asked for; `openid` and whatever brings the claim with the roles."),
    Setting(
      "backOffice.openID.roleClaim", .text("the name of a claim", as: "groups"), \.office.openID.roleClaim,
      "The claim of the ID token from which roles follow: a text, or a list of texts."),
    Setting(
      "backOffice.openID.roles", .list(of: .mappedRole), \.office.openID.roles,
      "Which role a value of the claim gives, at every merchant or at those that are named. Who has none of the values does not get in."
    ),
    Setting(
      "backOffice.openID.maximumAgeHours", .number(1...720), \.office.openID.maximumAgeHours,
      "How old the sign-in at the provider may be. The office's session ends with it, if not before."),
  ]
}

extension SettingType<String> {
  /// As it is written: the provider's own name for itself, with or without a slash at the end.
  fileprivate static let issuer = text(
    "an address such as https://login.example.com/realms/shop", as: "https://login.example.com",
    where: { ServiceAddress($0) != nil })
  fileprivate static let scope = text(
    "a scope such as openid", as: "openid",
    where: { $0.utf8.allSatisfy { (0x21...0x7E).contains($0) && $0 != 0x22 && $0 != 0x5C } })
}

extension SettingType<OpenIDConfiguration.MappedRole> {
  fileprivate static let mappedRole = one(
    "a value, = and one of: " + OpenIDConfiguration.MappedRole.names.joined(separator: ", ")
      + "; `of` and merchants may follow",
    as: "payments-team = operator of harbour", read: { OpenIDConfiguration.MappedRole($0) }, text: { $0.text })
}
