import ApplePayToken
import Crypto
import Synchronization
import TenderPayments
import TenderTesting
import Testing

@Suite(.everyKeyHolder) struct `A ring of processing keys` {
  private let now = TestTokenBuilder.Parts.arrival
  private let merchant = TestTokenBuilder.merchant

  private func key(_ secret: P256.KeyAgreement.PrivateKey = .init()) throws -> ProcessingKey {
    try KeyHolding.held(
      ProcessingKey(privateKeyPEM: secret.pemRepresentation, merchantIdentifier: TestTokenBuilder.merchantIdentifier))
  }

  private func opener(_ ring: ProcessingKeyRing) throws -> TokenOpener {
    TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: try Shared.issued.get().rootPEM)), keys: ring)
  }

  private func token(
    to secret: P256.KeyAgreement.PrivateKey, at time: Timestamp? = nil, applicationData: [UInt8]? = nil
  ) throws -> EncryptedPaymentToken {
    var builder = try TestTokenBuilder()
    (builder.merchantKey, builder.applicationData) = (secret, applicationData)
    builder.signingTime = time ?? now
    return try builder.build().token()
  }

  @Test func `the first key is active, and one that is added is next until its first token`() throws {
    let (old, new) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let ring = ProcessingKeyRing([merchant: [try key(old)]])
    ring.add(try key(new), of: .merchant(merchant))
    #expect(ring.entries.map(\.state) == [.active, .next])
    _ = try opener(ring).open(token(to: old), for: merchant, at: now)
    #expect(ring.entries.map(\.state) == [.active, .next])
    #expect(ring.entries.map(\.lastUsed) == [now, nil])
    _ = try opener(ring).open(token(to: new), for: merchant, at: now)
    #expect(ring.entries.map(\.state) == [.draining, .active])
    _ = try opener(ring).open(token(to: old), for: merchant, at: now)
    #expect(ring.entries.map(\.state) == [.draining, .active], "a late token opens, and changes nothing")
  }

  @Test func `a key can be retired a day after its last token, and later tokens get retired_key`() throws {
    let (old, new) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let ring = ProcessingKeyRing([merchant: [try key(old)]])
    ring.add(try key(new), of: .merchant(merchant))
    let opener = try opener(ring)
    let hash = try key(old).publicKeyHash
    func retire(at time: Timestamp) -> KeyRetirementRefusal? {
      do {
        try ring.retire(hash, of: .merchant(merchant), at: time)
        return nil
      } catch { return error }
    }
    _ = try opener.open(token(to: old), for: merchant, at: now)
    #expect(retire(at: now.adding(.seconds(900_000))) == .keyActive, "nothing else could open the next token")
    _ = try opener.open(token(to: new), for: merchant, at: now)
    let late = now.adding(.seconds(3600))
    _ = try opener.open(token(to: old, at: late), for: merchant, at: late)
    #expect(retire(at: late.adding(.seconds(86_399))) == .keyInUse)
    #expect(retire(at: late.adding(.seconds(86_400))) == nil)
    #expect(retire(at: late.adding(.seconds(86_400))) == .noSuchKey)
    #expect(try refusal { try opener.open(token(to: old), for: merchant, at: now) } == .retiredKey)
    #expect(ring.key(hash, of: merchant) == nil)
    _ = try opener.open(token(to: new), for: merchant, at: now)
  }

  @Test func `a key that stopped being active today is not retired, even without a recorded token`() throws {
    let new = P256.KeyAgreement.PrivateKey()
    let ring = ProcessingKeyRing([merchant: [try key()]])
    ring.add(try key(new), of: .merchant(merchant))
    _ = try opener(ring).open(token(to: new), for: merchant, at: now)
    let old = try #require(ring.entries.first)
    #expect(throws: KeyRetirementRefusal.keyInUse) {
      try ring.retire(old.publicKeyHash, of: old.owner, at: now.adding(.seconds(60)))
    }
  }

  @Test func `the recorder receives every change, and use once a minute`() throws {
    let records = Mutex<[ProcessingKeyRing.Entry]>([])
    let secret = P256.KeyAgreement.PrivateKey()
    let ring = ProcessingKeyRing { entry in records.withLock { $0.append(entry) } }
    ring.add(try key(), of: .merchant(merchant))
    ring.add(try key(secret), of: .merchant(merchant))
    let opener = try opener(ring)
    for second in 0..<120 {
      let time = now.adding(.seconds(second))
      _ = try opener.open(token(to: secret, at: time), for: merchant, at: time)
    }
    #expect(records.withLock { $0.map(\.state) } == [.active, .draining, .active])
    #expect(records.withLock { $0.map(\.lastUsed) } == [now, nil, now.adding(.seconds(60))])
  }

  @Test func `the ring restores recorded states after a restart`() throws {
    let secret = P256.KeyAgreement.PrivateKey()
    let ring = ProcessingKeyRing()
    ring.add(try key(secret), of: .merchant(merchant), state: .draining, since: now, lastUsed: now.adding(.seconds(5)))
    #expect(ring.entries.first?.lastUsed == now.adding(.seconds(5)))
    #expect(throws: KeyRetirementRefusal.keyInUse) {
      try ring.retire(key(secret).publicKeyHash, of: .merchant(merchant), at: now.adding(.seconds(86_404)))
    }
  }

  @Test func `while a key is rotated under load every token opens`() async throws {
    let (old, new) = (P256.KeyAgreement.PrivateKey(), P256.KeyAgreement.PrivateKey())
    let ring = ProcessingKeyRing([merchant: [try key(old)]])
    let opener = try opener(ring)
    let (merchant, now, added) = (merchant, now, try key(new))
    let tokens = try (0..<200).map { try token(to: $0 < 60 || $0 % 3 == 0 ? old : new) }
    let failures = await withTaskGroup(of: String?.self) { group in
      for (index, token) in tokens.enumerated() {
        if index == 50 { ring.add(added, of: .merchant(merchant)) }
        group.addTask {
          do {
            _ = try await opener.opening(token, for: merchant, at: now)
            return nil
          } catch { return "\(index): \(error)" }
        }
        if index % 20 == 19 {
          // The operator tries to retire keys at once; the ring refuses for every key in use.
          for entry in ring.entries where entry.lastUsed != nil {
            #expect(throws: (any Error).self) { try ring.retire(entry.publicKeyHash, of: entry.owner, at: now) }
          }
        }
      }
      return await group.reduce(into: []) { $0 += $1.map { [$0] } ?? [] }
    }
    #expect(failures.isEmpty, "\(failures)")
    #expect(ring.entries.map(\.state) == [.draining, .active])
  }
}

