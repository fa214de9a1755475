import Administration
import HTTPServing
import HTTPTypes
import Hummingbird
import MerchantIdentity
import Settings
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
    let merchants = try await office.services.merchants.merchants().filter {
      user.role(of: MerchantID($0.id)) != nil
    }
    return try office.pages.page(
      "merchants", "Merchants", call,
      [
        "merchants": merchants.map(MerchantView.values), "isEmpty": merchants.isEmpty,
        "mayAdd": user.everywhere == .administrator,
      ])
  }

  private func add(_ call: OfficeCall) async throws -> Response {
    let (new, reason) = (try MerchantProvisioning.NewMerchant(call.form), try call.form.reason)
    let entry = try call.action(
      "merchant.add", merchant: new.id, subject: new.id, after: "\(new.merchantIdentifier), \(new.displayName)",
      reason: reason)
    try await OfficeAudit.attempt(entry, in: office.database) {
      try await office.services.merchants.add(new, encryptsToPlatform: call.form.isChecked("platform"))
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
    _ = try await office.perform(
      .publishTerms(version: version, wording: wording, graceSeconds: days * 86_400), by: call.user.asEditor, entry)
    return .redirect(to: "/merchants?done=changed", type: .normal)
  }

  /// Takes a merchant that was exported here or on another server.
  private func take(_ call: OfficeCall) async throws -> Response {
    guard let file = call.form.file("merchant"), !file.bytes.isEmpty else {
      throw OfficeRefusal.badRequest("Choose the file of an exported merchant.", at: "merchant")
    }
    let merchant = try MerchantBundle(uploaded: file.bytes)
    let entry = try call.action(
      "merchant.import", merchant: merchant.id, subject: merchant.id, after: merchant.summary,
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
      "merchant.export", merchant: merchant.id, subject: merchant.id, after: "with private keys and secrets",
      reason: reason)
    let bundle = try await OfficeAudit.attempt(entry, in: office.database) {
      try await OfficeRefusal.translating {
        try await office.services.merchants.perform(.export(merchant: merchant.id)).bundle
      }
    }
    return Response(
      status: .ok,
      headers: [
        .contentType: MediaType.json, .contentDisposition: "attachment; filename=\"\(merchant.id).json\"",
      ], body: ResponseBody(byteBuffer: ByteBuffer(bytes: bundle.map(JSONAnswer.bytes) ?? [])))
  }

  /// The page of what Apple knows of the merchant as one of the platform's.
  private func showRegistration(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let known = try await OfficeRefusal.translating {
      try await office.services.merchants.registration(of: MerchantID(merchant.id))
    }
    var values: [String: Any] = ["merchantID": merchant.id, "isKnown": known != nil]
    if let known {
      values["name"] = known.name
      values["encryptTo"] = known.encryptTo
      values["domains"] = known.domains
    }
    return try office.pages.page("registration", "\(merchant.id) at Apple", call, values)
  }

  /// - Throws: ``OfficeRefusal`` for one that is not there or that the person may not see.
  private func merchant(_ call: OfficeCall, _ role: Role) async throws -> StoredMerchantReport {
    let id = MerchantID(call.parameter("merchant"))
    try call.require(role, of: id)
    guard let known = try await office.services.merchants.merchant(id) else {
      throw OfficeRefusal.nothing
    }
    return known
  }

  private func show(_ call: OfficeCall) async throws -> Response { try await show(call, MerchantAnswer()) }

  /// - Parameter change: what the answer shows of a change that was made.
  private func show(_ call: OfficeCall, _ change: MerchantAnswer) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let (id, merchants) = (MerchantID(merchant.id), office.services.merchants)
    let parts = try await merchants.parts(of: id)
    var values = MerchantView.values(merchant)
    values.merge(MerchantView.values(parts, call.format)) { _, new in new }
    var (settings, notes) = (MerchantAdministration.EditableSettings?.none, parts.notes)
    do { settings = try await merchants.editableSettings(of: id) } catch {
      notes.append("The settings cannot be read: \(ErrorWords.of(error))")
    }
    values.merge(MerchantView.values(settings, for: try call.user.asEditor)) { _, new in new }
    let isAdministrator = try call.user.role(of: id) == .administrator
    values["merchantID"] = merchant.id
    values["isPlayed"] = office.settings.isSimulated
    values["mayRegister"] = office.settings.isSimulated || settings?.isServedByPlatform == true
    values["mayChange"] = isAdministrator && !merchant.isDeclared
    values["mayAcceptTerms"] = isAdministrator && parts.terms?.version != nil
    let ends = (change.replaced ?? []).map { "The key \($0.id) is accepted until \($0.expires ?? "–")." }
    values["notes"] = notes + change.notes + ends
    if let key = change.newKey, let secret = key.secret { values["newKey"] = ["id": key.id, "secret": secret] }
    return try office.pages.page("merchant", "Merchant \(merchant.id)", call, values)
  }

  /// The certificate request, to be uploaded at Apple's.
  private func download(_ call: OfficeCall) async throws -> Response {
    let merchant = try await merchant(call, .viewer)
    let id = call.parameter("certificate")
    guard let row = try await certificate(id, of: MerchantID(merchant.id)), let request = row.request else {
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
    let id = MerchantID(merchant.id)
    let change = try MerchantCall(call.parameter("change"), call.form, of: merchant.id, by: call.user.name)
    // A certificate is named by its own id: one of another merchant's is not there.
    if let certificate = change.certificate, try await self.certificate(certificate, of: id) == nil {
      throw OfficeRefusal.nothing
    }
    guard let audited = change.audited else { throw OfficeRefusal.nothing }
    let entry = try call.action(
      audited.name, merchant: merchant.id, subject: merchant.id,
      before: await office.services.merchants.parts(of: id).auditedState, after: audited.object, reason: reason)
    let answer = try await office.perform(change, by: call.user.asEditor, entry)
    // A new secret is shown in this answer alone.
    if answer.newKey != nil || !answer.notes.isEmpty { return try await show(call, answer) }
    return .redirect(to: "/merchants/\(merchant.id)?done=changed", type: .normal)
  }

  /// Nil where the merchant has none of this id.
  private func certificate(_ id: String, of merchant: MerchantID) async throws -> StoredCertificateReport? {
    let rows = try await OfficeRefusal.translating {
      try await office.services.merchants.perform(.listCertificates(merchant: merchant.rawValue)).certificates
    }
    return rows?.first { $0.id.utf8.elementsEqual(id.utf8) }
  }
}

