import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import MerchantIdentity
import NIOCore
import Storage
import TenderPayments

/// The merchants, and the page of one: switches, terms, domains, certificates, keys.
struct MerchantController: Sendable {
  let office: BackOffice

  var routes: [OfficeRoute] {
    [
      .get("/merchants", .role(.viewer), list), .get("/merchants/{merchant}", .role(.viewer), show),
      .post("/merchants", .everywhere(.administrator), on: list, add),
      .post("/merchants/terms", .everywhere(.administrator), on: list, publish),
      .post("/merchants/import", .everywhere(.administrator), takesFile: true, on: list, take),
      .post("/merchants/{merchant}/export", .role(.administrator), on: show, export),
      .get("/merchants/{merchant}/registration", .role(.viewer), showRegistration),
      .get("/merchants/{merchant}/certificates/{certificate}/request", .role(.viewer), download),
      .post("/merchants/{merchant}/{change}", .role(.administrator), on: show, change),
    ]
  }

  private func list(_ call: OfficeCall) async throws -> Response {
    let user = try call.user
    let merchants = try await office.services.merchants.merchants().filter { user.role(of: $0.id) != nil }
    return try office.pages.page(
      "merchants", "Merchants", call,
      [
        "merchants": merchants.map(MerchantView.values), "isEmpty": merchants.isEmpty,
        "mayAdd": user.everywhere == .administrator,
      ])
  }

  private func add(_ call: OfficeCall) async throws -> Response {
    let (new, reason) = (try NewOfficeMerchant(call.form), try call.form.reason)
    let entry = try call.action(
      "merchant.add", merchant: new.id, subject: new.id, after: "\(new.identifier), \(new.name)", reason: reason)
    let actor = try call.user.name
    try await OfficeAudit.attempt(entry, in: office.database) {
      try await office.services.merchants.add(new, actor: actor)
    }
    return .redirect(to: "/merchants/\(new.id)?done=changed", type: .normal)
  }

  /// A version of the terms, which every merchant has to accept.
  private func publish(_ call: OfficeCall) async throws -> Response {
    let (version, wording) = (try call.form.required("version"), try call.form.required("wording"))
    guard let days = Int64(call.form["days"]), (0...3_650).contains(days) else {
      throw OfficeRefusal.badRequest("Say in whole days how long merchants have.", at: "days")
    }
    let entry = try call.action(
      "terms.publish", subject: version, after: "within \(days) days", reason: try call.form.reason)
    try await OfficeAudit.attempt(entry, in: office.database) {
      try await office.services.merchants.publishTerms(version, wording: wording, graceDays: days)
    }
    return .redirect(to: "/merchants?done=changed", type: .normal)
  }

  /// Takes a merchant that was exported here or on another server.
  private func take(_ call: OfficeCall) async throws -> Response {
    guard let file = call.form.file("merchant"), !file.bytes.isEmpty else {
      throw OfficeRefusal.badRequest("Choose the file of an exported merchant.", at: "merchant")
    }
    let merchant = try office.services.merchants.exported(file.bytes)
    let entry = try call.action(
      "merchant.import", merchant: merchant.id.rawValue, subject: merchant.id.rawValue, after: merchant.summary,
      reason: try call.form.reason)
    try await OfficeAudit.attempt(entry, in: office.database) {
      try await office.services.merchants.take(merchant)
    }
    return .redirect(to: "/merchants/\(merchant.id)?done=changed", type: .normal)
  }

