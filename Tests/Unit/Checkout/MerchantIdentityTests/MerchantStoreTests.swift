import Crypto
import Foundation
import MerchantIdentity
import Storage
import TenderPayments
import TenderTesting
import Testing

/// A store of merchants in a file.
struct StoreOfMerchants {
  static let harbour = MerchantID("harbour")
  static let settings = "merchantIdentifier: \"\(Portal.merchant)\"\n"

  let file: TemporaryStore
  let clock = ManualClock(Portal.today)
  let database: Database
  let keys: MasterKeys
  var store: MerchantStore { MerchantStore(database, keys: keys, random: .system) }

  init(keys: String = Self.newKey()) async throws {
    file = try TemporaryStore()
    database = try await file.open(MerchantStore.migrations, clock: clock.wall)
    self.keys = try MasterKeys(keys)
    try await store.write { try $0.insert(Self.harbour, settings: Self.settings) }
  }

  static func newKey() -> String { RandomBytes.system.hex(32) }

  func merchant() async throws -> StoredMerchant {
    try await store.read { try $0.merchant(Self.harbour) }
  }

  /// Whether the bytes stand in a file of the store, the write-ahead log included.
  func holds(_ text: String) throws -> Bool {
    let forms = [Array(text.utf8), Array(Base64.encode(Array(text.utf8)).utf8), Hex.decode(text)].compactMap(\.self)
    return try file.bytesOnDisk().contains { bytes in
      forms.contains { Data(bytes).range(of: Data($0)) != nil }
    }
  }
}

@Suite struct `Merchants in the store` {
  @Test func `are read back with their domains, and a second one of the same id is refused`() async throws {
    let place = try await StoreOfMerchants()
    let association = try DomainAssociation(bytes: Array("7B7D".utf8))
    try await place.store.write {
      try $0.insert(try Domain("shop.example.com"), of: StoreOfMerchants.harbour, association: association)
      try $0.setEnabled(false, StoreOfMerchants.harbour, domain: try Domain("shop.example.com"))
    }
    let merchant = try await place.merchant()
    #expect(merchant.settings == StoreOfMerchants.settings && merchant.isEnabled && merchant.version == 1)
    #expect(merchant.domains.map(\.domain.name) == ["shop.example.com"])
    #expect(merchant.domains.first?.association == association && merchant.domains.first?.isEnabled == false)
    await refuses(.merchantExists) {
      try await place.store.write { try $0.insert(StoreOfMerchants.harbour, settings: "") }
    }
    await refuses(.merchantUnknown) { _ = try await place.store.read { try $0.merchant(MerchantID("other")) } }
  }

  @Test func `have domains that belong to one merchant each`() async throws {
    let place = try await StoreOfMerchants()
    let domain = try Domain("shop.example.com")
    try await place.store.write { try $0.insert(domain, of: StoreOfMerchants.harbour, association: nil) }
    await refuses(.domainTaken) {
      try await place.store.write {
        try $0.insert(MerchantID("other"), settings: "")
        try $0.insert(domain, of: MerchantID("other"), association: nil)
      }
    }
    #expect(try await place.store.merchants(at: place.clock.now).map(\.id) == [StoreOfMerchants.harbour])
    await refuses(.domainNotFound) {
      try await place.store.write { try $0.remove(domain, of: MerchantID("other")) }
    }
  }

  @Test func `have at most 300 domains, 100 secrets of a kind and 20 open certificate requests`() async throws {
    let (place, id) = (try await StoreOfMerchants(), StoreOfMerchants.harbour)
    func add(_ number: Int, _ to: Int) async throws {
      try await place.store.write { tables in
        switch to {
        case 300: try tables.insert(try Domain("shop\(number).example.com"), of: id, association: nil)
        case 100: try tables.keep("secret", as: SecretName(id, .apiKey, "key\(number)"))
        default: _ = try tables.keep(try KeyAndRequest(.processing), of: id)
        }
      }
    }
    for most in [300, 100, 20] {
      for number in 0..<most { try await add(number, most) }
      await refuses(.merchantLimit) { try await add(most, most) }
    }
    // One that is there can be given again.
    for most in [300, 100] { try await add(7, most) }
    let merchant = try await place.merchant()
    #expect(merchant.domains.count == 300 && merchant.secrets(.apiKey).count == 100)
  }

  @Test func `have keys that may together what one of them may, until the first end where they may different things`() {
    func limits(_ scopes: Set<APIKeyScope>?, _ seconds: Int64?) -> APIKeyLimits {
      APIKeyLimits(scopes: scopes, expiresAt: seconds.map { Timestamp(seconds: $0) })
    }
    #expect(APIKeyLimits.union([limits([.refunds], 10), limits([.read], 99)]) == limits([.refunds, .read], 10))
    #expect(APIKeyLimits.union([limits([.refunds], 10), limits([.read], nil)]) == limits([.refunds, .read], 10))
    #expect(APIKeyLimits.union([limits([.read], 10), limits([.read], 99)]) == limits([.read], 99))
    #expect(APIKeyLimits.union([limits([.read], 10), limits(nil, nil)]) == limits(nil, 10))
    #expect(APIKeyLimits.union([]) == APIKeyLimits.none)
  }

