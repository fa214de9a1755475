package import MerchantIdentity
package import TenderPayments

/// How merchants are read and changed: the use cases behind `tender merchant`, `certificate`, `domain` and `secret`. Every
/// refusal is an ``OfficeRefusal``.
package protocol MerchantUseCases: Sendable {
  func merchants() async throws -> [OfficeMerchant]
  /// Nil where it is not there.
  func merchant(_ id: MerchantID) async throws -> OfficeMerchant?
  /// Domains, certificates, keys and terms of one merchant.
  func parts(of merchant: MerchantID) async throws -> OfficeMerchantParts
  func perform(_ change: MerchantChange, on merchant: MerchantID, actor: String) async throws -> MerchantChangeResult
  /// A merchant in the store, without certificates.
  func add(_ merchant: NewOfficeMerchant, actor: String) async throws
  /// What Apple knows of a merchant that this platform registered; nil for nothing.
  func registration(of merchant: MerchantID) async throws -> OfficeRegistration?
  func publishTerms(_ version: String, wording: String, graceDays: Int64) async throws
  /// A merchant of the store as a file, with its private keys and secrets.
  func export(_ merchant: MerchantID) async throws -> [UInt8]
  /// Takes an exported merchant into the store.
  func take(_ merchant: ExportedMerchant) async throws
  /// Reads the file of an export; nothing is changed.
  func exported(_ file: [UInt8]) throws -> ExportedMerchant
}

/// A merchant on its way into the store.
package struct ExportedMerchant: Sendable {
  package let id: MerchantID
  /// Without secrets, for the audit chain: how many domains, certificates and keys it has.
  package let summary: String
  package let file: [UInt8]

  package init(id: MerchantID, summary: String, file: [UInt8]) {
    (self.id, self.summary, self.file) = (id, summary, file)
  }
}

package struct NewOfficeMerchant: Sendable, Hashable {
  package let id: String
  package let identifier: String
  package let name: String
  package let country: String
  package let currency: String
  package let domains: [String]
  /// Whether its payment tokens are encrypted to the platform's key, so that the platform registers its domains.
  package let isServedByPlatform: Bool

  package init(
    id: String, identifier: String, name: String, country: String, currency: String, domains: [String],
    isServedByPlatform: Bool
  ) {
    (self.id, self.identifier, self.name) = (id, identifier, name)
    (self.country, self.currency, self.domains) = (country, currency, domains)
    self.isServedByPlatform = isServedByPlatform
  }
}

/// A merchant as Apple knows it.
package struct OfficeRegistration: Sendable, Hashable {
  package let name: String
  package let domains: [String]
  package let encryptTo: String

  package init(name: String, domains: [String], encryptTo: String) {
    (self.name, self.domains, self.encryptTo) = (name, domains, encryptTo)
  }
}

/// Which settings a user may change: all, or those of a merchant.
package enum SettingsEditor: Sendable, Hashable {
  /// An administrator of the merchant: those that are the merchant's.
  case merchant
  /// An administrator of every merchant: the operator's too.
  case `operator`
}

/// What an administrator changes about a merchant.
package enum MerchantChange: Sendable, Hashable {
  /// Apple Pay on or off, for the merchant or one of its domains.
  case setEnabled(Bool, domain: String?)
  /// - Parameter association: the file that Apple gave for the domain.
  case addDomain(String, association: [UInt8]?)
  case removeDomain(String)
  /// Fetches the association file as Apple does, and records what was found.
  case checkDomain(String)
  /// With Apple, in the platform's name; in `simulated` a merchant of its own at the simulated developer portal.
  case registerDomain(String)
  /// - Parameter reason: for Apple.
  case unregisterDomain(String, reason: String)
  case requestCertificate(CertificateKind)
  case importCertificate(CertificateKind, [UInt8])
  /// Has the simulated developer portal sign a request, as a person does at Apple's, and takes the certificate.
  case signCertificate(id: String)
  case activateCertificate(id: String)
  case retireCertificate(id: String)
  case addKey(SecretName.Kind)
  /// A new key; the others end after a day.
  case rotateKey(SecretName.Kind)
  case revokeKey(SecretName.Kind, id: String)
  case acceptTerms(version: String)
  case unsubscribe
  /// A text by setting; an empty one stands for the default.
  case edit([String: String], by: SettingsEditor)
  /// Gives a webhook endpoint another address, or the merchant another endpoint; an empty URL removes it.
  case setEndpoint(String, url: String)

  /// Stable, for the audit chain.
  package var name: String {
    switch self {
    case .setEnabled(let isEnabled, _): isEnabled ? "merchant.enable" : "merchant.disable"
    case .addDomain: "domain.add"
    case .removeDomain: "domain.remove"
    case .checkDomain: "domain.check"
    case .registerDomain: "domain.register"
    case .unregisterDomain: "domain.unregister"
    case .requestCertificate: "certificate.request"
    case .importCertificate: "certificate.import"
    case .signCertificate: "certificate.sign"
    case .edit: "merchant.edit"
    case .setEndpoint: "webhook.address"
    case .activateCertificate: "certificate.activate"
    case .retireCertificate: "certificate.retire"
    case .addKey: "key.add"
    case .rotateKey: "key.rotate"
    case .revokeKey: "key.revoke"
    case .acceptTerms: "terms.accept"
    case .unsubscribe: "terms.unsubscribe"
    }
  }

  /// What it is about; never a secret.
  package var object: String {
    switch self {
    case .setEnabled(_, let domain): domain ?? ""
    case .addDomain(let domain, _), .removeDomain(let domain), .checkDomain(let domain), .registerDomain(let domain),
      .unregisterDomain(let domain, _):
      domain
    case .requestCertificate(let kind), .importCertificate(let kind, _): kind.rawValue
    case .activateCertificate(let id), .retireCertificate(let id), .signCertificate(let id): id
    case .edit(let settings, _):
      settings.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }.joined(separator: "; ")
    case .setEndpoint(let name, let url): "\(name)=\(url)"
    case .addKey(let kind), .rotateKey(let kind): kind.rawValue
    case .revokeKey(let kind, let id): "\(kind.rawValue) \(id)"
    case .acceptTerms(let version): version
    case .unsubscribe: ""
    }
  }
}

