import Administration
import Crypto
import Doctor
import Foundation
import HTTPTransport
import Mail
import MerchantIdentity
import Settings
import Storage
import StrictJSON
import SwiftASN1
import TenderPayments
import TenderServer
import TenderTesting
import TokenIssuer
import X509

/// A healthy configuration with one merchant, whose site, network, clock and machine are values. A test breaks one thing
/// and runs the doctor.
struct Clinic {
  let directory: String
  var now: Timestamp
  var yaml: [String]
  var merchantYAML: [String]
  var addresses: [String: [ResolvedAddress]]
  var handshakes: [String: TLSHandshake]
  /// By URL; anything else refuses the connection.
  var answers: [String: InboundResponse]
  var gateway = InboundResponse(status: 200, body: Array("{\"merchantSessionIdentifier\":\"1\"}".utf8))
  /// What every proxy answers; nil where it connects.
  var proxyRefusal: ProxyRefusal?
  var mail = SMTPResult(.done, "250 2.0.0 OK")
  var facts: [String: Any]?
  var factsProblem: String?
  var serverRefusal: String?
  var secretsProblem: String?
  var socketAnswers = true
  var disk: (free: Int64, all: Int64) = (500 << 30, 1_000 << 30)
  var openFiles = 65_536
  var logBytes: Int64 = 4_096

  var merchant: String { directory + "/merchants/harbour" }

  static let origin = "https://shop.example"
  static let publicURL = "http://pay.example"
  static let association = Array(String(repeating: "MIIQabcd0123", count: 700).utf8)

  init() throws {
    let material = try Self.material.get()
    directory = FileManager.default.temporaryDirectory.appending(path: "tender-doctor-\(UUID().uuidString)").path
    now = WallClock.system.now()
    yaml = [
      "environment: simulated", "directory: \(directory)", "sandboxURL: http://127.0.0.1:8402",
      "publicURL: \(Self.publicURL)",
      "mail: {host: mail.example, from: tender@pay.example, recipients: [operator@pay.example]}",
    ]
    merchantYAML = [
      "merchantIdentifier: merchant.test.harbour", "displayName: Harbour Kitchen", "countryCode: IE",
      "currencyCode: EUR", "domains: [shop.example]", "touchIcons: [\"https://shop.example/icon.png\"]",
      "webhooks: [\"orders=https://hooks.example/tender\"]", "routes: [\"sandbox\"]",
    ]
    let there = [ResolvedAddress("93.184.215.14", isPublic: true)]
    addresses = ["shop.example": there, "hooks.example": there, "apple-pay-gateway.apple.com": there]
    let site = try SiteCertificate(names: ["shop.example"], days: 300, at: now)
    let hooks = try SiteCertificate(names: ["hooks.example"], days: 300, at: now)
    handshakes = [
      "shop.example": .init(version: "TLSv1.3", chain: [site.der, site.issuer], trustProblem: nil),
      "hooks.example": .init(version: "TLSv1.3", chain: [hooks.der, hooks.issuer], trustProblem: nil),
    ]
    answers = [:]
    try write(material)
    facts = Self.facts(keys: [Base64.encode(material.publicKeyHash)])
    answer()
  }

  private static let paths = [
    "/.well-known/apple-developer-merchantid-domain-association",
    "/.well-known/apple-developer-merchantid-domain-association.txt",
  ]

  /// The site and the server as they ought to be.
  private mutating func answer() {
    for path in Self.paths { answers[Self.origin + path] = .init(status: 200, body: Self.association) }
    answers[Self.origin + "/"] = .init(status: 200)
    answers[Self.origin + "/icon.png"] = .init(status: 200)
    answers[Self.publicURL + "/healthz"] = .init(status: 200)
    answers[Self.publicURL + "/applepay/metadata"] = .init(
      status: 200, headers: [HTTPField("Access-Control-Allow-Origin", Self.origin)],
      body: Array("{\"merchantIdentifier\":\"merchant.test.harbour\"}".utf8))
    let sandbox: JSONValue = [
      "rootPEM": "r", "tlsRootPEM": "t", "gatewayURL": "https://localhost:8403", "acquirerKey": "k",
    ]
    answers["http://127.0.0.1:8402/sandbox/ca.json"] = .init(
      status: 200, headers: [HTTPField("Date", Self.date(now))], body: sandbox.serialized())
  }

  private func write(_ material: Material) throws {
    for folder in ["processing", "association", "api-keys", "webhook-keys"] {
      try PrivateFile.makeFolder("\(merchant)/\(folder)")
    }
    try text(material.identity.pem, "identity.pem")
    try secret(material.identity.key, "identity.key")
    try text(material.processing.pem, "processing/1.pem")
    try secret(material.processing.key, "processing/1.key")
    try text(String(decoding: Self.association, as: UTF8.self), "association/shop.example.txt")
    try secret(String(repeating: "a", count: 64), "api-keys/k1.secret")
    try secret(String(repeating: "b", count: 64), "webhook-keys/w1.secret")
    try PrivateFile.write("", to: directory + "/tender.db")
  }