  @Test func `refuse a change that is based on an old reading`() async throws {
    let place = try await StoreOfMerchants()
    try await place.store.write { try $0.update(StoreOfMerchants.harbour, settings: "a", after: 1) }
    await refuses(.merchantChanged) {
      try await place.store.write { try $0.update(StoreOfMerchants.harbour, settings: "b", after: 1) }
    }
    #expect(try await place.merchant().settings == "a")
  }

  @Test func `raise the revision with every change, and when a secret expires`() async throws {
    let place = try await StoreOfMerchants()
    let before = try await place.store.fingerprint(at: place.clock.now)
    try await place.store.write {
      try $0.keep(
        "a secret of some length", as: SecretName(StoreOfMerchants.harbour, .apiKey, "k1"),
        within: APIKeyLimits(expiresAt: place.clock.now.adding(.seconds(60))))
    }
    let after = try await place.store.fingerprint(at: place.clock.now)
    #expect(after != before)
    #expect(try await place.store.fingerprint(at: place.clock.now) == after)
    #expect(try await place.store.fingerprint(at: place.clock.now.adding(.seconds(61))) != after)
    #expect(try await place.merchant().secrets(.apiKey) == ["k1": "a secret of some length"])
    place.clock.advance(.seconds(61))
    #expect(try await place.merchant().secrets(.apiKey).isEmpty)
  }

  @Test(arguments: StoreEngineUnderTest.present)
  func `raise the revision once for each of 64 changes at two nodes`(_ engine: StoreEngineUnderTest) async throws {
    let place = try await EmptyDatabase(engine)
    var nodes: [MerchantStore] = []
    for _ in 0..<(engine == .postgres ? 2 : 1) {
      nodes.append(MerchantStore(try await place.open(MerchantStore.migrations), keys: nil))
    }
    try await withThrowingTaskGroup(of: Void.self) { [nodes] group in
      for number in 0..<64 { group.addTask { try await nodes[number % nodes.count].write { _ in } } }
      try await group.waitForAll()
    }
    for node in nodes { #expect(try await node.fingerprint(at: Timestamp(seconds: 0)).revision == 64) }
  }

  @Test func `tell in which environments an identifier was used`() async throws {
    let place = try await StoreOfMerchants()
    let identifier = try MerchantIdentifier(Portal.merchant)
    #expect(try await place.store.write { try $0.note(identifier, in: .appleSandbox) } == [])
    #expect(try await place.store.write { try $0.note(identifier, in: .production) } == [.appleSandbox])
  }
}

@Suite struct `Secrets in the store` {
  static let secret = "5f1d0c9b8a7e6f5d4c3b2a1908f7e6d5c4b3a291807f6e5d4c3b2a1908f7e6d5"

