import AppleSandbox
import Crypto
import CryptoExtras
import HTTPTypes
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing
import X509

@Suite struct `The developer portal` {
  let testSandbox: TestSandbox
  let path = "/portal/merchants/\(Merchant.identifier)"

  init() async throws { testSandbox = try await TestSandbox() }

  private func registered<Value: Sendable>(
    _ body: @escaping @Sendable (Caller) async throws -> Value
  ) async throws -> Value {
    try await testSandbox.calls { portal in
      _ = try await portal.post("/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier)])
      return try await body(portal)
    }
  }

  @Test func `a merchant identifier is registered once`() async throws {
    try await registered { portal in
      let again = try await portal.post("/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier)])
      #expect(again.status == 409 && again.code == "merchant_exists")
      let shown = try await portal.get(path)
      #expect(shown["merchantIdentifierHash"] == "C23073D7F46B012BFD60FE9E90EF578910B808069D52539A291A62DF9FECDD1B")
    }
  }

  @Test(arguments: ["com.example.store", "merchant.", "merchant.a b", "merchant.ä"])
  func `an identifier of another form is refused`(identifier: String) async throws {
    let answer = try await testSandbox.calls {
      try await $0.post("/portal/merchants", ["merchantIdentifier": .string(identifier)])
    }
    #expect(answer.status == 400 && answer.code == "invalid_merchant_identifier")
  }

  @Test func `a processing certificate has the shape of Apple's`() async throws {
    let merchant = try Merchant()
    let answer = try await registered {
      try await $0.post("\(path)/certificates", ["type": "processing", "csr": .string(merchant.processingCSR)])
    }
    #expect(answer.json["active"] == true)
    let pem = try testSandbox.directory.file("ppc.pem", answer["certificate"] ?? "")
    let text = try openssl("x509", "-in", pem, "-noout", "-text", "-nameopt", "oneline").output
    #expect(text.contains("UID = merchant.com.example.store"))
    #expect(text.contains("CN = Apple Pay Payment Processing:merchant.com.example.store"))
    #expect(text.contains("X509v3 Key Usage: critical\n                Key Encipherment, Key Agreement"))
    #expect(!text.contains("Extended Key Usage"))
    let tree = try openssl("asn1parse", "-in", pem).output
    #expect(
      tree.contains(
        "0C4043323330373344374634364230313242464436304645394539304546353738393130423830383036394435323533394132393141363244463946454344443142"
      ))
    #expect(try lifetime(pem) == "25 months")
  }

  /// From a ten minutes' head start to the day 25 months on.
  private func lifetime(_ pem: String) throws -> String {
    let seconds = 60 * 60 * 24 * (25 * 30)
    let stillValid = try openssl("x509", "-in", pem, "-noout", "-checkend", String(seconds)).status == 0
    let over = try openssl("x509", "-in", pem, "-noout", "-checkend", String(seconds + 86_400 * 20)).status == 1
    return stillValid && over ? "25 months" : "another time"
  }

  @Test func `an identity certificate is for TLS clients and carries the merchant's hash`() async throws {
    let merchant = try Merchant()
    let answer = try await registered {
      try await $0.post("\(path)/certificates", ["type": "identity", "csr": .string(merchant.identityCSR)])
    }
    let pem = try testSandbox.directory.file("mic.pem", answer["certificate"] ?? "")
    let text = try openssl("x509", "-in", pem, "-noout", "-text", "-nameopt", "oneline").output
    #expect(text.contains("TLS Web Client Authentication"))
    #expect(text.contains("RSA Public-Key: (2048 bit)") || text.contains("Public-Key: (2048 bit)"))
    #expect(text.contains("CN = Apple Pay Merchant Identity:merchant.com.example.store"))
    #expect(text.contains("1.2.840.113635.100.6.32"))
  }

  @Test func `keys of the wrong kind are refused in Apple's words`() async throws {
    let merchant = try Merchant()
    let p384 = try Merchant.csr(Certificate.PrivateKey(P384.Signing.PrivateKey()))
    let rsa3072 = try Merchant.csr(Certificate.PrivateKey(_RSA.Signing.PrivateKey(keySize: .bits3072)))
    let (rsa, p256) = (try merchant.identityCSR, try merchant.processingCSR)
    try await registered { portal in
      for csr in [rsa, p384] {
        let answer = try await portal.post("\(path)/certificates", ["type": "processing", "csr": .string(csr)])
        #expect(answer.status == 400)
        #expect(
          answer["message"]
            == "Incorrect CSR Key Pair - Expected a Key Pair with ECC Algorithm and key size of 256 bits")
      }
      for csr in [p256, rsa3072] {
        let answer = try await portal.post("\(path)/certificates", ["type": "identity", "csr": .string(csr)])
        #expect(answer["message"] == "CSR algorithm/size incorrect. Expected: RSA(2048)")
      }
      let nonsense = try await portal.post("\(path)/certificates", ["type": "identity", "csr": "hello"])
      #expect(nonsense.code == "invalid_csr")
    }
  }

