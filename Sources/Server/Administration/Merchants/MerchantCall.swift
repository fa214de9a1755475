package import MerchantIdentity
package import TenderPayments

/// What the pages of merchants and `tender merchant`, `certificate`, `domain` and `secret` ask: the running server, or the
/// store where none runs.
package enum MerchantCall: Codable, Sendable {
  case list
  /// A new merchant.
  case add(MerchantBundle)
  /// One that was exported, or that a folder has.
  case take(MerchantBundle)
  /// A text by setting; an empty one stands for the default.
  case edit(merchant: String, settings: [String: String])
  /// Adds or changes one endpoint of `webhooks`; an empty URL removes it.
  case setEndpoint(String, url: String, merchant: String)
  case export(merchant: String)
  /// Refused while a payment of the merchant's is open.
  case remove(merchant: String)
  /// Where the server is, and whose merchants it takes.
  case showServer
  /// What signs calls in the merchant's name: one of its API keys that may make payments.
  case showSigner(merchant: String)
  /// Switches Apple Pay on or off: for the merchant, or for one of its domains.
  case setEnabled(Bool, merchant: String, domain: String?)

  case addDomain(String, merchant: String, associationBase64: String?)
  case removeDomain(String, merchant: String)
  case listDomains(merchant: String?)
  /// Fetches the association file as Apple does, and records what was found.
  case checkDomain(String, merchant: String)
  /// With Apple, in the platform's name; in `simulated` a merchant of its own at the simulated developer portal.
  case registerDomain(String, merchant: String)
  /// - Parameter reason: for Apple.
  case unregisterDomain(String, merchant: String, reason: String)
  /// What a check of a domain found; nil for nothing.
  case noteCheck(domain: String, merchant: String, finding: String?)
  case noteRegistration(domains: [String], merchant: String, isRegistered: Bool)

  case requestCertificate(merchant: String, kind: CertificateKind, isMainlandChina: Bool)
  case importCertificate(merchant: String, kind: CertificateKind?, certificatesBase64: [String], privateKeyPEM: String?)
  /// Has the simulated developer portal sign a request, as a person does at Apple's, and takes the certificate.
  case signCertificate(id: String, merchant: String)
  case listCertificates(merchant: String?)
  case activateCertificate(id: String)
  case retireCertificate(id: String)
  /// - Parameter withKey: whether the private key is wanted too.
  case exportCertificate(id: String, withKey: Bool)

  /// - Parameters:
  ///   - scopes: what an API key may be used for; nil for everything.
  ///   - expires: RFC 3339; nil for never.
  case addKey(merchant: String, kind: SecretName.Kind, scopes: Set<APIKeyScope>? = nil, expires: String? = nil)
  /// A new key in the place of others, which end after the overlap.
  ///
  /// - Parameter scopes: whose keys are replaced, of API keys with several sets of scopes; nil for those for everything.
  case rotateKey(merchant: String, kind: SecretName.Kind, overlapSeconds: Int64, scopes: Set<APIKeyScope>? = nil)
  case revokeKey(merchant: String, kind: SecretName.Kind, id: String)
  case listKeys(merchant: String?)
  /// Seals the secrets of former keys of the store under the current one.
  case reseal
  case sealing

  case publishTerms(version: String, wording: String, graceSeconds: Int64)
  case acceptTerms(merchant: String, version: String, actor: String)
  case unsubscribe(merchant: String, actor: String)
  case showTerms(merchant: String?)

  /// A payment link that the command line makes or cancels by the platform API: for the audit chain alone.
  ///
  /// - Parameter end: nil before it is done.
  case noteLink(LinkAction, merchant: String, end: AttemptEnd?, words: String)
}

package enum LinkAction: String, Codable, Sendable {
  case create = "link.create"
  case cancel = "link.cancel"
}