  /// The merchant as a file, with its private keys: for who has the app at hand, not for a session alone.
  private func export(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .administrator)
    let reason = try call.form.reason
    guard try await office.accounts.confirm(call.form["code"], of: call.user.name) else {
      throw OfficeRefusal.badRequest(
        "This code is not the one of your app, or was used. Type the next one.", at: "code")
    }
    let entry = try call.action(
      "merchant.export", merchant: merchant.id.rawValue, subject: merchant.id.rawValue,
      after: "with private keys and secrets", reason: reason)
    let file = try await OfficeAudit.attempt(entry, in: office.database) {
      try await office.services.merchants.export(merchant.id)
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: MediaType.json, .contentDisposition: "attachment; filename=\"\(merchant.id).json\"",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: file)))
  }

  /// The page of what Apple knows of the merchant as one of the platform's.
  private func showRegistration(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let known = try await office.services.merchants.registration(of: merchant.id)
    var values: [String: Any] = ["merchantID": merchant.id.rawValue, "isKnown": known != nil]
    if let known {
      values["name"] = known.name
      values["encryptTo"] = known.encryptTo
      values["domains"] = known.domains
    }
    return try office.pages.page("registration", "\(merchant.id) at Apple", call, values)
  }

  /// - Throws: ``OfficeRefusal`` for one that is not there or that the person may not see.
  private func merchant(_ call: OfficeCall, _ role: Role) async throws -> OfficeMerchant {
    let id = MerchantID(call.parameter("merchant"))
    try call.require(role, of: id)
    guard let known = try await office.services.merchants.merchant(id) else {
      throw OfficeRefusal.nothing
    }
    return known
  }

  private func show(_ call: OfficeCall) async throws -> Response { try await show(call, MerchantChangeResult()) }

  private func show(_ call: OfficeCall, _ result: MerchantChangeResult) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let parts = try await office.services.merchants.parts(of: merchant.id)
    var values = MerchantView.values(merchant)
    values.merge(MerchantView.values(parts, for: try call.user.asEditor)) { _, new in new }
    let isAdministrator = try call.user.role(of: merchant.id) == .administrator
    values["merchantID"] = merchant.id.rawValue
    values["isPlayed"] = office.settings.isSimulated
    values["mayRegister"] = office.settings.isSimulated || parts.isServedByPlatform
    values["mayChange"] = isAdministrator && !merchant.isDeclared
    values["mayAcceptTerms"] = isAdministrator && parts.termsVersion != nil
    values["notes"] = parts.notes + result.notes
    if let secret = result.secret { values["newKey"] = ["id": secret.id, "secret": secret.text] }
    return try office.pages.page("merchant", "Merchant \(merchant.id)", call, values)
  }

  /// The certificate request, to be uploaded at Apple's.
  private func download(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let id = call.parameter("certificate")
    let rows = try await office.services.merchants.parts(of: merchant.id).certificates
    guard let row = rows.first(where: { $0.id.utf8.elementsEqual(id.utf8) }), let request = row.request else {
      throw OfficeRefusal.nothing
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: "application/pkcs10",
        .contentDisposition: "attachment; filename=\"\(row.kind.rawValue).certSigningRequest\"",
      ], body: ResponseBody(byteBuffer: ByteBuffer(string: request)))
  }

  private func change(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .administrator)
    let reason = try call.form.reason
    let change = try MerchantChange(call.parameter("change"), call.form, by: call.user.asEditor)
    try await requireOwn(change, merchant.id)
    let entry = try call.action(
      change.name, merchant: merchant.id.rawValue, subject: merchant.id.rawValue,
      before: await office.services.merchants.parts(of: merchant.id).auditedState,
      after: change.object, reason: reason)
    let result = try await office.audit(change, on: merchant.id, entry)
    // A new secret is shown in this answer alone.
    if result.secret != nil || !result.notes.isEmpty { return try await show(call, result) }
    return .redirect(to: "/merchants/\(merchant.id)?done=changed", type: .normal)
  }

  /// A certificate is named by its own id: one of another merchant's is not there.
  private func requireOwn(_ change: MerchantChange, _ merchant: MerchantID) async throws {
    guard case .activateCertificate(let id) = change.certificate else { return }
    let rows = try await office.services.merchants.parts(of: merchant).certificates
    guard rows.contains(where: { $0.id.utf8.elementsEqual(id.utf8) }) else { throw OfficeRefusal.nothing }
  }
}

extension BackOffice {
  /// Changes a merchant, with an entry before and one that says what came of it.
  func audit(
    _ change: MerchantChange, on merchant: MerchantID, _ asked: OfficeAction
  ) async throws -> MerchantChangeResult {
    try await OfficeAudit.attempt(asked, in: database, outcome: \.outcome) {
      try await services.merchants.perform(change, on: merchant, actor: asked.actor)
    }
  }
}

extension MerchantChange {
  /// The change of a certificate that is named by its id, as an activation.
  fileprivate var certificate: MerchantChange {
    switch self {
    case .retireCertificate(let id), .signCertificate(let id): .activateCertificate(id: id)
    default: self
    }
  }

  /// - Parameter name: of the form.
  fileprivate init(_ name: String, _ form: OfficeForm, by editor: SettingsEditor) throws {
    switch name {
    case "enable", "disable":
      let domain = form["domain"]
      self = .setEnabled(name.count == 6, domain: domain.isEmpty ? nil : domain)
    case "add-domain":
      let file = form["association"]
      self = .addDomain(try form.required("domain"), association: file.isEmpty ? nil : Array(file.utf8))
    case "remove-domain": self = .removeDomain(try form.required("domain"))
    case "check-domain": self = .checkDomain(try form.required("domain"))
    case "register-domain": self = .registerDomain(try form.required("domain"))
    case "unregister-domain": self = .unregisterDomain(try form.required("domain"), reason: try form.reason)
    case "edit": self = .edit([try form.required("setting"): form["value"]], by: editor)
    case "sign-certificate": self = .signCertificate(id: try form.required("certificate"))
    case "request-certificate": self = .requestCertificate(try form.kindOfCertificate)
    case "import-certificate":
      self = .importCertificate(try form.kindOfCertificate, Array(try form.required("certificate").utf8))
    case "activate-certificate": self = .activateCertificate(id: try form.required("certificate"))
    case "retire-certificate": self = .retireCertificate(id: try form.required("certificate"))
    case "add-key": self = .addKey(try form.kindOfKey)
    case "rotate-key": self = .rotateKey(try form.kindOfKey)
    case "revoke-key": self = .revokeKey(try form.kindOfKey, id: try form.required("key"))
    case "accept-terms": self = .acceptTerms(version: try form.required("version"))
    case "unsubscribe": self = .unsubscribe
    default: throw OfficeRefusal.nothing
    }
  }
}

