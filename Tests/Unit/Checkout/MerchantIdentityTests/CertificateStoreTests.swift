import CryptoExtras
import Foundation
import MerchantIdentity
import Storage
import SwiftASN1
import TenderPayments
import TenderTesting
import Testing
import X509

/// Apple's answer to a request, at a moment.
private func answer(
  _ request: String, _ kind: CertificateKind, until end: Timestamp? = nil, merchant: String = Portal.merchant
) throws -> [UInt8] {
  let key = try CertificateSigningRequest(pemEncoded: request).publicKey
  let name = kind == .identity ? "Apple Pay Merchant Identity:" : "Apple Pay Payment Processing:"
  let issue = kind == .identity ? Portal.identity : Portal.processing
  let pem = try issue {
    $0.publicKey = key
    $0.commonName = name + merchant
    $0.merchant = merchant
  }
  return try PEMDocument(pemString: pem).derBytes
}

private func certificate(_ der: [UInt8]) throws -> AppleCertificate {
  try AppleCertificate(in: CertificateFile(der).certificates)
}

@Suite struct `A certificate in the store` {
  let place: StoreOfMerchants
  let id = StoreOfMerchants.harbour

  init() async throws { place = try await StoreOfMerchants() }

  private func request() async throws -> StoredCertificate {
    let request = try KeyAndRequest(.processing)
    return try await place.store.write { try $0.keep(request, of: StoreOfMerchants.harbour) }
  }