  static func facts(keys: [String], state: String = "active") -> [String: Any] {
    [
      "isRunning": true, "openCircuits": [String](), "openFiles": 65_536,
      "leftOut": [[String: String]](),
      "lastRecovery": WallClock.system.now().microseconds,
      "routes": [["route": "sandbox", "credentials": "accepted"]],
      "keys": keys.map { ["merchant": "harbour", "publicKeyHash": $0, "version": "EC_v1", "state": state] },
      "store": store(),
    ]
  }

  static func store(_ changes: [String: Any] = [:]) -> [String: Any] {
    let usual: [String: Any] = [
      "quickCheck": "ok", "missingMigrations": [String](), "waitingContractions": [String](),
      "unknownPayments": 0, "oldestUnknownSeconds": 0,
      "alarmedPayments": 0, "waitingWebhooks": 0, "deadWebhooks": 0, "oldestWebhookSeconds": 0,
      "waitingMails": 0, "deadMails": 0, "oldestMailSeconds": 0, "storedMerchants": 0,
      "closedRoutes": [String](), "waitingAgreements": 0, "retention": [String: Int64](),
      "lostNotifications": [String](),
    ]
    return usual.merging(changes) { $1 }
  }

  /// What a PostgreSQL says that is as it ought to be.
  static var database: [String: Any] {
    [
      "version": 150_013, "unsafeSettings": [String](), "synchronousStandbys": "ANY 1 (pg1, pg2)", "standbys": 2,
      "oldestTransactionMilliseconds": 3, "isEncrypted": true, "isLocal": false, "mayChangeTables": false,
    ]
  }
}

extension Clinic {
  /// Writes the two YAML files, examines, and removes everything.
  func examine(until: Timestamp? = nil) async throws -> DoctorReport {
    defer { try? FileManager.default.removeItem(atPath: directory) }
    if FileManager.default.fileExists(atPath: merchant) {
      try text(merchantYAML.joined(separator: "\n"), "merchant.yaml")
    }
    let file = directory + "/tender.yaml"
    try (yaml.joined(separator: "\n") + "\n").write(toFile: file, atomically: true, encoding: .utf8)
    let facts = try self.facts.map {
      try JSONDecoder().decode(ServerFacts.self, from: JSONSerialization.data(withJSONObject: $0))
    }
    let doctor = Doctor(
      try DoctorSubject.read(file: file, variables: [:]), system, facts: facts, factsProblem: factsProblem,
      serverRefusal: serverRefusal, secretsProblem: secretsProblem, until: until)
    return await doctor.run()
  }

  private var system: DoctorSystem {
    DoctorSystem(clock: WallClock { [now] in now }, network: network, machine: machine)
  }

  private var network: DoctorNetwork {
    let sender = HTTPSender { [answers] request, _ throws(TransportError) in
      guard let answer = answers[request.url] else { throw .notSent("connection refused") }
      return answer
    }
    return DoctorNetwork(
      resolve: { [addresses] in addresses[$0] ?? [] },
      handshake: { [handshakes] host, _ in
        guard let handshake = handshakes[host] else { throw TransportError.notSent("connection refused") }
        return handshake
      }, proxy: { [proxyRefusal] _, _, _ in proxyRefusal }, plain: sender, apple: sender, guarded: sender,
      identified: { [gateway] _, _ in HTTPSender { _, _ in gateway } },
      mail: { [mail] _ in mail })
  }

  private var machine: DoctorMachine {
    let live = DoctorMachine.live
    return DoctorMachine(
      mode: live.mode, isPrivate: live.isPrivate,
      size: { [logBytes] path in path.hasSuffix("-wal") ? logBytes : live.size(path) }, disk: { [disk] _ in disk },
      openFiles: { [openFiles] in openFiles },
      socketAnswers: { [socketAnswers] _ in socketAnswers })
  }