extension OfficeForm {
  func required(_ name: String) throws -> String {
    let text = self[name]
    guard !text.isEmpty else { throw OfficeRefusal.badRequest("Fill in: \(name).", at: name) }
    return text
  }

  fileprivate var kindOfCertificate: CertificateKind {
    get throws {
      guard let kind = CertificateKind(rawValue: self["kind"]) else {
        throw OfficeRefusal.badRequest("Choose the kind of certificate.", at: "kind")
      }
      return kind
    }
  }

  fileprivate var kindOfKey: SecretName.Kind {
    get throws {
      guard let kind = SecretName.Kind(rawValue: self["kind"]), MerchantView.keyKinds.contains(kind) else {
        throw OfficeRefusal.badRequest("Choose the kind of key.", at: "kind")
      }
      return kind
    }
  }
}

enum MerchantView {
  static let keyKinds = SecretName.Kind.shared
  /// From this many days on the countdown is a warning.
  private static let warning: Int64 = 45

  /// A time in RFC 3339 as other times of the pages.
  private static func shown(_ time: String?) -> String {
    time.map { Timestamp(rfc3339: $0)?.shown ?? $0 } ?? "–"
  }

  static func values(_ merchant: OfficeMerchant) -> [String: Any] {
    [
      "id": merchant.id.rawValue, "identifier": merchant.identifier, "isDeclared": merchant.isDeclared,
      "isEnabled": merchant.isEnabled, "refusal": merchant.refusal ?? "",
      "state": merchant.refusal.map { "off: \($0)" } ?? merchant.notReady.map { "not ready: \($0)" }
        ?? "takes payments",
    ]
  }

  static func values(_ parts: OfficeMerchantParts, for editor: SettingsEditor) -> [String: Any] {
    [
      "domains": parts.domains.map(values), "certificates": parts.certificates.map(values),
      "hasDomains": !parts.domains.isEmpty, "hasCertificates": !parts.certificates.isEmpty,
      "hasKeys": !parts.keys.isEmpty,
      "keys": parts.keys.map { key in
        [
          "id": key.id, "kind": key.kind.rawValue, "created": shown(key.created), "expires": shown(key.expires),
        ] as [String: Any]
      },
      "terms": parts.terms.map {
        ["event": $0.event, "version": $0.version ?? "–", "actor": $0.actor, "at": shown($0.at)]
      },
      "termsVersion": parts.termsVersion ?? "", "termsWording": parts.termsWording ?? "",
      "settings": parts.settings.map { setting in
        [
          "key": setting.key, "value": setting.value, "meaning": setting.meaning,
          "mayChange": editor == .operator || !setting.isOperators,
        ] as [String: Any]
      },
      "isServedByPlatform": parts.isServedByPlatform, "keyKinds": keyKinds.map(\.rawValue),
      "certificateKinds": CertificateKind.allCases.map(\.rawValue),
    ]
  }

  private static func values(_ domain: OfficeMerchantParts.DomainRow) -> [String: Any] {
    [
      "name": domain.name, "isEnabled": domain.isEnabled, "association": domain.hasAssociation ? "yes" : "missing",
      "registered": shown(domain.registered), "isRegistered": domain.registered != nil,
      "checked": domain.checked.map(shown) ?? "not yet",
      "finding": domain.finding ?? "nothing",
    ]
  }

  private static func values(_ row: OfficeMerchantParts.CertificateRow) -> [String: Any] {
    let isNext = row.state == .next || row.state == .draining
    return [
      "id": row.id, "kind": row.kind.rawValue, "state": row.state.rawValue, "expires": shown(row.expires),
      "left": row.daysLeft.map { $0 < 0 ? "expired" : "\($0) days left" } ?? "–",
      "isLate": row.daysLeft.map { $0 < warning } ?? false, "hash": row.publicKeyHash,
      "hasRequest": row.request != nil, "mayActivate": isNext, "isRequested": row.state == .requested,
      "mayRetire": row.state == .next || row.state == .draining,
    ]
  }
}

extension NewOfficeMerchant {
  fileprivate init(_ form: OfficeForm) throws {
    self.init(
      id: try form.required("id"), identifier: try form.required("identifier"), name: try form.required("name"),
      country: try form.required("country"), currency: try form.required("currency"),
      domains: form["domains"].split { $0 == "," || $0 == " " }.map(String.init),
      isServedByPlatform: form.isChecked("platform"))
  }
}

extension OfficeUser {
  var asEditor: SettingsEditor { everywhere == .administrator ? .operator : .merchant }
}
