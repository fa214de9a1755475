import Administration
import BackOffice
import Foundation
import Ledger
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// Merchants in a store of its own, without a server.
private struct Registry {
  let file: TemporaryStore
  let database: Database
  var configuration: ServerConfiguration

  init() async throws {
    file = try TemporaryStore()
    database = try await ServerStore.open(.file(file.path)).database
    configuration = ServerConfiguration(
      environment: .simulated, directory: file.directory, host: "127.0.0.1", port: 0, sandboxURL: nil,
      acquirer: .init(connector: "sandbox", baseURL: "", apiKey: ""))
    try PrivateFile.makeFolder(file.directory + "/merchants")
  }

  func perform(_ call: MerchantCall) async throws -> MerchantAnswer {
    try await MerchantAdministration(configuration, database).perform(call)
  }

  func add(_ id: String = "harbour", _ settings: [String: String] = [:]) async throws {
    let merchant = MerchantProvisioning.NewMerchant(
      id: id, merchantIdentifier: "merchant.test.harbour", displayName: "Harbour", countryCode: "IE",
      currencyCode: "EUR", domains: ["harbour.localhost"])
    _ = try await perform(.add(try MerchantBundle(merchant, random: .system)))
    if !settings.isEmpty { _ = try await perform(.edit(merchant: id, settings: settings)) }
  }

  var keyFileIsThere: Bool { FileManager.default.fileExists(atPath: file.directory + "/store.key") }
}

@Suite struct `A merchant of the store with webhooks` {
  @Test func `is served although its webhook keys have ended, and no change may leave it none`() async throws {
    var registry = try await Registry()
    registry.configuration.allowsPrivateWebhooks = true
    try await registry.add("harbour", ["webhooks": "http://127.0.0.1:1/hooks"])
    let new = try await registry.perform(.rotateKey(merchant: "harbour", kind: .webhookKey, overlapSeconds: 3_600))
    let newest = try #require(new.keys?.first?.id)
    _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .webhookKey, id: newest))
    let left = try await registry.perform(.listKeys(merchant: "harbour")).keys?.filter { $0.kind == .webhookKey }
    let ending = try #require(left?.first?.id)
    await #expect(throws: ConfigurationError.self) {
      try await registry.perform(.revokeKey(merchant: "harbour", kind: .webhookKey, id: ending))
    }
    let later = WallClock { WallClock.system.now().adding(.seconds(7_200)) }
    let reports = try await MerchantAdministration(registry.configuration, registry.database, clock: later)
      .perform(.list).merchants
    #expect(reports?.map(\.id) == ["harbour"] && reports?.first?.problem == nil, "\(reports ?? [])")
  }
}

@Suite struct `An order that cannot be read` {
  @Test func `does not hold up the events of its payment: they name the merchant's reference alone`() async throws {
    let registry = try await Registry()
    let journal = Journal(registry.database, random: .seeded(1))
    _ = try await journal.claim(.sample("order-1"), spending: .sample(1), card: .sample)
    try await registry.database.write { store in
      try store.run(
        """
        INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at,
          updated_at) VALUES ('order-1', 'shop', 'basket', 'quote', 'HK-1042', 1250, 'EUR', 'collection', $1, $1)
        """, .time(store.now))
      try store.run("INSERT INTO platform_orders (order_id, merchant, document) VALUES ('order-1', 'shop', '{')")
      _ = try OutboxEvent.take(for: .webhooks, payments: 1, in: store)
    }
    let feed = try await WebhookAdministration(registry.database).events(after: "0")
    let texts = feed.events.map(\.body)
    #expect(texts.count == 1 && texts[0].contains("HK-1042"), "\(texts)")
  }
}