  @Test func `a merchant holds three processing certificates, of which one is active`() async throws {
    let csrs = try (0..<4).map { _ in try Merchant.csr(Certificate.PrivateKey(P256.Signing.PrivateKey())) }
    try await registered { portal in
      var ids: [String] = []
      for csr in csrs.prefix(3) {
        let answer = try await portal.post("\(path)/certificates", ["type": "processing", "csr": .string(csr)])
        #expect(answer.json["active"] == .bool(ids.isEmpty))
        ids.append(answer["id"] ?? "")
      }
      let fourth = try await portal.post("\(path)/certificates", ["type": "processing", "csr": .string(csrs[3])])
      #expect(fourth.status == 409 && fourth.code == "too_many_certificates")

      _ = try await portal.post("\(path)/certificates/\(ids[2])/activate")
      let listed = try await portal.get(path).json["certificates"]?.elements ?? []
      #expect(listed.map { $0["active"] } == [false, false, true])

      try await portal.send("\(path)/certificates/\(ids[0])", .delete).expect(status: 204)
      try await portal.post("\(path)/certificates", ["type": "processing", "csr": .string(csrs[3])]).expect(status: 201)
    }
  }

  @Test func `a domain is verified by its exact file, over HTTPS`() async throws {
    let web = testSandbox.web
    try await registered { portal in
      let added = try await portal.post("\(path)/domains", ["domain": "shop.example.com"])
      let url = "https://shop.example.com/.well-known/apple-developer-merchantid-domain-association.txt"
      let file = added["associationFile"] ?? ""
      try await portal.post("\(path)/domains/shop.example.com/verify").expect(code: "domain_not_verified")
      web.serve(file + "\n", at: url)
      try await portal.post("\(path)/domains/shop.example.com/verify").expect(status: 422)
      web.serve(file, at: url, status: 302)
      try await portal.post("\(path)/domains/shop.example.com/verify").expect(status: 422)
      web.serve(file, at: url)
      let verified = try await portal.post("\(path)/domains/shop.example.com/verify")
      #expect(verified.status == 200 && verified.json["verified"] == true)
      #expect(verified["associationURL"] == url)
    }
  }

  @Test func `a domain is verified at the port with which it is registered, and at no other`() async throws {
    let web = testSandbox.web
    try await registered { portal in
      let file = try await portal.post("\(path)/domains", ["domain": "shop.localhost:8401"])["associationFile"] ?? ""
      web.serve(file, at: "http://shop.localhost:8401/.well-known/apple-developer-merchantid-domain-association.txt")
      try await portal.post("\(path)/domains/shop.localhost:8402/verify").expect(code: "domain_unknown")
      let verified = try await portal.post("\(path)/domains/shop.localhost/verify")
      #expect(verified.json["verified"] == true && verified.json["domain"] == "shop.localhost:8401")
    }
  }

  @Test func `only the newest file counts, and only for seven days`() async throws {
    let (web, clock) = (testSandbox.web, testSandbox.clock)
    let url = "http://shop.localhost:8401/.well-known/apple-developer-merchantid-domain-association.txt"
    try await registered { portal in
      let old = try await portal.post("\(path)/domains", ["domain": "shop.localhost:8401"])["associationFile"] ?? ""
      let new = try await portal.post("\(path)/domains", ["domain": "shop.localhost:8401"])["associationFile"] ?? ""
      #expect(old != new)
      web.serve(old, at: url)
      try await portal.post("\(path)/domains/shop.localhost:8401/verify").expect(status: 422)
      web.serve(new, at: url)
      clock.advance(.seconds(7 * 86_400 + 1))
      try await portal.post("\(path)/domains/shop.localhost:8401/verify").expect(status: 422)
      clock.advance(.seconds(-2))
      try await portal.post("\(path)/domains/shop.localhost:8401/verify").expect(status: 200)
    }
  }

  @Test(arguments: [
    "https://shop.example.com", "shop.example.com/path", "shop.example.com:8443", "shop", "", "-a.example",
  ])
  func `what is no fully qualified host name is refused`(domain: String) async throws {
    let answer = try await registered { try await $0.post("\(path)/domains", ["domain": .string(domain)]) }
    #expect(answer.status == 400 && answer.code == "invalid_domain")
  }

  @Test func `everything is still there after a restart`() async throws {
    let directory = try TemporaryDirectory()
    let before = try await firstRun(in: directory)
    let restarted = try await TestSandbox(directory: directory)
    #expect(try await restarted.calls { try await $0.get(path).text } == before)
    #expect(before.contains("BEGIN CERTIFICATE"))
  }

  /// What a sandbox shows of its merchant, before it is gone.
  private func firstRun(in directory: TemporaryDirectory) async throws -> String {
    let (merchant, first) = (try Merchant(), try await TestSandbox(directory: directory))
    let shown = try await first.calls { caller in
      try await caller.enroll(merchant, in: first.web)
      return try await caller.get(path).text
    }
    await first.sandbox.close()
    return shown
  }

  @Test func `a body that is no JSON, or too long, gets a clear error`() async throws {
    try await testSandbox.calls { portal in
      let broken = try await portal.send("/portal/merchants", .post, [:], Array(#"{"a":1,"a":2}"#.utf8))
      #expect(broken.status == 400 && broken.code == "invalid_request")
      let long = try await portal.send("/portal/merchants", .post, [:], [UInt8](repeating: 0x20, count: 65_537))
      #expect(long.status == 413 && long.code == "too_large")
      try await portal.get("/portal/nowhere").expect(code: "not_found")
    }
  }
}