extension BackOffice {
  /// Changes a merchant, with an entry before and one that says what came of it.
  func perform(
    _ call: MerchantCall, by editor: SettingsEditor, _ asked: OfficeAction
  ) async throws -> MerchantAnswer {
    try await OfficeAudit.attempt(asked, in: database, outcome: \.outcome) {
      try await services.merchants.perform(call, by: editor)
    }
  }
}

extension MerchantCall {
  /// How many seconds other keys go on after a rotation.
  private static let overlap: Int64 = 86_400

  /// - Parameters:
  ///   - name: of the form.
  ///   - actor: who sends it.
  fileprivate init(_ name: String, _ form: OfficeForm, of merchant: String, by actor: String) throws {
    switch name {
    case "enable", "disable":
      let domain = form["domain"]
      self = .setEnabled(name == "enable", merchant: merchant, domain: domain.isEmpty ? nil : domain)
    case "add-domain":
      let file = form["association"]
      self = .addDomain(
        try form.required("domain"), merchant: merchant,
        associationBase64: file.isEmpty ? nil : Base64.encode(Array(file.utf8)))
    case "remove-domain": self = .removeDomain(try form.required("domain"), merchant: merchant)
    case "check-domain": self = .checkDomain(try form.required("domain"), merchant: merchant)
    case "register-domain": self = .registerDomain(try form.required("domain"), merchant: merchant)
    case "unregister-domain":
      self = .unregisterDomain(try form.required("domain"), merchant: merchant, reason: try form.reason)
    case "edit": self = .edit(merchant: merchant, settings: [try form.required("setting"): form["value"]])
    case "sign-certificate": self = .signCertificate(id: try form.required("certificate"), merchant: merchant)
    case "request-certificate":
      self = .requestCertificate(merchant: merchant, kind: try form.kindOfCertificate, isMainlandChina: false)
    case "import-certificate":
      let kind = try form.kindOfCertificate
      self = .importCertificate(pasted: Array(try form.required("certificate").utf8), kind, merchant: merchant)
    case "activate-certificate": self = .activateCertificate(id: try form.required("certificate"))
    case "retire-certificate": self = .retireCertificate(id: try form.required("certificate"))
    case "add-key": self = .addKey(merchant: merchant, kind: try form.kindOfKey)
    case "rotate-key":
      self = .rotateKey(merchant: merchant, kind: try form.kindOfKey, overlapSeconds: Self.overlap)
    case "revoke-key":
      self = .revokeKey(merchant: merchant, kind: try form.kindOfKey, id: try form.required("key"))
    case "accept-terms":
      self = .acceptTerms(merchant: merchant, version: try form.required("version"), actor: actor)
    case "unsubscribe": self = .unsubscribe(merchant: merchant, actor: actor)
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

  /// A time in RFC 3339 as other times of the pages, see ``OfficeFormat/moment(_:)``; none for nil.
  private static func moments(_ time: String?, _ format: OfficeFormat) -> [[String: Any]] {
    time.flatMap { Timestamp(rfc3339: $0) }.map { [format.moment($0)] } ?? []
  }

  static func values(_ merchant: StoredMerchantReport) -> [String: Any] {
    // Why a merchant of the store cannot be served says more than that it is not.
    let refusal = merchant.problem ?? merchant.refusal
    return [
      "id": merchant.id, "identifier": merchant.merchantIdentifier, "isDeclared": merchant.isDeclared,
      "isEnabled": merchant.enabled, "refusal": refusal ?? "",
      "state": refusal.map { "off: \($0)" } ?? merchant.notReady.map { "not ready: \($0)" } ?? "takes payments",
    ]
  }

  /// - Parameter parts: the merchant's domains, certificates, keys and terms.
  static func values(_ parts: MerchantAnswer, _ format: OfficeFormat) -> [String: Any] {
    let (domains, certificates, keys) = (parts.domains ?? [], parts.certificates ?? [], parts.keys ?? [])
    return [
      "domains": domains.map { values($0, format) }, "certificates": certificates.map { values($0, format) },
      "place": format.place, "hasDomains": !domains.isEmpty,
      "hasCertificates": !certificates.isEmpty, "hasKeys": !keys.isEmpty,
      "keys": keys.map { key in
        [
          "id": key.id, "kind": key.kind.rawValue,
          "scopes": key.kind == .apiKey ? key.scopes?.map(\.rawValue).joined(separator: ", ") ?? "all" : "–",
          "created": moments(key.created, format), "expires": moments(key.expires, format),
        ] as [String: Any]
      },
      "terms": (parts.terms?.events ?? []).map {
        [
          "event": $0.event.rawValue, "version": $0.version ?? "–", "actor": $0.actor, "at": moments($0.at, format),
        ] as [String: Any]
      },
      "termsVersion": parts.terms?.version ?? "", "termsWording": parts.terms?.wording ?? "",
      "keyKinds": keyKinds.map(\.rawValue), "certificateKinds": CertificateKind.allCases.map(\.rawValue),
    ]
  }

  /// - Parameter settings: nil for a declared merchant, and where they cannot be read.
  static func values(
    _ settings: MerchantAdministration.EditableSettings?, for editor: SettingsEditor
  ) -> [String: Any] {
    [
      "settings": (settings?.rows ?? []).map { setting in
        [
          "key": setting.key, "value": setting.value, "meaning": setting.meaning,
          "mayChange": editor == .operator || !setting.isOperators,
        ] as [String: Any]
      },
      "isServedByPlatform": settings?.isServedByPlatform == true,
    ]
  }

  private static func values(_ domain: StoredDomainReport, _ format: OfficeFormat) -> [String: Any] {
    [
      "name": domain.domain, "isEnabled": domain.enabled, "association": domain.hasAssociation ? "yes" : "missing",
      "registered": moments(domain.registeredAt, format), "isRegistered": domain.registeredAt != nil,
      "checked": moments(domain.checkedAt, format), "finding": domain.finding ?? "nothing",
    ]
  }

  private static func values(_ row: StoredCertificateReport, _ format: OfficeFormat) -> [String: Any] {
    [
      "id": row.id, "serialNumber": row.serialNumber ?? "–", "kind": row.kind.rawValue, "state": row.state.rawValue,
      "expires": moments(row.expires, format),
      "left": row.daysLeft.map { $0 < 0 ? "expired" : "\($0) days left" } ?? "–",
      "isLate": row.daysLeft.map { $0 < warning } ?? false, "hasRequest": row.request != nil,
      "isRequested": row.state == .requested, "mayActivateOrRetire": row.state == .next || row.state == .draining,
    ]
  }
}

extension MerchantProvisioning.NewMerchant {
  fileprivate init(_ form: OfficeForm) throws {
    self.init(
      id: try form.required("id"), merchantIdentifier: try form.required("identifier"),
      displayName: try form.required("name"), countryCode: try form.required("country"),
      currencyCode: try form.required("currency"),
      domains: form["domains"].split { $0 == "," || $0 == " " }.map(String.init))
  }
}

extension OfficeUser {
  var asEditor: SettingsEditor { everywhere == .administrator ? .operator : .merchant }
}