@Suite struct `The audit chain of the office` {
  @Test func `has each change of the command line, with what came of it and without secrets`() async throws {
    let registry = try await Registry()
    try await registry.add()
    let administration = MerchantAdministration(registry.configuration, registry.database)
    let ann = CommandLineOperator("ann")
    func perform(_ call: MerchantCall) async throws -> MerchantAnswer {
      try await administration.perform(call, by: ann)
    }
    let key = try #require(try await perform(.addKey(merchant: "harbour", kind: .apiKey)).keys?.first)
    _ = try await perform(.listKeys(merchant: "harbour"))
    for settings in [["currencyCode": "YEN"], ["displayName": "Haven"]] {
      _ = try? await perform(.edit(merchant: "harbour", settings: settings))
    }
    await #expect(throws: MerchantStoreError.self) {
      try await perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: "none"))
    }
    _ = try await perform(.setEnabled(false, merchant: "harbour", domain: nil))
    let bundle = try #require(try await perform(.export(merchant: "harbour")).bundle)
    _ = try await perform(.noteLink(.create, merchant: "harbour", end: .outcome, words: "link 12"))
    _ = try await perform(.remove(merchant: "harbour"))
    _ = try await perform(.take(bundle))
    let entries = try await registry.database.read { try OfficeAudit($0).entries() }.reversed().map(\.action)
    #expect(
      entries.filter { !$0.action.hasSuffix(".outcome") }.map(\.action) == [
        "key.add", "merchant.edit", "merchant.edit.refused", "merchant.edit", "key.revoke", "key.revoke.refused",
        "merchant.disable", "merchant.export", "merchant.remove", "merchant.import",
      ])
    #expect(entries.allSatisfy { $0.actor == "command line (ann)" && $0.merchant == "harbour" })
    #expect(entries[1].action == "key.add.outcome" && entries[1].after == "key \(key.id)")
    #expect(entries[2].before.contains(key.id) && entries[2].after == "currencyCode: YEN")
    #expect(entries[3].after.contains("YEN"))
    #expect(entries.contains { $0.action == "link.create.outcome" && $0.after == "link 12" })
    let secret = try #require(key.secret)
    #expect(!entries.contains { "\($0)".contains(secret) })
  }
}

@Suite struct `The webhook key that signs` {
  @Test
  func `is the newest whatever its id, also within one second and after an export, and an older one once it goes`()
    async throws
  {
    let registry = try await Registry()
    // The first key's id comes after every id that is made from the time.
    let merchant = MerchantProvisioning.NewMerchant(
      id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour", countryCode: "IE",
      currencyCode: "EUR", domains: [])
    let bundle = try MerchantBundle(merchant, at: Timestamp(seconds: 0xFFFF_FFFF), random: .system)
    _ = try await registry.perform(.add(bundle))
    func signing(_ registry: Registry) async throws -> [String?] {
      let exported = try await registry.perform(.export(merchant: "harbour")).bundle?.webhookKey?.id
      let stored = try #require(
        try await registry.configuration.merchantStore(registry.database).merchants(at: WallClock.system.now()).first)
      let folder = try MerchantFolder(stored: stored, registry.configuration, at: WallClock.system.now())
      return [exported, folder.webhookKey?.id]
    }
    let first = bundle.webhookKey?.id
    #expect(try await signing(registry) == [first, first])

