import DirectWire
import Foundation
import Ledger
import MerchantIdentity
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Sessions, keys and inputs over one store, at a clock that a test sets.
private struct ClientBench: Sendable {
  let clock = ManualClock()
  let database: Database
  let merchants: MerchantStore
  let sessions: ClientSessions
  let keys: CustomerInputKeys
  let inputs: CustomerInputs

  init() async throws {
    let clock = clock.wall
    database = try MemoryStore().open(MerchantStore.migrations + ClientSessions.migrations, clock: clock)
    let store = MerchantStore(database, keys: try MasterKeys(String(repeating: "0f", count: 32)))
    merchants = store
    sessions = ClientSessions(database, clock: clock, random: .system)
    keys = CustomerInputKeys({ store }, clock: clock, random: .system)
    inputs = CustomerInputs(sessions: sessions, keys: keys)
  }

  /// What a kit makes in a session.
  func input(_ session: String, nonce: String = "n1") async throws -> String {
    let key = try await keys.current()
    let kit = CustomerInputKit(key)
    return try kit.encrypt(
      """
      {"clientSessionId":"\(session)","nonce":"\(nonce)","paymentProductId":302,
       "paymentValues":[{"key":"encryptedPaymentData","value":"{\\"version\\":\\"EC_v1\\"}"}]}
      """)
  }

  func open(_ text: String, of merchant: String = "harbour", call: String = "call-1") async throws -> MobilePaymentInput
  {
    try await inputs.open(
      text, completing: nil,
      for: IdempotentCall(
        merchant: MerchantID(merchant), call: "POST /payments", key: IdempotencyKey(call), requestHash: ""))
  }
}

@Suite struct `A client session` {
  private let bench: ClientBench

  init() async throws { bench = try await ClientBench() }

  @Test func `lasts three hours, and is stored under a hash of its id`() async throws {
    let (id, session) = try await bench.sessions.create(for: MerchantID("harbour"))
    #expect(try await bench.sessions.find(id) == session)
    #expect(session.merchant == MerchantID("harbour") && id.utf8.count == 48)
    let stored = try await bench.database.read {
      try $0.rows("SELECT id FROM client_sessions").map { try $0.text("id") }
    }
    #expect(stored.count == 1 && stored != [id])
    bench.clock.advance(ClientSessions.lifetime)
    #expect(try await bench.sessions.find(id) == nil)
  }

  @Test func `is removed with what was used in it once it has ended`() async throws {
    let (id, _) = try await bench.sessions.create(for: MerchantID("harbour"))
    _ = try await bench.open(try await bench.input(id))
    bench.clock.advance(ClientSessions.lifetime)
    _ = try await bench.sessions.create(for: MerchantID("harbour"))
    for (table, count) in [("client_sessions", 1), ("customer_inputs", 0)] {
      let rows = try await bench.database.read { try $0.rows("SELECT * FROM \(table)").count }
      #expect(rows == count)
    }
  }

  @Test func `opens an input once, and again for a repeat of the same call`() async throws {
    let (id, _) = try await bench.sessions.create(for: MerchantID("harbour"))
    let input = try await bench.input(id)
    #expect(try await bench.open(input).encryptedPaymentData != nil)
    #expect(try await bench.open(input).encryptedPaymentData != nil)
    await #expect(throws: CustomerInputRefusal.used) { try await bench.open(input, call: "call-2") }
    #expect(try await bench.open(try await bench.input(id, nonce: "n2"), call: "call-2").paymentProductId == 302)
  }

  @Test func `opens no input of another merchant's session, or of none`() async throws {
    let (id, _) = try await bench.sessions.create(for: MerchantID("harbour"))
    let input = try await bench.input(id)
    await #expect(throws: CustomerInputRefusal.sessionUnknown) { try await bench.open(input, of: "kitsune") }
    let foreign = try await bench.input("no such session")
    await #expect(throws: CustomerInputRefusal.sessionUnknown) { try await bench.open(foreign) }
    #expect(try await bench.open(input).paymentProductId == 302)
  }
}

@Suite struct `The public key of customer inputs` {
  private let bench: ClientBench

  init() async throws { bench = try await ClientBench() }

  @Test func `is another one every day, and the former opens for one more day`() async throws {
    let first = try await bench.keys.current()
    #expect(try await bench.keys.current().id == first.id)
    bench.clock.advance(CustomerInputKeys.rotation)
    let second = try await bench.keys.current()
    #expect(second.id != first.id && second.publicKey != first.publicKey)
    #expect(try await bench.keys.key(first.id)?.publicKey == first.publicKey)
    bench.clock.advance(CustomerInputKeys.lifetime - CustomerInputKeys.rotation)
    #expect(try await bench.keys.key(first.id) == nil)
    #expect(try await bench.keys.key(second.id) != nil)
  }

  @Test func `is the same on every node, and sealed in the store`() async throws {
    let key = try await bench.keys.current()
    let store = bench.merchants
    let other = CustomerInputKeys({ store }, clock: bench.clock.wall, random: .system)
    #expect(try await other.current().publicKey == key.publicKey)
    #expect(try await other.key(key.id) != nil)
    let sealed = try await bench.database.read {
      try $0.rows("SELECT sealed FROM merchant_secrets").map { try $0.blob("sealed") }
    }
    #expect(sealed.count == 1 && sealed.allSatisfy { !String(decoding: $0, as: UTF8.self).contains("PRIVATE KEY") })
  }

  @Test func `that is not known any more is named as the reason`() async throws {
    let (id, _) = try await bench.sessions.create(for: MerchantID("harbour"))
    let input = try await bench.input(id)
    bench.clock.advance(CustomerInputKeys.lifetime)
    await #expect(throws: CustomerInputRefusal.keyUnknown) { try await bench.open(input) }
  }

  @Test func `is made once for callers who ask together`() async throws {
    let ids = try await withThrowingTaskGroup { group in
      for _ in 0..<8 { group.addTask { try await bench.keys.current().id } }
      return try await group.reduce(into: Set<String>()) { $0.insert($1) }
    }
    #expect(ids.count == 1)
  }
}