  private func receive(_ requested: StoredCertificate) async throws -> StoredCertificate {
    let answer = try certificate(answer(try #require(requested.request), .processing))
    return try await place.store.write { try $0.keep(answer, of: StoreOfMerchants.harbour) }
  }

  @Test func `goes from its request to its end, and its key with it`() async throws {
    let first = try await receive(try await request())
    #expect(first.state == .active && first.expiresAt == Portal.notAfter)
    let second = try await receive(try await request())
    #expect(second.state == .next)
    #expect(try await place.merchant().privateKey(of: second)?.contains("PRIVATE KEY") == true)
    #expect(try await place.store.write { try $0.activate(second.id) }.state == .active)
    let states = Dictionary(
      uniqueKeysWithValues: try await place.merchant().certificates.map { ($0.id, $0.state) })
    #expect(states == [first.id: .draining, second.id: .active])
    await refuses(.certificateState) { try await place.store.write { _ = try $0.retire(second.id) } }
    #expect(try await place.store.write { try $0.retire(first.id) }.state == .retired)
    #expect(try await place.merchant().privateKey(of: first) == nil)
    await refuses(.certificateState) { try await place.store.write { _ = try $0.activate(first.id) } }
  }

  @Test func `is refused when no request has its key, and when three are there`() async throws {
    let foreign = try KeyAndRequest(.processing)
    await refuses(.certificateNotRequested) {
      let answer = try certificate(answer(foreign.requestPEM, .processing))
      try await place.store.write { _ = try $0.keep(answer, of: StoreOfMerchants.harbour) }
    }
    for _ in 0..<3 { _ = try await receive(try await request()) }
    await refuses(.certificateLimit) { _ = try await receive(try await request()) }
    place.clock.set(ahead: .seconds(2 * 366 * 86_400))
    #expect(try await receive(try await request()).state == .next, "expired ones do not count")
  }

  @Test func `is not taken again without its key, once that was deleted`() async throws {
    let requested = try await request()
    let answer = try certificate(answer(try #require(requested.request), .processing))
    _ = try await place.store.write { try $0.retire(requested.id) }
    await refuses(.certificateNotRequested) {
      _ = try await place.store.write { try $0.keep(answer, of: StoreOfMerchants.harbour) }
    }
  }

  @Test(arguments: [[0x7A, 0x01], [0x80, 0xFF], [0x0A], [0x00], Array(repeating: 0xAB, count: 20)] as [[UInt8]])
  func `has the serial number that OpenSSL prints, and a request none`(_ bytes: [UInt8]) async throws {
    let requested = try await request()
    #expect(requested.serialNumber == nil)
    let key = try CertificateSigningRequest(pemEncoded: try #require(requested.request)).publicKey
    let pem = try Portal.processing { ($0.publicKey, $0.serialNumber) = (key, .init(bytes: bytes)) }
    let received = try await place.store.write {
      try $0.keep(try certificate(try PEMDocument(pemString: pem).derBytes), of: StoreOfMerchants.harbour)
    }
    let printed = try ChildProcess.run(["openssl", "x509", "-noout", "-serial"], input: Array(pem.utf8)).output
    #expect("serial=\(received.serialNumber ?? "")\n" == String(decoding: printed, as: UTF8.self))
  }

  /// Anybody can write such a certificate for a request of their own, and it is read at every look at the merchants.
  @Test func `is read without a name that is dear to compare`() async throws {
    let requested = try CertificateSigningRequest(pemEncoded: try #require(try await request().request))
    for rest in [String(repeating: "\u{301}\u{327}", count: 11_000), String(repeating: "x", count: 300)] {
      let pem = try Portal.processing {
        $0.publicKey = requested.publicKey
        $0.commonName = "Apple Pay Merchant Identity:a" + rest
      }
      // Without a name, the key tells the kind.
      #expect(try certificate(try PEMDocument(pemString: pem).derBytes).kind == .processing)
    }
  }

  @Test func `is the same when it is imported twice, and stays in use when Apple issues it again`() async throws {
    let requested = try await request()
    let answer = try certificate(answer(try #require(requested.request), .processing))
    for _ in 0..<2 {
      let kept = try await place.store.write { try $0.keep(answer, of: StoreOfMerchants.harbour) }
      #expect(kept.state == .active && kept.certificate == answer.pem && kept.id == requested.id)
    }
    #expect(try await receive(requested).state == .active)
    #expect(try await place.merchant().certificates.count == 1)
  }

  @Test func `follows what payment tokens prove`() async throws {
    let first = try await receive(try await request())
    let second = try await receive(try await request())
    try await place.store.write {
      try $0.follow(.active, of: second.publicKeyHash, merchant: StoreOfMerchants.harbour)
      try $0.follow(.draining, of: first.publicKeyHash, merchant: StoreOfMerchants.harbour)
    }
    #expect(try await place.store.read { try $0.certificate(second.id) }.state == .active)
    #expect(try await place.store.read { try $0.certificate(first.id) }.state == .draining)
  }

  @Test func `stays as an operator has set it when what payment tokens proved before is written late`() async throws {
    let first = try await receive(try await request())
    let second = try await receive(try await request())
    try await place.store.write {
      _ = try $0.activate(second.id)
      try $0.follow(.next, of: second.publicKeyHash, merchant: StoreOfMerchants.harbour)
      try $0.follow(.active, of: first.publicKeyHash, merchant: StoreOfMerchants.harbour)
    }
    #expect(try await place.store.read { try $0.certificate(second.id) }.state == .active)
    #expect(try await place.store.read { try $0.certificate(first.id) }.state == .draining)
  }

  @Test(arguments: [CertificateState.draining, .retired])
  func `stays in use, with its key, where an operator has gone back to it since tokens proved another`(
    state: CertificateState
  ) async throws {
    let first = try await receive(try await request())
    let second = try await receive(try await request())
    try await place.store.write {
      _ = try $0.activate(second.id)
      _ = try $0.activate(first.id)
      let proved = Timestamp(microseconds: 1)
      try $0.follow(state, since: proved, of: first.publicKeyHash, merchant: StoreOfMerchants.harbour)
    }
    #expect(try await place.store.read { try $0.certificate(first.id) }.state == .active)
    #expect(try await place.merchant().privateKey(of: first) != nil)
  }

  @Test func `loses its key when the server retires it`() async throws {
    let first = try await receive(try await request())
    try await place.store.write {
      try $0.follow(.draining, of: first.publicKeyHash, merchant: StoreOfMerchants.harbour)
    }
    #expect(try await place.merchant().privateKey(of: first) != nil)
    try await place.store.write {
      try $0.follow(.retired, of: first.publicKeyHash, merchant: StoreOfMerchants.harbour)
    }
    #expect(try await place.merchant().privateKey(of: first) == nil)
    #expect(try await place.store.read { try $0.certificate(first.id) }.state == .retired)
    #expect(try await place.database.read { try $0.rows("SELECT * FROM merchant_secrets") }.isEmpty)
  }

  @Test func `of an identity is retired by itself a day after another replaced it`() async throws {
    var ids: [String] = []
    for _ in 0..<2 {
      let request = try KeyAndRequest(.identity)
      let row = try await place.store.write { try $0.keep(request, of: StoreOfMerchants.harbour) }
      let answer = try certificate(answer(request.requestPEM, .identity))
      _ = try await place.store.write { try $0.keep(answer, of: StoreOfMerchants.harbour) }
      ids.append(row.id)
    }
    let (first, second) = (ids[0], ids[1])
    _ = try await place.store.write { try $0.activate(second) }
    place.clock.set(ahead: .seconds(86_399))
    let day: Duration = .seconds(86_400)
    #expect(try await place.store.retireIdentities(replacedFor: day, at: place.clock.now) == [])
    place.clock.set(ahead: .seconds(2))
    #expect(try await place.store.retireIdentities(replacedFor: day, at: place.clock.now) == [first])
    #expect(try await place.store.retireIdentities(replacedFor: day, at: place.clock.now) == [])
    let merchant = try await place.merchant()
    #expect(merchant.certificates.map(\.state).sorted { $0.rawValue < $1.rawValue } == [.active, .retired])
    #expect(merchant.secrets(.certificateKey).keys.sorted() == [second])
  }
}

@Suite struct `Apple's answer` {
  let merchant: MerchantIdentifier

  init() throws { merchant = try MerchantIdentifier(Portal.merchant) }

  @Test func `is read as DER, PEM and PKCS #7, and is the same`() async throws {
    let der = try answer(try KeyAndRequest(.processing).requestPEM, .processing)
    let pem = PEMDocument(type: "CERTIFICATE", derBytes: der).pemString
    let files = try OpenSSLFiles()
    let pkcs7 = try files.pkcs7(of: pem)
    let read = try certificate(der)
    #expect(try certificate(Array(pem.utf8)) == read)
    #expect(try certificate(pkcs7) == read)
    #expect(try certificate(Array(PEMDocument(type: "PKCS7", derBytes: pkcs7).pemString.utf8)) == read)
    #expect(read.kind == .processing && read.algorithm == .p256 && read.notAfter == Portal.notAfter)
  }

  @Test func `is read from PKCS #12 with its key, and written so`() async throws {
    let pem = try Portal.identity()
    let bytes = try CertificateFile.pkcs12(
      certificatePEM: pem, privateKeyPEM: try Portal.identityKeyPEM, passphrase: "open sesame")
    let file = try CertificateFile(pkcs12: bytes, passphrase: "open sesame")
    let key = try #require(file.privateKeyPEM)
    #expect(try AppleCertificate(in: file.certificates).kind == .identity)
    _ = try MerchantIdentityCertificate(
      certificatePEM: pem, privateKeyPEM: key, for: merchant, at: Portal.today)
    #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: bytes, passphrase: "shut") }
    // Without a passphrase it is no file without a certificate.
    #expect(CertificateFile.isPKCS12(bytes) && !CertificateFile.isPKCS12(Array("-----BEGIN".utf8)))
  }

  @Test(arguments: [["-nocerts"], ["-nokeys"], ["-nokeys", "-certpbe", "NONE"]])
  func `is refused with the reason when its PKCS #12 lacks certificate or key`(_ options: [String]) throws {
    let bytes = try OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, options)
    do {
      _ = try CertificateFile(pkcs12: bytes, passphrase: "open sesame")
      Issue.record("it was read")
    } catch {
      #expect(error.reason.contains(options[0] == "-nocerts" ? "no certificate" : "no private key"), "\(error)")
    }
  }

  @Test(arguments: [[], ["-certpbe", "NONE"], ["-keypbe", "NONE", "-certpbe", "NONE"], ["-descert", "-legacy"]])
  func `is read from the PKCS #12 files that OpenSSL writes`(_ options: [String]) throws {
    let bytes = try OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, options)
    let file = try CertificateFile(pkcs12: bytes, passphrase: "open sesame")
    #expect(file.certificates.count == 1 && file.privateKeyPEM != nil)
  }

  @Test func `is read where nothing seals its PKCS #12, and refused with OpenSSL's line for SHA-224`() throws {
    let unsealed = try OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, ["-nomac"])
    #expect(try CertificateFile(pkcs12: unsealed, passphrase: "open sesame").certificates.count == 1)
    #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: unsealed, passphrase: "other") }
    let short = try OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, ["-macalg", "sha224"])
    expect(.certificateUnreadable, from: short, saying: "openssl")
  }

  @Test(arguments: 1...6)
  func `is read from the files of RFC 9879 that PBMAC1 seals, and from none of those that are wrong`(
    _ number: Int
  ) throws {
    let text = try Repository.text("Tests/Support/Vectors/pbmac1/a\(number).txt")
    let bytes = try #require(Base64.decode(text.replacing("\n", with: "")))
    #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: bytes, passphrase: "12345") }
    guard number <= 3 else {
      #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: bytes, passphrase: "1234") }
      return
    }
    let file = try CertificateFile(pkcs12: bytes, passphrase: "1234")
    #expect(file.certificates.count == 1 && file.privateKeyPEM != nil)
  }

  @Test(arguments: [[], ["-certpbe", "NONE"], ["-descert", "-legacy"]])
  func `is read under a passphrase with an umlaut, or refused with OpenSSL's line that helps`(
    _ options: [String]
  ) throws {
    let bytes = try OpenSSLFiles().pkcs12(
      Portal.identity(), Portal.identityKeyPEM, options + ["-passout", "pass:müller"])
    do {
      #expect(try CertificateFile(pkcs12: bytes, passphrase: "müller").certificates.count == 1)
      #expect(!options.contains("-legacy"))
    } catch {
      #expect(options.contains("-legacy") && error.advice.contains("openssl"), "\(error)")
    }
    #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: bytes, passphrase: "muller") }
  }

  @Test(arguments: [["-nokeys"], ["-nokeys", "-certpbe", "NONE"], ["-nokeys", "-descert", "-legacy"]])
  func `is refused with the reason when the key in its PKCS #12 is another's`(_ options: [String]) throws {
    let certificates = try PKCS12Contents(OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, options))
    let key = try PEMDocument(pemString: try #require(Portal.otherRSAKey).pkcs8PEMRepresentation).derBytes
    let parts = [try PKCS12Writer.part(key: key)] + certificates.certificateParts
    expect(.keyMismatch, from: try PKCS12Writer.file(of: parts, password: Self.password))
  }

  @Test func `is refused with the reason when what its PKCS #12 has beside the key is no certificate`() throws {
    let key = try PEMDocument(pemString: Portal.identityKeyPEM).derBytes
    let certificate = try PKCS12Writer.part(certificate: PEMDocument(pemString: Portal.identity()).derBytes)
    // The last number of the type x509Certificate: 2 is another kind.
    let type: [UInt8] = [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x09, 0x16, 0x01]
    let other = certificate.replacing(type, with: type.dropLast() + [0x02])
    #expect(other != certificate)
    expect(
      .certificateUnreadable,
      from: try PKCS12Writer.file(of: [PKCS12Writer.part(key: key), other], password: Self.password))
    expect(
      .certificateUnreadable,
      from: try PKCS12Writer.file(
        of: [PKCS12Writer.part(key: key), PKCS12Writer.part(key: key), certificate], password: Self.password))
  }

  /// In UTF-16, with a zero at the end.
  private static let password: [UInt8] = "open sesame\0".utf8.flatMap { [0, $0] as [UInt8] }

  private func expect(_ code: MerchantIdentityError.Code, from file: [UInt8], saying words: String = "") {
    do {
      _ = try CertificateFile(pkcs12: file, passphrase: "open sesame")
      Issue.record("it was read")
    } catch {
      #expect(
        error.code == code && !error.advice.isEmpty && (words.isEmpty || error.advice.contains(words)), "\(error)")
    }
  }

  @Test func `and a key that is another's are not written as PKCS #12`() throws {
    let (pem, key) = (try Portal.identity(), try #require(Portal.otherRSAKey).pkcs8PEMRepresentation)
    #expect(throws: MerchantIdentityError.self) {
      try CertificateFile.pkcs12(certificatePEM: pem, privateKeyPEM: key, passphrase: "open sesame")
    }
  }

  @Test func `is read from a PKCS #12 file without a passphrase, and not with one that is wrong`() throws {
    let key = try PEMDocument(pemString: Portal.identityKeyPEM).derBytes
    let certificate = try PEMDocument(pemString: Portal.identity()).derBytes
    let parts = [try PKCS12Writer.part(key: key), try PKCS12Writer.part(certificate: certificate)]
    for password in [[], [0, 0]] as [[UInt8]] {
      let file = try PKCS12Writer.file(of: parts, password: password)
      #expect(try CertificateFile(pkcs12: file, passphrase: "").certificates == [certificate])
      #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: file, passphrase: "other") }
    }
  }

  @Test func `is not read from what is no PKCS #12`() throws {
    let whole = try OpenSSLFiles().pkcs12(Portal.identity(), Portal.identityKeyPEM, [])
    for bytes in [[], [0x30, 0x00], Array("no file".utf8), Array(whole.prefix(200))] {
      #expect(throws: MerchantIdentityError.self) { try CertificateFile(pkcs12: bytes, passphrase: "open sesame") }
    }
  }

  @Test func `is refused for another merchant, kind, environment or time, with the reason`() async throws {
    let read = try AppleCertificate(in: CertificateFile(Array(try Portal.processing().utf8)).certificates)
    let other = try MerchantIdentifier("merchant.com.example.other")
    func refusal(
      _ merchant: MerchantIdentifier, _ environment: TenderPayments.Environment, _ now: Timestamp,
      as kind: CertificateKind? = nil
    ) -> MerchantIdentityError.Code? {
      do throws(MerchantIdentityError) { try read.require(kind, of: merchant, in: environment, at: now) } catch {
        return error.code
      }
      return nil
    }
    #expect(refusal(merchant, .simulated, Portal.today) == nil)
    #expect(refusal(other, .simulated, Portal.today) == .wrongMerchant)
    #expect(refusal(merchant, .simulated, Portal.today, as: .identity) == .processingCertificateGiven)
    #expect(refusal(merchant, .production, Portal.today) == .environmentMismatch)
    #expect(refusal(merchant, .simulated, Portal.notAfter.adding(.seconds(1))) == .expired)
    #expect(refusal(merchant, .simulated, Portal.notBefore.adding(.seconds(-1))) == .notYetValid)
  }

  @Test func `that is no certificate is refused`() {
    #expect(throws: MerchantIdentityError.self) { try AppleCertificate(in: CertificateFile([1, 2, 3]).certificates) }
    #expect(throws: MerchantIdentityError.self) { try AppleCertificate(in: CertificateFile([]).certificates) }
  }
}

/// What OpenSSL makes of a certificate.
private struct OpenSSLFiles {
  let directory = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString)")

  init() throws { try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true) }

  func pkcs7(of pem: String) throws -> [UInt8] {
    let (input, output) = (directory.appending(path: "c.pem"), directory.appending(path: "c.p7b"))
    try Data(pem.utf8).write(to: input)
    return try run(
      ["crl2pkcs7", "-nocrl", "-certfile", input.path, "-outform", "DER", "-out", output.path], output)
  }

  /// - Parameter options: further ones of `openssl pkcs12 -export`.
  func pkcs12(_ pem: String, _ key: String, _ options: [String]) throws -> [UInt8] {
    let places = ["c.pem", "c.key", "c.p12"].map { directory.appending(path: $0) }
    try Data(pem.utf8).write(to: places[0])
    try Data(key.utf8).write(to: places[1])
    let certificate = options.contains("-nocerts") ? [] : ["-in", places[0].path]
    let own = options.contains("-nokeys") ? [] : ["-inkey", places[1].path]
    return try run(
      ["pkcs12", "-export", "-passout", "pass:open sesame", "-out", places[2].path] + options + certificate + own,
      places[2])
  }

  private func run(_ arguments: [String], _ output: URL) throws -> [UInt8] {
    try #require(try ChildProcess.run(["openssl"] + arguments).status == 0)
    return Array(try Data(contentsOf: output))
  }
}