/// The answer to a ``MerchantCall``; which members it has follows from the call.
package struct MerchantAnswer: Codable, Sendable {
  package var merchants: [StoredMerchantReport]?
  package var domains: [StoredDomainReport]?
  package var certificates: [StoredCertificateReport]?
  package var keys: [SharedKeyReport]?
  /// The keys in whose place a new one is, with their ends.
  package var replaced: [SharedKeyReport]?
  package var terms: TermsReport?
  package var bundle: MerchantBundle?
  package var server: ServerPlaceReport?
  package var signer: SignerReport?
  /// How many secrets are sealed under each key of the store.
  package var sealed: [String: Int]?
  /// PEM.
  package var privateKeyPEM: String?
  /// What the operator should know.
  package var notes: [String] = []

  package init(
    merchants: [StoredMerchantReport]? = nil, domains: [StoredDomainReport]? = nil,
    certificates: [StoredCertificateReport]? = nil, keys: [SharedKeyReport]? = nil, terms: TermsReport? = nil,
    bundle: MerchantBundle? = nil, server: ServerPlaceReport? = nil, signer: SignerReport? = nil,
    sealed: [String: Int]? = nil, notes: [String] = []
  ) {
    (self.merchants, self.domains, self.certificates) = (merchants, domains, certificates)
    (self.keys, self.terms, self.bundle) = (keys, terms, bundle)
    (self.server, self.signer, self.sealed, self.notes) = (server, signer, sealed, notes)
  }

  /// A key that was made, with its secret, which is shown once; nil where none was.
  package var newKey: SharedKeyReport? { keys?.first.flatMap { $0.secret == nil ? nil : $0 } }
}

package struct ServerPlaceReport: Codable, Sendable {
  /// How browsers reach it.
  package let publicURL: String
  /// Nil outside `simulated`.
  package let sandboxURL: String?
}

/// Who signs calls of the platform API, and for which server.
package struct SignerReport: Codable, Sendable, CustomStringConvertible, CustomReflectable {
  package let keyID: String
  package let secret: String
  /// ISO 4217, of the merchant.
  package let currency: Currency
  /// How browsers reach the server.
  package let publicURL: String

  package var description: String { "API key \(keyID)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

package struct StoredMerchantReport: Codable, Sendable {
  package let id: String
  package let merchantIdentifier: String
  /// `store`, or `folder` for a merchant of the configuration.
  package let origin: String
  /// Whether a folder of the configuration declares it, which commands and pages only read.
  package var isDeclared: Bool { origin == "folder" }
  package let enabled: Bool
  /// Nil where it may take payments, else the code of the refusal.
  package let refusal: String?
  /// Why a merchant of the store is left out, and the others go on; nil where it is served.
  package let problem: String?
  /// What it lacks to take payments; nil where nothing.
  package let notReady: String?
  package let domains: [String]
  /// Those in use, each with the moment until which it is valid.
  package let certificates: [String]
}

package struct StoredDomainReport: Codable, Sendable {
  package let domain: String
  package let merchant: String
  package let enabled: Bool
  package let hasAssociation: Bool
  package let associationBase64: String?
  package let registeredAt: String?
  package let checkedAt: String?
  package let finding: String?
}

package struct StoredCertificateReport: Codable, Sendable {
  package let id: String
  package let merchant: String
  package let kind: CertificateKind
  package let algorithm: CertificateAlgorithm
  package let state: CertificateState
  package let expires: String?
  /// Whole days; negative after the end.
  package let daysLeft: Int64?
  /// In base64, as payment tokens name it.
  package let publicKeyHash: String
  /// PKCS #10, PEM.
  package let request: String?
  /// PEM.
  package let certificate: String?
  /// In upper-case hexadecimal, as `openssl x509 -noout -serial` prints it; nil for a request.
  package let serialNumber: String?
}

/// An API, webhook or callback key. Its secret is shown once, in the answer to its making.
package struct SharedKeyReport: Codable, Sendable {
  package let merchant: String
  package let kind: SecretName.Kind
  package let id: String
  package let created: String
  package let expires: String?
  /// What an API key may do; nil for everything.
  package let scopes: [APIKeyScope]?
  package let lastUsed: String?
  package let secret: String?
}

package struct TermsReport: Codable, Sendable {
  package struct Event: Codable, Sendable {
    package let merchant: String
    package let event: TermsEvent.Kind
    package let version: String?
    package let actor: String
    package let at: String
  }

  /// Nil where none are published.
  package let version: String?
  package let wording: String?
  package let published: String?
  package let required: String?
  package let events: [Event]
}
