import ApplePayToken
import Synchronization
import TenderPayments
import Testing

@Suite struct `The signer monitor` {
  /// The novelties that a monitor reported.
  private final class Reports: Sendable {
    private let list = Mutex<[SignerMonitor.Novelty]>([])
    var all: [SignerMonitor.Novelty] { list.withLock { $0 } }
    func monitor(seen: [SignerMonitor.Novelty.Kind: Set<String>] = [:]) -> SignerMonitor {
      SignerMonitor(seen: seen) { novelty in self.list.withLock { $0.append(novelty) } }
    }
  }

  private func apple(
    _ issued: TestAuthority.Issued, _ reports: Reports, seen: [SignerMonitor.Novelty.Kind: Set<String>] = [:]
  ) throws -> TokenVerifier {
    let trust = try TokenTrust.apple(standIn: issued.rootPEM, production: true, sandbox: true)
    return TokenVerifier(trust: trust, monitor: reports.monitor(seen: seen))
  }

  @Test func `reports an unknown signer and intermediate once, and the token is accepted`() throws {
    let issued = try TestAuthority().issue()
    let reports = Reports()
    let verifier = try apple(issued, reports)
    for _ in 0..<3 {
      let token = try TestTokenBuilder(issued).build().token()
      #expect(try verifier.verify(token, at: TestTokenBuilder.Parts.arrival).environment == .production)
    }
    #expect(reports.all.map(\.kind) == [.signer, .intermediate])
    #expect(reports.all.first?.detail.contains("NOT APPLE broker-sign_UC4-PROD") == true)
  }

  @Test func `does not report what a store remembers`() throws {
    let issued = try TestAuthority().issue()
    let first = Reports()
    _ = try apple(issued, first).verify(TestTokenBuilder(issued).build().token(), at: TestTokenBuilder.Parts.arrival)
    let seen = Dictionary(grouping: first.all, by: \.kind).mapValues { Set($0.map(\.name)) }
    let second = Reports()
    _ = try apple(issued, second, seen: seen).verify(
      TestTokenBuilder(issued).build().token(), at: TestTokenBuilder.Parts.arrival)
    #expect(second.all.isEmpty)
  }

  @Test func `does not report a chain that is not trusted`() throws {
    let reports = Reports()
    let verifier = try apple(TestAuthority().issue(), reports)
    let untrusted = try TestTokenBuilder(TestAuthority().issue()).build().token()
    #expect(try refusal { try verifier.verify(untrusted, at: TestTokenBuilder.Parts.arrival) } == .untrustedRoot)
    #expect(reports.all.isEmpty)
  }

  @Test func `does not report a sandbox's certificates or the three known forms`() throws {
    let reports = Reports()
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let verifier = TokenVerifier(trust: trust, monitor: reports.monitor())
    var builder = try TestTokenBuilder()
    for (hasNull, hasProtection) in [(true, false), (true, true), (false, true)] {
      (builder.digestHasNull, builder.hasProtection) = (hasNull, hasProtection)
      _ = try verifier.verify(builder.build().token(), at: TestTokenBuilder.Parts.arrival)
    }
    #expect(reports.all.isEmpty)
  }

  @Test func `reports an unknown form`() throws {
    let reports = Reports()
    let trust = try TokenTrust.simulated(rootPEM: try Shared.issued.get().rootPEM)
    let verifier = TokenVerifier(trust: trust, monitor: reports.monitor())
    var builder = try TestTokenBuilder()
    builder.usesIndefiniteLengths = false
    for _ in 0..<2 { _ = try verifier.verify(builder.build().token(), at: TestTokenBuilder.Parts.arrival) }
    #expect(reports.all.map(\.kind) == [.wireForm])
    #expect(reports.all.first?.name.hasPrefix("definite lengths") == true)
    #expect(reports.all.first?.name.contains("1.2.840.113549.1.9.3") == true)
  }

  @Test func `reports the root and unsigned attributes, once each, whatever they hold`() throws {
    let reports = Reports()
    let issued = try Shared.issued.get()
    let trust = try TokenTrust.simulated(rootPEM: issued.rootPEM)
    let verifier = TokenVerifier(trust: trust, monitor: reports.monitor())
    var builder = try TestTokenBuilder()
    for type: UInt8 in [16, 17, 18] {
      builder.editSigners = { der(0x30, Array($0.dropFirst(4)) + der(0xA1, attribute([9, type], [5, 0]))) }
      _ = try verifier.verify(builder.build().token(), at: TestTokenBuilder.Parts.arrival)
    }
    builder.editSigners = { $0 }
    let root = try #require(Base64.decode(issued.rootPEM.split(separator: "\n").dropFirst().dropLast().joined()))
    builder.certificates = [issued.signer, issued.intermediate, root]
    _ = try verifier.verify(builder.build().token(), at: TestTokenBuilder.Parts.arrival)
    #expect(reports.all.map(\.kind) == [.wireForm, .wireForm])
    #expect(
      reports.all.map { $0.name.split(separator: "; ").last } == ["unsigned attributes", "the root's certificate"])
  }

  @Test func `forms are named by an inspection`() throws {
    var builder = try TestTokenBuilder()
    #expect(TokenInspection(try builder.build().token()).wireForm == .since2015)
    builder.digestHasNull = false
    #expect(TokenInspection(try builder.build().token()).wireForm == .since2023)
    (builder.digestHasNull, builder.hasProtection) = (true, false)
    #expect(TokenInspection(try builder.build().token()).wireForm == .of2014)
  }
}