  @Test(.enabled(if: StoreEngineUnderTest.isFile))
  func `cannot be found in its files, where a secret that is planted there is found`() async throws {
    let place = try await StoreOfMerchants()
    let key = P256.Signing.PrivateKey().pemRepresentation
    let line = String(try #require(key.split(separator: "\n").dropFirst().first))
    try await place.store.write {
      for kind in SecretName.Kind.allCases {
        let isPlatforms = [.customerInputKey, .oneTimeCode].contains(kind)
        let owner = isPlatforms ? SecretName.platform : StoreOfMerchants.harbour
        try $0.keep(Self.secret, as: SecretName(owner, kind, "one"))
      }
      try $0.keep(key, as: SecretName(StoreOfMerchants.harbour, .certificateKey, "two"))
    }
    let merchant = try await place.merchant()
    #expect(merchant.secrets(.certificateKey) == ["one": Self.secret, "two": key])
    #expect(try !place.holds(Self.secret) && !place.holds(key) && !place.holds(line))
    // The scan finds what is there.
    try await place.store.write {
      try $0.update(StoreOfMerchants.harbour, settings: "\(Self.secret) \(line)", after: 1)
    }
    #expect(try place.holds(Self.secret) && place.holds(line))
  }

  @Test func `do not open in another row's place`() async throws {
    let place = try await StoreOfMerchants()
    try await place.store.write {
      try $0.keep(Self.secret, as: SecretName(StoreOfMerchants.harbour, .apiKey, "one"))
      try $0.keep("another secret, not so good", as: SecretName(StoreOfMerchants.harbour, .apiKey, "two"))
    }
    try await place.database.write { store in
      try store.run(
        """
        UPDATE merchant_secrets SET nonce = (SELECT nonce FROM merchant_secrets WHERE name = 'two'),
          sealed = (SELECT sealed FROM merchant_secrets WHERE name = 'two') WHERE name = 'one'
        """)
    }
    await refuses(.secretNotOpened) { _ = try await place.merchant() }
  }

  @Test func `need the key that sealed them`() async throws {
    let place = try await StoreOfMerchants()
    try await place.store.write { try $0.keep(Self.secret, as: SecretName(StoreOfMerchants.harbour, .apiKey, "one")) }
    let other = MerchantStore(place.database, keys: try MasterKeys(StoreOfMerchants.newKey()))
    await refuses(.storeKeyMissing) { _ = try await other.merchants(at: place.clock.now) }
    let none = MerchantStore(place.database, keys: nil)
    await refuses(.storeKeyMissing) { _ = try await none.merchants(at: place.clock.now) }
  }

  @Test func `are sealed anew under a new key, and a rotation that ends early goes on later`() async throws {
    let old = StoreOfMerchants.newKey()
    let place = try await StoreOfMerchants(keys: old)
    try await place.store.write {
      for number in 0..<5 { try $0.keep(Self.secret, as: SecretName(StoreOfMerchants.harbour, .apiKey, "k\(number)")) }
    }
    let new = StoreOfMerchants.newKey()
    let both = MerchantStore(place.database, keys: try MasterKeys("\(new)\n\(old)\n"))
    #expect(try await both.reseal(atMost: 3) == 3)
    #expect(Set(try await both.secretsByKey().values) == [3, 2])
    #expect(try await both.read { try $0.merchant(StoreOfMerchants.harbour) }.secrets.count == 5)
    #expect(try await both.reseal(atMost: 3) == 2)
    #expect(try await both.reseal() == 0)
    let alone = MerchantStore(place.database, keys: try MasterKeys(new))
    #expect(try await alone.read { try $0.merchant(StoreOfMerchants.harbour) }.secrets(.apiKey)["k4"] == Self.secret)
    await refuses(.storeKeyMissing) { _ = try await place.merchant() }
  }

  @Test(arguments: ["", "00", String(repeating: "g", count: 64), String(repeating: "0", count: 66)])
  func `need a key of 32 bytes in hexadecimal`(_ text: String) {
    #expect(throws: MerchantStoreError.self) { _ = try MasterKeys(text) }
  }

  @Test func `print nothing of themselves`() async throws {
    let place = try await StoreOfMerchants()
    try await place.store.write { try $0.keep(Self.secret, as: SecretName(StoreOfMerchants.harbour, .apiKey, "one")) }
    let merchant = try await place.merchant()
    var shown = ""
    dump(merchant, to: &shown)
    dump(place.keys, to: &shown)
    shown += "\(merchant) \(merchant.secrets) \(place.keys)"
    #expect(!shown.contains(Self.secret))
  }
}

@Suite struct `Terms` {
  let place: StoreOfMerchants
  let id = StoreOfMerchants.harbour

  init() async throws { place = try await StoreOfMerchants() }

  private func standing() async throws -> Bool {
    try await place.store.read { try $0.termsStanding(of: StoreOfMerchants.harbour) }
      .allowsPayments(at: place.clock.now)
  }

  private func publish(_ version: String, grace: Duration) async throws {
    let end = place.clock.now.adding(grace)
    try await place.store.write { try $0.publish(version, wording: "The terms \(version)", requiredAt: end) }
  }

  private func say(_ kind: TermsEvent.Kind, _ version: String?) async throws {
    try await place.store.write {
      try $0.note(kind, version: version, of: StoreOfMerchants.harbour, by: "ann@example.com")
    }
  }

  @Test func `are not asked for where none are published`() async throws { #expect(try await standing()) }

  @Test func `must be accepted by the end of the grace period, and new ones again`() async throws {
    try await publish("1", grace: .seconds(10))
    #expect(try await standing())
    place.clock.advance(.seconds(11))
    #expect(try await !standing())
    try await say(.accepted, "1")
    #expect(try await standing())
    try await publish("2", grace: .seconds(10))
    #expect(try await standing())
    place.clock.advance(.seconds(11))
    #expect(try await !standing())
    await refuses(.termsUnknown) { try await say(.accepted, "1") }
    try await say(.accepted, "2")
    #expect(try await standing())
  }

  @Test func `end with the subscription, and who said what when is kept`() async throws {
    try await publish("1", grace: .zero)
    try await say(.accepted, "1")
    for _ in 0..<3 { try await say(.unsubscribed, nil) }
    #expect(try await !standing())
    try await say(.accepted, "1")
    #expect(try await standing())
    let events = try await place.store.read { try $0.termsEvents(of: StoreOfMerchants.harbour) }
    #expect(events.map(\.kind) == [.accepted, .unsubscribed, .accepted])
    #expect(events.allSatisfy { $0.actor == "ann@example.com" && $0.happenedAt == place.clock.now })
    #expect(events.map(\.version) == ["1", nil, "1"])
  }
}

/// Expects the store's refusal.
func refuses(
  _ code: MerchantStoreError.Code, sourceLocation: SourceLocation = #_sourceLocation, _ body: () async throws -> Void
) async {
  do {
    try await body()
    Issue.record("nothing was refused", sourceLocation: sourceLocation)
  } catch {
    #expect((error as? MerchantStoreError)?.code == code, "\(error)", sourceLocation: sourceLocation)
  }
}
