import Administration
import Doctor
import Foundation
import HTTPTransport
import Ledger
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// Ten things are broken in a copy of a running system, one at a time. The doctor names each, and what its remedy says
/// mends it.
@Suite struct `The doctor's remedy mends` {
  @Test(arguments: Damage.all) func `what was broken on purpose`(_ damage: Damage) async throws {
    let copy = try await SystemCopy(of: try await TestSystem.shared.value)
    defer { copy.remove() }
    #expect(try await copy.trouble().isEmpty, "the copy is not healthy")
    try damage.inflict(copy)
    let trouble = try await copy.trouble()
    let finding = try #require(trouble.first { $0.code == damage.code }, "\(trouble)")
    #expect(finding.remedy.contains(damage.remedy), "\(finding.remedy)")
    try damage.mend(copy, finding)
    let rest = try await copy.trouble()
    #expect(rest.isEmpty, "\(rest)")
  }
}

/// A way to break a system, and what the remedy's words come to.
struct Damage: Sendable, CustomTestStringConvertible {
  let code: String
  /// What the remedy must say.
  let remedy: String
  let inflict: @Sendable (SystemCopy) throws -> Void
  let mend: @Sendable (SystemCopy, DoctorFinding) throws -> Void

  var testDescription: String { code }

  static let all: [Damage] = [
    Damage(code: "private_file_mode", remedy: "chmod 600 /") {
      try $0.chmod(0o644, "identity.key")
    } mend: { _, finding in
      try SystemCopy.shell(finding.remedy)
    },
    Damage(code: "folder_mode", remedy: "chmod o-w /") {
      try $0.chmod(0o777, "")
    } mend: { _, finding in
      try SystemCopy.shell(finding.remedy)
    },
    Damage(code: "certificate_pair", remedy: "Use the key whose request was uploaded") {
      try $0.secret(try CertificateRequest.processing().privateKeyPEM, "processing/1.key")
    } mend: { copy, _ in
      try copy.restore("processing/1.key")
    },
    Damage(code: "certificate_kind", remedy: "processing/*.pem is apple_pay.cer") {
      try $0.copy("identity.pem", "processing/1.pem")
    } mend: { copy, _ in
      try copy.restore("processing/1.pem")
    },
    Damage(code: "certificate_merchant", remedy: "correct merchantIdentifier in merchant.yaml") {
      try $0.edit("merchant.test.harbour", "merchant.test.harbor")
    } mend: { copy, _ in
      try copy.edit("merchant.test.harbor", "merchant.test.harbour")
    },
    Damage(code: "identity_present", remedy: "into identity.pem") {
      try $0.delete("identity.pem")
    } mend: { copy, _ in
      try copy.restore("identity.pem")
    },
    Damage(code: "association_content", remedy: "tender reload") {
      try $0.text("changed by an editor\n", "association/harbour.localhost:8401.txt")
    } mend: { copy, _ in
      try copy.restore("association/harbour.localhost:8401.txt")
    },
    Damage(code: "association_present", remedy: "Download it from the developer account for harbour.localhost:8401") {
      try $0.delete("association/harbour.localhost:8401.txt")
    } mend: { copy, _ in
      try copy.restore("association/harbour.localhost:8401.txt")
    },
    Damage(code: "merchant_readable", remedy: "Correct the line in merchant.yaml") {
      try $0.edit("countryCode: IE", "countryCode: Ireland")
    } mend: { copy, _ in
      try copy.edit("countryCode: Ireland", "countryCode: IE")
    },
    Damage(code: "webhook_keys_present", remedy: "openssl rand -hex 32 > webhook-keys/ID.secret") {
      try $0.delete("webhook-keys")
    } mend: { copy, finding in
      try FileManager.default.createDirectory(
        atPath: copy.merchant + "/webhook-keys", withIntermediateDirectories: true)
      let command = try #require(finding.remedy.firstMatch(of: /\(umask.*\)/)?.output)
      try SystemCopy.shell("cd \(copy.merchant) && \(command)")
    },
    Damage(code: "guest_token_key", remedy: "remove the file") {
      try PrivateFile.write("no key", to: $0.directory + "/guest-token.key")
    } mend: { copy, _ in
      try FileManager.default.removeItem(atPath: copy.directory + "/guest-token.key")
    },
    Damage(code: "store_opens", remedy: "restore a backup") {
      try $0.damageStore()
    } mend: { copy, _ in
      try copy.restoreStore()
    },
  ]
}