    var last: String?
    for _ in 1...3 {
      let rotated = try await registry.perform(
        .rotateKey(merchant: "harbour", kind: .webhookKey, overlapSeconds: 3_600)
      ).keys?.first?.id
      #expect(try await signing(registry) == [rotated, rotated])
      last = rotated
    }
    let other = try await Registry()
    _ = try await other.perform(
      .take(try #require(try await registry.perform(.export(merchant: "harbour")).bundle)))
    #expect(try await signing(other) == [last, last])

    _ = try await other.perform(
      .revokeKey(merchant: "harbour", kind: .webhookKey, id: try #require(last)))
    #expect(try await signing(other)[1] != last)
  }

  @Test func `stays the newest in the folder of an export, whatever the ids, and in the store that imports it`()
    async throws
  {
    let registry = try await Registry()
    let merchant = MerchantProvisioning.NewMerchant(
      id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour", countryCode: "IE",
      currencyCode: "EUR", domains: [])
    // As of a version that took the first ids at random.
    let bundle = try MerchantBundle(merchant, at: Timestamp(seconds: 0xFFFF_FFFF), random: .system)
    _ = try await registry.perform(.add(bundle))
    for kind in [SecretName.Kind.webhookKey, .callbackKey] {
      let newest = try #require(
        try await registry.perform(.rotateKey(merchant: "harbour", kind: kind, overlapSeconds: 3_600)).keys?.first?.id)
      #expect(newest < (bundle.secrets.first { $0.kind == kind }?.id ?? ""))
    }
    let path = registry.file.directory + "/export/harbour"
    try PrivateFile.makeFolder(registry.file.directory + "/export")
    let exported = try #require(try await registry.perform(.export(merchant: "harbour")).bundle)
    try exported.write(to: path, random: .system)
    let newest = exported.webhookKey
    let declared = try await MerchantFolder(
      path: path, id: "harbour", at: WallClock.system.now(), keysMayBeElsewhere: false)
    #expect(declared.webhookKey?.id == newest?.id && newest != nil)
    let read = try await MerchantBundle(folder: path, at: WallClock.system.now(), keysMayBeElsewhere: false)
    #expect(read.webhookKey?.id == newest?.id && !read.settings.contains("signingKeys"))
    #expect(read.secrets.last { $0.kind == .callbackKey }?.id == exported.secrets.last { $0.kind == .callbackKey }?.id)
    let refused = await #expect(throws: ConfigurationError.self) {
      try await registry.perform(.edit(merchant: "harbour", settings: ["signingKeys": newest?.id ?? ""]))
    }
    #expect(refused?.key == "signingKeys")
  }

  @Test func `has an id that comes after those made before, also of a merchant's first`() throws {
    let merchant = MerchantProvisioning.NewMerchant(
      id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour", countryCode: "IE",
      currencyCode: "EUR", domains: [])
    let ids = try (0..<20).map { second in
      let now = Timestamp(seconds: 1_800_000_000 + Int64(second))
      let first = try MerchantBundle(merchant, at: now, random: .system).webhookKey?.id ?? ""
      return [first, SharedSecrets.newID(at: now.adding(.seconds(1)), .system)]
    }
    #expect(ids.allSatisfy { $0[0] < $0[1] && $0[0].count == 16 }, "\(ids)")
  }
}

@Suite struct `A rotation of API keys` {
  private let registry: Registry

  init() async throws {
    registry = try await Registry()
    try await registry.add()
  }

  private func rotate(_ scopes: Set<APIKeyScope>? = nil, _ overlap: Int64 = 3_600) async throws -> MerchantAnswer {
    try await registry.perform(
      .rotateKey(merchant: "harbour", kind: .apiKey, overlapSeconds: overlap, scopes: scopes))
  }

  private func add(_ scopes: Set<APIKeyScope>, expires: String? = nil) async throws -> SharedKeyReport {
    let call = MerchantCall.addKey(merchant: "harbour", kind: .apiKey, scopes: scopes, expires: expires)
    return try #require(try await registry.perform(call).keys?.first)
  }

  private func list() async throws -> [SharedKeyReport] {
    try await registry.perform(.listKeys(merchant: "harbour")).keys?.filter { $0.kind == .apiKey } ?? []
  }

  @Test func `gives the new key no end that another rotation set, and leaves keys of other scopes`() async throws {
    let first = try #require(try await rotate().keys?.first)
    let reader = try await add([.read], expires: "2099-01-01T00:00:00Z")
    for _ in 1...2 {
      let next = try await rotate()
      #expect(next.keys?.first?.expires == nil && next.keys?.first?.scopes == nil, "\(next.keys ?? [])")
      let replaced = next.replaced ?? []
      #expect(replaced.count >= 2 && replaced.allSatisfy { $0.expires != nil && $0.id != reader.id }, "\(replaced)")
    }
    let left = try await list()
    #expect(left.filter { $0.expires == nil }.count == 1, "\(left)")
    #expect(left.first { $0.id == reader.id }?.expires == reader.expires)
    #expect(left.first { $0.id == first.id }?.expires != nil)
  }