@Suite(.everyKeyHolder) struct `A platform's key` {
  private let secret = P256.KeyAgreement.PrivateKey()
  private let now = TestTokenBuilder.Parts.arrival

  private func opener() throws -> TokenOpener {
    let ring = ProcessingKeyRing()
    ring.add(
      try KeyHolding.held(
        ProcessingKey(privateKeyPEM: secret.pemRepresentation, merchantIdentifier: TestTokenBuilder.merchantIdentifier)),
      of: .platform)
    ring.enroll(MerchantID("A"), domains: ["a.example", "www.a.example"])
    ring.enroll(MerchantID("B"), domains: ["b.example"])
    return TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: try Shared.issued.get().rootPEM)), keys: ring)
  }

  private func open(
    domain: String?, for merchant: MerchantID, paying order: String? = nil
  ) throws -> OpenedPaymentToken {
    var builder = try TestTokenBuilder()
    builder.merchantKey = secret
    builder.applicationData = domain.map { Array(SHA256.hash(data: Array($0.utf8))) }
    return try opener().open(
      builder.build().token(), for: merchant, at: now, paying: order.map { Array(SHA256.hash(data: Array($0.utf8))) })
  }

  @Test func `opens a token whose application data is that of the order it pays, and of no other order`() throws {
    #expect(try open(domain: "A:order 7", for: MerchantID("A"), paying: "A:order 7").binding == .order)
    #expect(
      try refusal { try open(domain: "A:order 7", for: MerchantID("B"), paying: "B:order 8") }
        == .applicationDataMismatch)
  }

  @Test func `opens for the merchant whose domain the application data names`() throws {
    let opened = try open(domain: "www.a.example", for: MerchantID("A"))
    #expect(opened.binding == .platformDomain("www.a.example"))
    #expect(opened.merchant == MerchantID("A"))
    #expect(try open(domain: "b.example", for: MerchantID("B")).binding == .platformDomain("b.example"))
  }

  @Test func `does not open one merchant's token for another`() throws {
    #expect(try refusal { try open(domain: "a.example", for: MerchantID("B")) } == .applicationDataMismatch)
  }

  @Test func `does not open a token that names no domain, nor for a merchant who is not enrolled`() throws {
    #expect(try refusal { try open(domain: nil, for: MerchantID("A")) } == .applicationDataMissing)
    #expect(try refusal { try open(domain: "a.example", for: MerchantID("C")) } == .unknownKey)
  }
}
