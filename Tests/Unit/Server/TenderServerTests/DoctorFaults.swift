import Crypto
import Doctor
import Foundation
import HTTPTransport
import Mail
import MerchantIdentity
import Storage
import TenderPayments
import TenderServer

extension Fault {
  static let all: [Fault] = [
    configuration, files, merchants, certificates, keys, site, network, services, mail, stored,
  ]
  .flatMap(\.self)

  private static let configuration: [Fault] = [
    Fault("settings_readable") { $0.yaml.append("port: 70000") },
    Fault("environment_exposed") { $0.yaml.append("host: 0.0.0.0") },
    Fault("public_address_secure") { $0.yaml[0] = "environment: apple-sandbox" },
    Fault("merchants_present") { try FileManager.default.removeItem(atPath: $0.directory + "/merchants") },
    Fault("routes_readable") { clinic in
      let folder = clinic.directory + "/connectors/braintree"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
      try "nothing: here\n".write(toFile: folder + "/connector.yaml", atomically: true, encoding: .utf8)
    },
    Fault("guest_token_key") { clinic in
      let file = clinic.directory + "/guest-token.key"
      try "no key".write(toFile: file, atomically: true, encoding: .utf8)
      try clinic.chmod(0o600, file)
    },
    Fault("key_agent_answers") {
      $0.yaml.append("keyAgent: {socket: /run/nowhere.sock}")
      $0.socketAnswers = false
    },
  ]

  private static let files: [Fault] = [
    Fault("private_file_mode") { try $0.chmod(0o644, $0.merchant + "/processing/1.key") },
    Fault("private_file_mode") { clinic in
      let file = clinic.directory + "/store.key"
      try PrivateFile.write(String(repeating: "1a", count: 32), to: file)
      try clinic.chmod(0o644, file)
    },
    Fault("private_file_mode") { clinic in
      let file = clinic.directory + "/tls.key"
      try PrivateFile.write("a key", to: file)
      try clinic.chmod(0o644, file)
      clinic.yaml.append("tls: {certificateFile: \(clinic.directory)/tls.pem, keyFile: \(file)}")
    },
    Fault("store_file_mode") { try $0.chmod(0o644, $0.directory + "/tender.db") },
    Fault("folder_mode") { try $0.chmod(0o777, $0.merchant) },
  ]

  private static let merchants: [Fault] = [
    Fault("merchant_readable") { $0.replace("countryCode: IE", "countryCode: Ireland") },
    Fault("merchant_served") { $0.facts?["leftOut"] = [["id": "broken", "reason": "webhooks: ftp://shop.example"]] },
    Fault("merchant_identifier_form") { $0.replace("merchant.test.harbour", "harbour") },
    Fault("merchant_identifier_shared", .warning) { try $0.double() },
    Fault("merchant_identifier_environments", .warning) { try $0.apple("processing/2") },
    Fault("api_keys_present", .warning) { try $0.remove("api-keys") },
    Fault("webhook_keys_present") { try $0.remove("webhook-keys") },
    Fault("identity_present") { try $0.remove("identity.pem") },
    Fault("processing_present", .warning) { try $0.remove("processing") },
    Fault("processing_count", .warning) { clinic in
      for number in 2...4 { try clinic.copy("processing/1.pem", "processing/\(number).pem") }
    },
    Fault("key_without_certificate", .warning) { try $0.copy("processing/1.key", "processing/9.key") },
    Fault("domain_shared") { try $0.double() },
    Fault("networks_known", .warning) { $0.merchantYAML.append("supportedNetworks: [visa, neuCard]") },
    Fault("hosted_frames_registered", .warning) {
      $0.merchantYAML.append("hostedFrameAncestors: [\"https://elsewhere.example\"]")
    },
  ]

  private static let certificates: [Fault] = [
    Fault("certificate_readable") { try $0.text("-----BEGIN CERTIFICATE-----\nAAAA\n", "processing/1.pem") },
    Fault("certificate_kind") { clinic in
      try clinic.text(Clinic.material.get().identity.pem, "processing/1.pem")
    },
    Fault("certificate_merchant") { $0.replace("merchant.test.harbour", "merchant.test.other") },
    Fault("certificate_key_type") { clinic in
      try clinic.text(Clinic.material.get().processing.pem, "identity.pem")
    },
    Fault("certificate_environment") { try $0.apple("processing/2") },
    Fault("certificate_not_before") { $0.now = $0.now.adding(.seconds(-86_400 * 30)) },
    Fault("certificate_expiry") { $0.now = $0.now.adding(.seconds(86_400 * 800)) },
    Fault("certificate_expiry", .warning) { $0.now = $0.now.adding(.seconds(86_400 * 730)) },
    Fault("certificate_issuer", .warning) { try $0.apple("processing/2") },
    Fault("certificate_key_present") { try $0.remove("processing/1.key") },
    Fault("certificate_pair") { try $0.secret(P256.Signing.PrivateKey().pemRepresentation, "processing/1.key") },
  ]