  @Test func `gives the new key the own limits of those that it replaces`() async throws {
    let reader = try await add([.read], expires: "2099-01-01T00:00:00Z")
    for _ in 1...2 {
      let next = try await rotate([.read])
      #expect(next.keys?.first?.expires == reader.expires && next.keys?.first?.scopes == [.read])
    }
    let unclear = await #expect(throws: MerchantStoreError.self) { try await rotate([.refunds]) }
    #expect(unclear?.code == .keyLimitsInvalid && unclear?.reason.contains("--scope read") == true)
    // Also where the key that took its place is gone.
    let last = try #require(try await rotate().keys?.first?.id)
    _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: last))
    let readers = try await list().filter { $0.scopes == [.read] }
    for key in readers { _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: key.id)) }
    #expect(try await rotate().keys?.first?.expires == nil)
  }

  @Test func `is refused where keys of several scopes could be meant`() async throws {
    let first = try #require(try await list().first?.id)
    _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: first))
    let reader = try await add([.read])
    #expect(try await rotate(nil, 0).keys?.first?.scopes == [.read])
    _ = try await add([.refunds, .payments])
    let error = await #expect(throws: MerchantStoreError.self) { try await rotate() }
    #expect(error?.code == .keyLimitsInvalid)
    #expect(error?.reason.contains("--scope payments --scope refunds; --scope read") == true, "\(error?.reason ?? "")")
    #expect(try await !list().contains { $0.id == reader.id })
  }
}

@Suite struct `The folder of an export` {
  @Test func `has what limits each API key, and an import keeps it`() async throws {
    let registry = try await Registry()
    try await registry.add()
    _ = try await registry.perform(
      .addKey(merchant: "harbour", kind: .apiKey, scopes: [.read, .baskets], expires: "2099-01-01T00:00:00Z"))
    _ = try await registry.perform(.rotateKey(merchant: "harbour", kind: .apiKey, overlapSeconds: 3_600))
    let path = registry.file.directory + "/export/harbour"
    try PrivateFile.makeFolder(registry.file.directory + "/export")
    try #require(try await registry.perform(.export(merchant: "harbour")).bundle).write(to: path, random: .system)
    func limits(_ registry: Registry) async throws -> [[String]] {
      let keys = try await registry.perform(.listKeys(merchant: "harbour")).keys ?? []
      return keys.filter { $0.kind == .apiKey }
        .map { [$0.id, $0.scopes?.map(\.rawValue).joined(separator: ",") ?? "all", $0.expires ?? "never"] }
        .sorted { $0[0] < $1[0] }
    }
    let before = try await limits(registry)
    #expect(Set(before.map { $0[1] }) == ["all", "baskets,read"] && Set(before.map { $0[2] }).count == 3, "\(before)")
    let declared = try await MerchantFolder(
      path: path, id: "harbour", at: WallClock.system.now(), keysMayBeElsewhere: false)
    #expect(declared.apiKeyLimits.count == 2)

    let other = try await Registry()
    _ = try await other.perform(
      .take(try await MerchantBundle(folder: path, at: WallClock.system.now(), keysMayBeElsewhere: false)))
    #expect(try await limits(other) == before)
    // The end that the rotation set is no limit of a new key there either.
    let next = try await other.perform(.rotateKey(merchant: "harbour", kind: .apiKey, overlapSeconds: 0)).keys?.first
    #expect(next?.expires == nil && next?.scopes == nil)
  }

  /// A merchant whose only API key the operator has limited and a rotation has replaced, imported from its folder.
  ///
  /// - Returns: where it was imported, the replaced key and the one in its place.
  private func imported() async throws -> (Registry, old: String, new: String) {
    func keys(_ answer: MerchantAnswer) -> [SharedKeyReport] { answer.keys?.filter { $0.kind == .apiKey } ?? [] }
    let registry = try await Registry()
    try await registry.add()
    let old = try #require(keys(try await registry.perform(.listKeys(merchant: "harbour"))).first?.id)
    _ = try await registry.perform(
      .edit(merchant: "harbour", settings: ["apiKeyLimits": "\(old) read until=2099-01-01T00:00:00Z"]))
    let rotated = try await registry.perform(.rotateKey(merchant: "harbour", kind: .apiKey, overlapSeconds: 3_600))
    let new = try #require(keys(rotated).first)
    let path = registry.file.directory + "/export/harbour"
    try PrivateFile.makeFolder(registry.file.directory + "/export")
    try #require(try await registry.perform(.export(merchant: "harbour")).bundle).write(to: path, random: .system)
    let other = try await Registry()
    _ = try await other.perform(
      .take(try await MerchantBundle(folder: path, at: WallClock.system.now(), keysMayBeElsewhere: false)))
    return (other, old, new.id)
  }