package struct MerchantChangeResult: Sendable {
  /// A key's secret, shown once: its id and itself.
  package var secret: (id: String, text: String)?
  package var notes: [String] = []

  package init(secret: (id: String, text: String)? = nil, notes: [String] = []) {
    (self.secret, self.notes) = (secret, notes)
  }

  /// For the audit chain, without the secret.
  package var outcome: String {
    let parts = (secret.map { ["key \($0.id)"] } ?? []) + notes
    return parts.isEmpty ? "done" : parts.joined(separator: "; ")
  }
}

package struct OfficeMerchant: Sendable {
  package let id: MerchantID
  package let identifier: String
  /// Whether a folder of the configuration declares it, which the office only reads.
  package let isDeclared: Bool
  package let isEnabled: Bool
  /// Nil where it may take payments, else the code of the refusal.
  package let refusal: String?
  /// What it lacks to take payments; nil where nothing.
  package let notReady: String?

  package init(
    id: MerchantID, identifier: String, isDeclared: Bool, isEnabled: Bool, refusal: String?, notReady: String? = nil
  ) {
    (self.id, self.identifier, self.isDeclared) = (id, identifier, isDeclared)
    (self.isEnabled, self.refusal, self.notReady) = (isEnabled, refusal, notReady)
  }
}

package struct OfficeMerchantParts: Sendable {
  package struct DomainRow: Sendable {
    package let name: String
    package let isEnabled: Bool
    package let hasAssociation: Bool
    package let registered: String?
    package let checked: String?
    package let finding: String?

    package init(
      name: String, isEnabled: Bool, hasAssociation: Bool, registered: String?, checked: String?, finding: String?
    ) {
      (self.name, self.isEnabled, self.hasAssociation) = (name, isEnabled, hasAssociation)
      (self.registered, self.checked, self.finding) = (registered, checked, finding)
    }
  }

  package struct CertificateRow: Sendable {
    package let id: String
    package let kind: CertificateKind
    package let state: CertificateState
    package let expires: String?
    /// Whole days; negative after the end.
    package let daysLeft: Int64?
    package let publicKeyHash: String
    /// PKCS #10, PEM.
    package let request: String?

    package init(
      id: String, kind: CertificateKind, state: CertificateState, expires: String?, daysLeft: Int64?,
      publicKeyHash: String, request: String?
    ) {
      (self.id, self.kind, self.state, self.expires) = (id, kind, state, expires)
      (self.daysLeft, self.publicKeyHash, self.request) = (daysLeft, publicKeyHash, request)
    }
  }

  package struct KeyRow: Sendable {
    package let id: String
    package let kind: SecretName.Kind
    package let created: String
    package let expires: String?

    package init(id: String, kind: SecretName.Kind, created: String, expires: String?) {
      (self.id, self.kind, self.created, self.expires) = (id, kind, created, expires)
    }
  }

  package struct TermsRow: Sendable {
    package let event: String
    package let version: String?
    package let actor: String
    package let at: String

    package init(event: String, version: String?, actor: String, at: String) {
      (self.event, self.version, self.actor, self.at) = (event, version, actor, at)
    }
  }

  package var domains: [DomainRow] = []
  package var certificates: [CertificateRow] = []
  package var keys: [KeyRow] = []
  package var terms: [TermsRow] = []
  /// The terms in force; nil where none are published.
  package var termsVersion: String?
  package var termsWording: String?
  package var notes: [String] = []
  /// The settings that can be changed; empty for a declared merchant.
  package var settings: [SettingRow] = []
  /// Whether the platform registers its domains.
  package var isServedByPlatform = false

  package struct SettingRow: Sendable {
    package let key: String
    /// As it is typed; empty for the default.
    package let value: String
    package let meaning: String
    /// Whether the operator alone sets it.
    package let isOperators: Bool

    package init(key: String, value: String, meaning: String, isOperators: Bool) {
      (self.key, self.value, self.meaning, self.isOperators) = (key, value, meaning, isOperators)
    }
  }

  /// In one line, for the audit chain.
  package var auditedState: String {
    let lists = [
      domains.map { $0.name + ($0.isEnabled ? "" : " off") },
      certificates.map { "\($0.kind.rawValue) \($0.id) \($0.state.rawValue)" },
      keys.map { "\($0.kind.rawValue) \($0.id)" },
    ]
    return lists.map { $0.joined(separator: ", ") }.joined(separator: "; ")
  }

  package init() {}
}