  private static let keys: [Fault] = [
    Fault("key_hash_unique") { try $0.copy("processing/1.pem", "processing/2.pem") },
    Fault("key_loaded") { $0.facts = Clinic.facts(keys: []) },
    Fault("key_active", .warning) { $0.facts = Clinic.facts(keys: ["AAAA"], state: "next") },
    Fault("self_test_payment_data") { $0.replace("merchant.test.harbour", "merchant.test.other") },
  ]

  private static let site: [Fault] = [
    Fault("dns_resolves") { $0.addresses["shop.example"] = [] },
    Fault("tls_answers") { $0.handshakes["shop.example"] = nil },
    Fault("tls_version") {
      $0.handshakes["shop.example"] = try SiteCertificate.handshake(at: $0.now, version: "TLSv1.1")
    },
    Fault("tls_host") {
      $0.handshakes["shop.example"] = try SiteCertificate.handshake(names: ["*.shop.example"], at: $0.now)
    },
    Fault("tls_expiry", .warning) {
      $0.handshakes["shop.example"] = try SiteCertificate.handshake(days: 20, at: $0.now)
    },
    Fault("tls_expiry") { $0.handshakes["shop.example"] = try SiteCertificate.handshake(days: -1, at: $0.now) },
    Fault("tls_trusted") {
      $0.handshakes["shop.example"] = try SiteCertificate.handshake(at: $0.now, trustProblem: "self-signed certificate")
    },
    Fault("tls_chain") { $0.handshakes["shop.example"] = try SiteCertificate.handshake(at: $0.now, sendsChain: false) },
    Fault("association_present") { try $0.remove("association/shop.example.txt") },
    Fault("association_form") { try $0.text("<html>not found</html>", "association/shop.example.txt") },
    Fault("association_served") { $0.associate(.init(status: 403)) },
    Fault("association_redirect") {
      $0.associate(.init(status: 301, headers: [HTTPField("Location", "https://www.shop.example/")]))
    },
    Fault("association_content") { $0.associate(.init(status: 200, body: Clinic.association + [0x0A])) },
    Fault("site_root", .warning) { $0.answers[Clinic.origin + "/"] = .init(status: 302) },
    Fault("touch_icons", .warning) { $0.answers[Clinic.origin + "/icon.png"] = .init(status: 404) },
  ]

  private static let services: [Fault] = [
    Fault("apple_reachable", .notReachable) { $0.answers["http://127.0.0.1:8402/sandbox/ca.json"] = nil },
    Fault("apple_session") {
      let text = "{\"statusMessage\":\"merchant not registered for domain=shop.example\"}"
      $0.gateway = .init(status: 400, body: Array(text.utf8))
    },
    Fault("clock") { clinic in
      let url = "http://127.0.0.1:8402/sandbox/ca.json"
      let late = HTTPField("Date", Clinic.date(clinic.now.adding(.seconds(-600))))
      clinic.answers[url] = clinic.answers[url].map { .init(status: 200, headers: [late], body: $0.body) }
    },
    Fault("public_url_reachable") { $0.answers[Clinic.publicURL + "/healthz"] = .init(status: 502) },
    Fault("public_url_same_server") { clinic in
      clinic.answers[Clinic.publicURL + "/applepay/metadata"] = .init(
        status: 200, body: Array("{\"merchantIdentifier\":\"merchant.test.other\"}".utf8))
    },
    Fault("cors_origin") { clinic in
      clinic.answers[Clinic.publicURL + "/applepay/metadata"] = .init(
        status: 200, body: Array("{\"merchantIdentifier\":\"merchant.test.harbour\"}".utf8))
    },
    Fault("connector_credentials") {
      $0.facts?["routes"] = [["route": "sandbox", "credentials": "refused", "reason": "401"]]
    },
    Fault("connector_circuit") { $0.facts?["openCircuits"] = ["sandbox"] },
    Fault("route_known") { $0.replace("routes: [\"sandbox\"]", "routes: [\"adyen\"]") },
    Fault("webhook_address") { $0.addresses["hooks.example"] = [ResolvedAddress("10.0.0.7", isPublic: false)] },
    Fault("webhook_tls") {
      $0.handshakes["hooks.example"] = try SiteCertificate.handshake(at: $0.now, trustProblem: "expired")
    },
  ]

  private static let network: [Fault] = [
    proxy("proxy_reachable", nil), proxy("proxy_authentication", 407), proxy("proxy_apple", 403),
  ]

  private static func proxy(_ code: String, _ status: Int?) -> Fault {
    Fault(code) {
      $0.yaml[0] = "environment: apple-sandbox"
      $0.yaml.append("outbound: {proxy: \"http://proxy.example:3128\"}")
      $0.proxyRefusal = ProxyRefusal(status: status, description: "the proxy refuses")
    }
  }