  @Test(arguments: [false, true]) func `keeps the operator's end of a replaced key for the next one`(
    andTheLastIsRevoked: Bool
  ) async throws {
    let (registry, old, new) = try await imported()
    for id in andTheLastIsRevoked ? [old, new] : [new] {
      _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: id))
    }
    let next = try await registry.perform(.addKey(merchant: "harbour", kind: .apiKey)).keys?.first
    #expect(next?.expires == "2099-01-01T00:00:00Z" && next?.scopes == [.read], "\(String(describing: next))")
    let more = await #expect(throws: MerchantStoreError.self) {
      try await registry.perform(
        .addKey(merchant: "harbour", kind: .apiKey, scopes: [.read], expires: "2100-01-01T00:00:00Z"))
    }
    #expect(more?.code == .keyLimitsInvalid)
  }

  @Test func `leaves no key without the end that its settings alone have: to clear them is refused`() async throws {
    let (registry, old, new) = try await imported()
    for value in ["", "\(new) read", "\(old) read, \(new) read"] {
      let refused = await #expect(throws: MerchantStoreError.self) {
        try await registry.perform(.edit(merchant: "harbour", settings: ["apiKeyLimits": value]))
      }
      // The advice is a command that there is.
      let advice = "tender secret revoke \(old) --merchant harbour --kind api)"
      #expect(refused?.code == .keyLimitsInvalid && refused?.reason.contains(advice) == true)
    }
    let end = try await registry.perform(.listKeys(merchant: "harbour")).keys?.first { $0.id == old }?.expires
    #expect(end.map { $0 < "2099" } == true, "\(end ?? "none")")
    _ = try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: old))
    _ = try await registry.perform(.edit(merchant: "harbour", settings: ["apiKeyLimits": ""]))
    // One that the operator has ended stays ended too.
    _ = try await registry.perform(
      .edit(merchant: "harbour", settings: ["apiKeyLimits": "\(new) until=2020-01-01T00:00:00Z"]))
    for value in ["", "\(new) read"] {
      await #expect(throws: MerchantStoreError.self) {
        try await registry.perform(.edit(merchant: "harbour", settings: ["apiKeyLimits": value]))
      }
    }
    _ = try await registry.perform(
      .edit(merchant: "harbour", settings: ["apiKeyLimits": "\(new) until=2099-01-01T00:00:00Z"]))
  }
}

@Suite struct `A store without a folder of declared merchants` {
  private func registry() async throws -> Registry {
    let registry = try await Registry()
    try FileManager.default.removeItem(atPath: registry.configuration.merchantsDirectory)
    return registry
  }

  @Test func `says of its merchants what holds, also after the last one is gone`() async throws {
    let registry = try await registry()
    #expect(try await registry.perform(.list).merchants?.isEmpty == true)
    try await registry.add()
    let removed = try await registry.perform(.remove(merchant: "harbour"))
    #expect(removed.merchants?.isEmpty == true && removed.notes.isEmpty, "\(removed)")
    let unknown = await #expect(throws: MerchantStoreError.self) {
      try await registry.perform(.showSigner(merchant: "harbor"))
    }
    #expect(unknown?.code == .merchantUnknown && unknown?.reason.contains("no merchant harbor") == true)
  }

  @Test func `is checked without blaming the folder: neither without a merchant, nor where the key is wrong`()
    async throws
  {
    let registry = try await registry()
    func problems() async throws -> [ConfigurationError] {
      try await ConfigurationReport.make(
        file: nil, flags: ["directory": registry.file.directory, "store.path": registry.file.path], variables: [:]
      ).problems.filter { !$0.isWarning }
    }
    #expect(try await problems().isEmpty)
    try await registry.add()
    await registry.database.close()
    try PrivateFile.write(String(repeating: "3c", count: 32) + "\n", to: registry.file.directory + "/other.key")
    try FileManager.default.removeItem(atPath: registry.configuration.storeKeyFile)
    try FileManager.default.moveItem(
      atPath: registry.file.directory + "/other.key", toPath: registry.configuration.storeKeyFile)
    let found = try await problems()
    #expect(found.map(\.key) == ["secrets.keyFile"], "\(found)")
  }
}

