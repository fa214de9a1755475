import Administration
import Foundation
import Hummingbird
import Storage
import TenderPayments

/// How a user wants money and dates to be written, and by which clock.
struct FormatController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [.get("/account/format", .signedIn, show), .post("/account/format", .signedIn, on: show, set)]
  }

  /// Those that the page offers.
  private static let languages = [
    "en-GB", "en-IE", "en-US", "en-AU", "en-CA", "ar-AE", "da-DK", "de-AT", "de-CH", "de-DE", "es-ES", "es-MX", "fi-FI",
    "fr-CA", "fr-CH", "fr-FR", "it-IT", "ja-JP", "nb-NO", "nl-BE", "nl-NL", "pl-PL", "pt-BR", "pt-PT", "sv-SE", "zh-CN",
  ]

  /// `German (Austria)`
  static func name(of language: String) -> String {
    Locale(identifier: "en").localizedString(forIdentifier: language) ?? language
  }

  private static let example = Amount(minorUnits: 123_450, currency: Currency(code: "EUR") ?? Currency.all[0])

  private func show(_ call: OfficeCall) async throws -> Response {
    let user = try call.user.name
    let kept = try await office.database.read { try OfficePreferences.find(of: user, in: $0) }
    let now = office.clock.now()
    let known = TimeZone.knownTimeZoneIdentifiers.filter { TimeZoneName.isPlace($0) }
    let languages =
      Self.languages + (Self.languages.contains(kept.language) || kept.language.isEmpty ? [] : [kept.language])
    return try office.pages.page(
      "format", "Money and dates", call,
      [
        "languages": languages.map { language in
          let format = OfficeFormat(OfficePreferences(language: language, zone: kept.zone))
          return [
            "value": language, "isChosen": language == kept.language,
            "name": "\(Self.name(of: language)): \(format.amount(Self.example)), \(format.local(now))",
          ] as [String: Any]
        },
        "zones": known.sorted(), "zone": kept.zone, "now": call.format.time(now),
        "money": call.format.amount(Self.example),
      ])
  }

  private func set(_ call: OfficeCall) async throws -> Response {
    let (user, language, zone) = (try call.user.name, call.form["language"], call.form["zone"])
    guard language.isEmpty || OfficeFormat.isLanguage(language) else {
      throw OfficeRefusal.badRequest("“\(language)” is no language: write it as de-AT.", at: "language")
    }
    guard zone.isEmpty || OfficeFormat.zone(zone) != nil else {
      throw OfficeRefusal.badRequest(
        "“\(zone)” is no time zone: write its name as Europe/Dublin, or nothing for UTC.", at: "zone")
    }
    let preferences = OfficePreferences(language: language, zone: zone)
    try await office.database.write { try preferences.keep(for: user, in: $0) }
    return .redirect(to: "/account/format?done=changed", type: .normal)
  }
}
