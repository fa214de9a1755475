import ApplePayToken
import Synchronization
import TenderPayments
import Testing

@Suite struct `The canary` {
  /// What was sung.
  private final class Songs: Sendable {
    private let heard = Mutex<[TokenCanary.Novelty]>([])
    var all: [TokenCanary.Novelty] { heard.withLock { $0 } }
    func canary(seen: [TokenCanary.Novelty.Kind: Set<String>] = [:]) -> TokenCanary {
      TokenCanary(seen: seen) { novelty in self.heard.withLock { $0.append(novelty) } }
    }
  }

  private func apple(
    _ issued: TestAuthority.Issued, _ songs: Songs, seen: [TokenCanary.Novelty.Kind: Set<String>] = [:]
  ) throws -> TokenVerifier {
    let trust = try TokenTrust.apple(standIn: issued.rootPEM, production: true, sandbox: true)
    return TokenVerifier(trust: trust, canary: songs.canary(seen: seen))
  }

  @Test func `sings once for a signer and an intermediate that nobody has seen, and the token passes`() throws {
    let issued = try TestAuthority().issue()
    let songs = Songs()
    let verifier = try apple(issued, songs)
    for _ in 0..<3 {
      let token = try TestMint(issued).mint().token()
      #expect(try verifier.verify(token, at: TestMint.Minted.arrival).environment == .production)
    }
    #expect(songs.all.map(\.kind) == [.signer, .intermediate])
    #expect(songs.all.first?.detail.contains("NOT APPLE broker-sign_UC4-PROD") == true)
  }

  @Test func `is silent about what a store remembers`() throws {
    let issued = try TestAuthority().issue()
    let first = Songs()
    _ = try apple(issued, first).verify(TestMint(issued).mint().token(), at: TestMint.Minted.arrival)
    let seen = Dictionary(grouping: first.all, by: \.kind).mapValues { Set($0.map(\.name)) }
    let second = Songs()
    _ = try apple(issued, second, seen: seen).verify(TestMint(issued).mint().token(), at: TestMint.Minted.arrival)
    #expect(second.all.isEmpty)
  }

  @Test func `is silent about a chain that is not trusted`() throws {
    let songs = Songs()
    let verifier = try apple(TestAuthority().issue(), songs)
    let stranger = try TestMint(TestAuthority().issue()).mint().token()
    #expect(try refusal { try verifier.verify(stranger, at: TestMint.Minted.arrival) } == .untrustedRoot)
    #expect(songs.all.isEmpty)
  }

  @Test func `is silent about a sandbox's certificates, and about the three forms`() throws {
    let songs = Songs()
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let verifier = TokenVerifier(trust: trust, canary: songs.canary())
    var mint = try TestMint()
    for (hasNull, hasProtection) in [(true, false), (true, true), (false, true)] {
      (mint.digestHasNull, mint.hasProtection) = (hasNull, hasProtection)
      _ = try verifier.verify(mint.mint().token(), at: TestMint.Minted.arrival)
    }
    #expect(songs.all.isEmpty)
  }

  @Test func `sings for another form`() throws {
    let songs = Songs()
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let verifier = TokenVerifier(trust: trust, canary: songs.canary())
    var mint = try TestMint()
    mint.usesIndefiniteLengths = false
    for _ in 0..<2 { _ = try verifier.verify(mint.mint().token(), at: TestMint.Minted.arrival) }
    #expect(songs.all.map(\.kind) == [.wireForm])
    #expect(songs.all.first?.name.hasPrefix("definite lengths") == true)
    #expect(songs.all.first?.name.contains("1.2.840.113549.1.9.3") == true)
  }

  @Test func `forms are named by an inspection`() throws {
    var mint = try TestMint()
    #expect(TokenInspection(try mint.mint().token()).wireForm == .since2015)
    mint.digestHasNull = false
    #expect(TokenInspection(try mint.mint().token()).wireForm == .since2023)
    (mint.digestHasNull, mint.hasProtection) = (true, false)
    #expect(TokenInspection(try mint.mint().token()).wireForm == .of2014)
  }
}