@Suite struct `The keys of a declared merchant` {
  @Test func `are named as those of its folder`() async throws {
    let registry = try await Registry()
    let folder = registry.configuration.merchantsDirectory + "/harbour"
    try PrivateFile.makeFolder(folder)
    try PrivateFile.write("", to: folder + "/merchant.yaml")
    let answer = try await registry.perform(.listKeys(merchant: "harbour"))
    #expect(answer.keys?.isEmpty == true && answer.notes.first?.contains("declared by the folder \(folder)") == true)
  }
}

@Suite struct `A merchant without a processing certificate` {
  @Test func `is not ready in the list of merchants`() async throws {
    let registry = try await Registry()
    try await registry.add()
    let listed = try #require(try await registry.perform(.list).merchants?.first)
    #expect(listed.refusal == nil && listed.notReady == "no processing certificate")
  }
}

@Suite struct `An edit` {
  @Test func `warns of a network that this release does not know, and names the one that may be meant`() async throws {
    let registry = try await Registry()
    try await registry.add()
    func notes(_ networks: String) async throws -> [String] {
      try await registry.perform(.edit(merchant: "harbour", settings: ["supportedNetworks": networks])).notes
    }
    let warned = try await notes("amex,vsia")
    #expect(warned.count == 1 && warned[0].hasPrefix("supportedNetworks: this release does not know vsia"))
    #expect(warned[0].hasSuffix("did you mean visa?"))
    #expect(try await notes("visa,amex").isEmpty)
  }
}

@Suite struct `A key that is revoked under another kind` {
  @Test func `is refused with the kind that it is`() async throws {
    let registry = try await Registry()
    try await registry.add()
    let key = try #require(
      try await registry.perform(.listKeys(merchant: "harbour")).keys?.first { $0.kind == .webhookKey })
    let error = await #expect(throws: MerchantStoreError.self) {
      try await registry.perform(.revokeKey(merchant: "harbour", kind: .apiKey, id: key.id))
    }
    #expect(error?.code == .secretUnknown && error.map { "\($0)".contains("--kind webhook") } == true)
  }
}

@Suite struct `A merchant that is nowhere` {
  @Test func `is named as unknown, and not as one that has nothing, nor by another reason`() async throws {
    let registry = try await Registry()
    try await registry.add()
    for call in [
      MerchantCall.listKeys(merchant: "harbor"), .listCertificates(merchant: "harbor"),
      .listDomains(merchant: "harbor"), .addDomain("harbor.localhost", merchant: "harbor", associationBase64: nil),
      .removeDomain("harbor.localhost", merchant: "harbor"),
      .setEnabled(false, merchant: "harbor", domain: "harbor.localhost"),
      .revokeKey(merchant: "harbor", kind: .apiKey, id: "none"),
    ] {
      let error = await #expect(throws: MerchantStoreError.self) { try await registry.perform(call) }
      #expect(error?.code == .merchantUnknown)
    }
    #expect(try await registry.perform(.listCertificates(merchant: "harbour")).certificates?.isEmpty == true)
  }
}

@Suite struct `The key of the store` {
  private static let key = String(repeating: "1a", count: 32)
  private static let other = String(repeating: "2b", count: 32)

  @Test func `may be given itself, and no file is made then`() async throws {
    var registry = try await Registry()
    registry.configuration.storeKey = Self.key
    try await registry.add()
    let sealed = try #require(try await registry.perform(.sealing).sealed)
    #expect(try sealed.keys.sorted() == [MasterKeys(Self.key).current] && !registry.keyFileIsThere)

    registry.configuration.storeKey = Self.other
    await #expect(throws: MerchantStoreError.self) { try await registry.perform(.listKeys(merchant: nil)) }
  }

  @Test func `may be printed by a command, which is asked each time`() async throws {
    var registry = try await Registry()
    // A shell would take the name apart.
    let keys = registry.file.directory + "/keys; exit 3; $(exit 3) '\""
    try PrivateFile.write(Self.key + "\n", to: keys)
    registry.configuration.storeKeyCommand = ["/bin/cat", keys]
    try await registry.add()
    #expect(try await registry.perform(.sealing).sealed?.keys.sorted() == [MasterKeys(Self.key).current])
    #expect(!registry.keyFileIsThere)

    // Rotated without a restart.
    try PrivateFile.write(Self.other + "\n" + Self.key + "\n", to: keys)
    #expect(try await registry.perform(.reseal).sealed?.keys.sorted() == [MasterKeys(Self.other).current])
    try PrivateFile.write(Self.other + "\n", to: keys)
    #expect(try await registry.perform(.listKeys(merchant: "harbour")).keys?.isEmpty == false)
  }