/// The merchant of a running system in a folder of its own, with a store of its own.
struct SystemCopy: Sendable {
  let system: TestSystem
  let directory: String

  var merchant: String { directory + "/merchants/harbour" }
  private var original: String { system.directory + "/merchants/harbour" }
  private var store: String { directory + "/tender.db" }

  init(of system: TestSystem) async throws {
    self.system = system
    directory = FileManager.default.temporaryDirectory.appending(path: "tender-copy-\(UUID().uuidString)").path
    try PrivateFile.makeFolder(directory + "/merchants")
    try FileManager.default.copyItem(atPath: system.directory + "/merchants/harbour", toPath: merchant)
    await (try ServerStore.open(.file(directory + "/tender.db"))).database.close()
    try FileManager.default.copyItem(atPath: directory + "/tender.db", toPath: directory + "/backup.db")
  }

  func remove() { try? FileManager.default.removeItem(atPath: directory) }

  /// What failed.
  func trouble() async throws -> [DoctorFinding] {
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: system.sandbox.base,
      acquirer: .init(connector: "sandbox", baseURL: system.sandbox.base, apiKey: ""))
    configuration.publicURL = system.server
    configuration.allowsPrivateWebhooks = true
    var (facts, problem): (ServerFacts?, String?)
    do { facts = try await ServerFacts(store: .file(store)) } catch { problem = "\(error)" }
    let doctor = Doctor(
      DoctorSubject(configuration), DoctorSystem(clock: .system, network: network, machine: .live), facts: facts,
      factsProblem: problem)
    return await doctor.run().checks.filter { $0.status == .failed }
  }

  /// The merchant's domains are the running server's.
  private var network: DoctorNetwork {
    let (sender, server) = (system.sender, system.server)
    let plain = HTTPSender { request, timeout throws(TransportError) in
      let url = request.url.replacing("http://127.0.0.1:8401", with: server)
      return try await sender.send(
        OutboundRequest(method: request.method, url: url, headers: request.headers, body: request.body), timeout)
    }
    return DoctorNetwork(
      resolve: { _ in [ResolvedAddress("127.0.0.1", isPublic: false)] },
      handshake: { _, _ in throw TransportError.notSent("there is no TLS here") },
      proxy: { _, _, _ in nil }, plain: plain, apple: plain, guarded: plain,
      identified: { identity, trust in try LiveHTTPClient(identity: identity, trust: trust).sender.unhurried })
  }

  func text(_ text: String, _ name: String) throws { try MerchantProvisioning.write(text, to: "\(merchant)/\(name)") }
  func secret(_ text: String, _ name: String) throws { try PrivateFile.write(text, to: "\(merchant)/\(name)") }
  func delete(_ name: String) throws { try FileManager.default.removeItem(atPath: "\(merchant)/\(name)") }

  func chmod(_ mode: Int, _ name: String) throws {
    try FileManager.default.setAttributes(
      [.posixPermissions: mode], ofItemAtPath: name.isEmpty ? merchant : "\(merchant)/\(name)")
  }

  func copy(_ name: String, _ other: String) throws {
    try? delete(other)
    try FileManager.default.copyItem(atPath: "\(merchant)/\(name)", toPath: "\(merchant)/\(other)")
  }

  func restore(_ name: String) throws {
    try? delete(name)
    try FileManager.default.copyItem(atPath: "\(original)/\(name)", toPath: "\(merchant)/\(name)")
  }

  func edit(_ old: String, _ new: String) throws {
    let file = merchant + "/merchant.yaml"
    let yaml = try String(contentsOfFile: file, encoding: .utf8)
    try MerchantProvisioning.write(yaml.replacing(old, with: new), to: file)
  }

  func damageStore() throws { try PrivateFile.write("no database at all", to: store) }

  func restoreStore() throws {
    try FileManager.default.removeItem(atPath: store)
    try FileManager.default.copyItem(atPath: directory + "/backup.db", toPath: store)
  }

  static func shell(_ command: String) throws {
    let run = try ChildProcess.run(["sh", "-c", command])
    try #require(run.status == 0, "\(command)")
  }
}