  private static let mail: [Fault] = [
    Fault("mail_configured") { $0.yaml[4] = "mail: {host: m.example, from: a@pay.example, rootsFile: /nowhere.pem}" },
    Fault("mail_recipients", .warning) { $0.yaml[4] = "mail: {host: mail.example, from: tender@pay.example}" },
    Fault("mail_connection", .notReachable) { $0.mail = SMTPResult(.connection, "Connection refused") },
    Fault("mail_tls") { $0.mail = SMTPResult(.tls, "self-signed certificate") },
    Fault("mail_authentication") { $0.mail = SMTPResult(.authentication, "535 5.7.8 wrong", code: 535) },
    Fault("mail_outbox") { $0.store("deadMails", 2) },
    Fault("mail_outbox", .warning) { $0.store("oldestMailSeconds", 7_200) },
    Fault("sign_in_provider") { clinic in
      clinic.yaml.append(
        "backOffice: {openID: {issuer: \"https://login.example\", clientID: office, clientSecret: secret, roles: [a = viewer]}}"
      )
      clinic.answers["https://login.example/.well-known/openid-configuration"] = InboundResponse(
        status: 200, body: Array("{\"issuer\":\"https://login.example/\"}".utf8))
    },
  ]

  private static let stored: [Fault] = [
    Fault("webhook_dead_letters") { $0.store("deadWebhooks", 2) },
    Fault("webhook_late", .warning) { $0.store("oldestWebhookSeconds", 7_200) },
    Fault("store_opens") { ($0.facts, $0.factsProblem) = (nil, "the disk is full") },
    Fault("server_answers") { ($0.facts, $0.serverRefusal) = (nil, "not_found: There is nothing at this address.") },
    Fault("secrets_open") { $0.secretsProblem = "the key 5f0c is not there" },
    Fault("secrets_open") { $0.facts?["secretsProblem"] = "the key 5f0c is not there" },
    Fault("store_integrity") { $0.store("quickCheck", "row 3 missing from index payments_order") },
    Fault("store_migrations") { $0.store("missingMigrations", ["ledger-1"]) },
    Fault("store_migrations", .warning) { $0.store("waitingContractions", ["ledger-3"]) },
    Fault("store_log", .warning) { $0.logBytes = 300 << 20 },
    Fault("payments_unknown") { clinic in
      clinic.facts?["store"] = Clinic.store(["unknownPayments": 1, "oldestUnknownSeconds": 4_000])
    },
    Fault("payments_alarmed", .warning) { $0.store("alarmedPayments", 1) },
    Fault("recovery_runs") { $0.facts?["lastRecovery"] = $0.now.adding(.seconds(-1_200)).microseconds },
    Fault("restored_routes") { $0.store("closedRoutes", ["sandbox"]) },
    Fault("restored_agreements", .warning) { $0.store("waitingAgreements", 2) },
    Fault("contact_keys") { clinic in
      try PrivateFile.write("keys", to: clinic.directory + "/contacts.keys")
      clinic.yaml.append("contacts: {keyCopy: \(clinic.directory)/no/contacts.keys}")
    },
    Fault("contact_keys") { clinic in
      let path = clinic.directory + "/contacts.keys"
      try PrivateFile.write("keys", to: path)
      clinic.facts?["keysOfErased"] = [path: 1]
    },
    Fault("retention_runs", .warning) { $0.store("retention", ["mails": $0.now.microseconds - 40 * 86_400_000_000]) },
    Fault("retention_runs") { $0.store("retention", ["tokens": $0.now.microseconds + 40 * 86_400_000_000]) },
    Fault("token_notifications", .warning) { $0.store("lostNotifications", ["1 of harbour, the newest e-1: 400"]) },
    Fault("disk_space", .warning) { $0.disk = (5 << 30, 1_000 << 30) },
    Fault("disk_space") { $0.disk = (1 << 20, 1_000 << 30) },
    Fault("open_files", .warning) { $0.facts?["openFiles"] = 1_024 },
    Fault("database_version", .warning) { $0.database(["version": 130_004]) },
    Fault("database_durable") { $0.database(["unsafeSettings": ["fsync = off"]]) },
    Fault("database_replicated", .warning) { $0.database(["synchronousStandbys": ""]) },
    Fault("database_replicated") { $0.database(["standbys": 0]) },
    Fault("database_encrypted") { $0.database(["isEncrypted": false, "isLocal": false]) },
    Fault("database_role", .warning) { $0.database(["mayChangeTables": true]) },
  ]
}

extension Clinic {
  /// A certificate that names Apple as its issuer, from an authority that is not known.
  func apple(_ place: String) throws {
    let other = try SiteCertificate(names: [], days: 300, at: now, organization: "Apple Inc.", commonName: "Another CA")
    try text(other.pem, place + ".pem")
    try secret(other.key, place + ".key")
  }

  mutating func associate(_ answer: InboundResponse) {
    for url in answers.keys where url.contains(".well-known") { answers[url] = answer }
  }
}