  @Test(arguments: [["/bin/sh", "-c", "exit 3"], ["/bin/echo", "no key"], ["/bin/true"], ["/nowhere/keys"]])
  func `is missed with a reason when the command gives none`(_ command: [String]) async throws {
    var registry = try await Registry()
    registry.configuration.storeKeyCommand = command
    await #expect(throws: (any Error).self) { try await registry.add() }
  }

  @Test func `is not waited for longer than its command may take, nor read further than keys can be`() async throws {
    let late = await #expect(throws: ConfigurationError.self) {
      try await KeyCommand(["/bin/sleep", "1000000"], timeout: .milliseconds(50)).output()
    }
    #expect(late?.key == "secrets.keyCommand" && late?.reason.contains("in time") == true)
    let long = await #expect(throws: ConfigurationError.self) {
      try await KeyCommand(["/usr/bin/yes"], timeout: TestRun.whole).output()
    }
    #expect(long?.reason.contains("more than keys") == true)
  }

  @Test func `is waited for on no thread that tasks share`() async throws {
    let files = try TemporaryStore()
    let (sign, count) = (files.directory + "/sign", ProcessInfo.processInfo.activeProcessorCount + 1)
    try await withThrowingTaskGroup { group in
      for number in 0..<count {
        group.addTask {
          let script = "until [ -e \"$0\" ]; do sleep 0.02; done; echo \(Self.key)"
          let words = ["/bin/sh", "-c", script, sign, "\(number)"]
          let printed = try await KeyCommand(words, timeout: TestRun.whole).output()
          #expect(printed == Self.key + "\n")
        }
      }
      // They would wait for this one for ever.
      group.addTask { try PrivateFile.write("go on", to: sign) }
      try await group.waitForAll()
    }
    withExtendedLifetime(files) {}
  }

  @Test func `is asked for by one run of its command at a time, and no answer is older than its question`() async throws
  {
    let files = try TemporaryStore()
    // Every run adds a line, and says so if another is under way.
    let script = """
      mkdir "$0/run" || echo overlap >> "$0/overlaps"; echo x >> "$0/count"; sleep 0.2
      cat "$0/count"; rmdir "$0/run"
      """
    let command = KeyCommand(["/bin/sh", "-c", script, files.directory], timeout: TestRun.whole)
    let first = try await command.output()
    try await withThrowingTaskGroup { group in
      for _ in 0..<20 {
        group.addTask {
          let later = try await command.output()
          #expect(later.utf8.count > first.utf8.count)
        }
      }
      try await group.waitForAll()
    }
    #expect(!FileManager.default.fileExists(atPath: files.directory + "/overlaps"))
    withExtendedLifetime(files) {}
  }
}

@Suite struct `A certificate of the store whose key an agent holds` {
  @Test func `is imported without its key only where there is an agent, and only for processing`() async throws {
    var registry = try await Registry()
    try await registry.add()
    let material = try Clinic.material.get()
    func call(_ kind: CertificateKind, _ pem: String) throws -> MerchantCall {
      let file = CertificateFile(Array(pem.utf8))
      return .importCertificate(
        merchant: "harbour", kind: kind, certificatesBase64: file.certificates.map { Base64.encode($0) },
        privateKeyPEM: nil)
    }
    let (processing, identity) = (
      try call(.processing, material.processing.pem), try call(.identity, material.identity.pem)
    )
    await #expect(throws: MerchantStoreError.self) { try await registry.perform(processing) }

    registry.configuration.keyAgentSocket = "/run/nowhere.sock"
    let row = try #require(try await registry.perform(processing).certificates?.first)
    #expect(row.state == .active)
    await #expect(throws: MerchantStoreError.self) { try await registry.perform(identity) }
    let exported = try await registry.perform(.exportCertificate(id: row.id, withKey: true))
    #expect(exported.privateKeyPEM == nil)
  }
}
