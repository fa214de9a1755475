import Administration
import Hummingbird
import Settings
import Storage

/// The audit chain, and the server's settings.
struct RecordController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [.get("/audit", .everywhere(.administrator), audit), .get("/settings", .everywhere(.administrator), settings)]
  }

  private func audit(_ call: OfficeCall) async throws -> Response {
    let before = call.query("before").flatMap { Int64($0) } ?? .max
    let (entries, broken) = try await office.database.read { store in
      (
        try OfficeAudit(store).entries(before: before),
        call.query("verify") == nil ? nil : try OfficeAudit(store).firstBroken()
      )
    }
    var values: [String: Any] = [
      "entries": entries.map { Self.row($0, call.format) }, "place": call.format.place,
      "isVerified": call.query("verify") != nil,
      "broken": broken.map { "\($0)" } ?? "",
    ]
    if entries.count == 100, let last = entries.last { values["next"] = "\(last.number)" }
    return try office.pages.page("audit", "Audit", call, values)
  }

  private static func row(_ entry: OfficeAudit.Entry, _ format: OfficeFormat) -> [String: Any] {
    let action = entry.action
    return [
      "number": "\(entry.number)", "at": format.moment(entry.at), "actor": action.actor, "address": action.address,
      "action": action.action, "merchant": action.merchant, "subject": action.subject, "before": action.before,
      "after": action.after, "reason": action.reason, "hash": String(entry.hash.prefix(12)),
    ]
  }

  private func settings(_ call: OfficeCall) throws -> Response {
    try office.pages.page(
      "settings", "Settings", call,
      ["settings": SettingsTable.server.settings.map { row($0) }, "isSimulated": office.settings.isSimulated])
  }

  /// A setting with its value; a secret masked.
  private func row(_ setting: Setting<ServerConfiguration>) -> [String: Any] {
    let text = setting.text(office.configuration) ?? ""
    return ["name": setting.key, "value": text.isEmpty ? "–" : setting.isSecret ? "•••" : text]
  }
}