  func text(_ text: String, _ name: String) throws { try MerchantProvisioning.write(text, to: "\(merchant)/\(name)") }
  func secret(_ text: String, _ name: String) throws { try PrivateFile.write(text, to: "\(merchant)/\(name)") }
  func remove(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(merchant)/\(name)") }
  func chmod(_ mode: Int, _ path: String) throws {
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
  }

  func copy(_ name: String, _ other: String) throws {
    try FileManager.default.copyItem(atPath: "\(merchant)/\(name)", toPath: "\(merchant)/\(other)")
  }

  /// Another merchant that is this one in every file.
  func double() throws {
    try text(merchantYAML.joined(separator: "\n"), "merchant.yaml")
    try FileManager.default.copyItem(atPath: merchant, toPath: directory + "/merchants/second")
  }

  mutating func replace(_ old: String, _ new: String) {
    merchantYAML = merchantYAML.map { $0.replacing(old, with: new) }
  }

  mutating func database(_ changes: [String: Any]) { store("database", Self.database.merging(changes) { $1 }) }

  mutating func store(_ key: String, _ value: Any) { facts?["store"] = Self.store([key: value]) }

  /// RFC 1123, as servers send it.
  static func date(_ time: Timestamp) -> String {
    let format = DateFormatter()
    format.locale = Locale(identifier: "en_US_POSIX")
    format.timeZone = TimeZone(identifier: "UTC")
    format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
    return format.string(from: Date(timeIntervalSince1970: Double(time.seconds)))
  }
}

/// Certificates of a sandbox, made once for all tests.
struct Material: Sendable {
  let pki: SandboxPKI
  let identity: (pem: String, key: String)
  let processing: (pem: String, key: String)
  let publicKeyHash: [UInt8]

  init() throws {
    pki = try SandboxPKI()
    identity = try Self.make(.identity, .identity(), pki)
    processing = try Self.make(.processing, .processing(), pki)
    publicKeyHash = try PaymentProcessingCertificate(
      certificatePEM: processing.pem, privateKeyPEM: processing.key, for: MerchantIdentifier("merchant.test.harbour")
    ).publicKeyHash
  }

  private static func make(
    _ kind: MerchantCertificateKind, _ request: CertificateRequest, _ pki: SandboxPKI
  ) throws -> (pem: String, key: String) {
    (try pki.certificate(kind, for: "merchant.test.harbour", csr: request.requestPEM), request.privateKeyPEM)
  }
}

extension Clinic {
  static let material = Result { try Material() }
}

/// A certificate of a site, or one that claims to be Apple's.
struct SiteCertificate {
  let der: [UInt8]
  let issuer: [UInt8]
  let pem: String
  let key: String

  init(
    names: [String], days: Int64, at now: Timestamp, organization: String = "Site CA", commonName: String = "Site CA"
  )
    throws
  {
    let (authority, own) = (P256.Signing.PrivateKey(), P256.Signing.PrivateKey())
    let name = try DistinguishedName {
      CommonName(commonName)
      OrganizationName(organization)
    }
    let (begin, end) = (now.adding(.seconds(-86_400)), now.adding(.seconds(86_400 * days + 60)))
    func make(_ key: P256.Signing.PrivateKey, _ subject: DistinguishedName) throws -> Certificate {
      try Certificate(
        version: .v3, serialNumber: .init(), publicKey: .init(key.publicKey),
        notValidBefore: Date(timeIntervalSince1970: Double(begin.seconds)),
        notValidAfter: Date(timeIntervalSince1970: Double(end.seconds)), issuer: name, subject: subject,
        signatureAlgorithm: .ecdsaWithSHA256,
        extensions: try Certificate.Extensions { SubjectAlternativeNames(names.map { .dnsName($0) }) },
        issuerPrivateKey: .init(authority))
    }
    func bytes(_ certificate: Certificate) throws -> [UInt8] {
      var serializer = DER.Serializer()
      try serializer.serialize(certificate)
      return serializer.serializedBytes
    }
    let leaf = try make(own, try DistinguishedName { CommonName("leaf") })
    (der, issuer) = (try bytes(leaf), try bytes(try make(authority, name)))
    (pem, key) = (try leaf.serializeAsPEM().pemString, own.pemRepresentation)
  }
}

extension SiteCertificate {
  /// A processing certificate for any key, in the form of Apple's, PEM.
  static func processing(_ privateKeyPEM: String, at now: Timestamp) throws -> String {
    let hash = SHA256.hash(data: Array("merchant.test.harbour".utf8)).map { String(format: "%02X", $0) }.joined()
    let name = try DistinguishedName { CommonName("Apple Pay Payment Processing:merchant.test.harbour") }
    let authority = P256.Signing.PrivateKey()
    return try Certificate(
      version: .v3, serialNumber: .init(), publicKey: Certificate.PrivateKey(pemEncoded: privateKeyPEM).publicKey,
      notValidBefore: Date(timeIntervalSince1970: Double(now.seconds - 60)),
      notValidAfter: Date(timeIntervalSince1970: Double(now.seconds + 86_400 * 700)), issuer: name, subject: name,
      signatureAlgorithm: .ecdsaWithSHA256,
      extensions: Certificate.Extensions([
        .init(oid: [1, 2, 840, 113_635, 100, 6, 32], critical: false, value: [0x0C, 0x40] + Array(hash.utf8)[...])
      ]), issuerPrivateKey: .init(authority)
    ).serializeAsPEM().pemString
  }
}
