import Administration
import Foundation
import HTTPTransport
import MerchantIdentity
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `The server's mail` {
  @Test func `confirms a paid order to the shopper once, and says when money goes back`() async throws {
    let system = try await TestSystem.shared.value
    var shopper = try await Shopper.enters(system, system.kitsune)
    try await shopper.chooses()
    let answer = try await shopper.pays()
    let payment = try #require(answer.body["paymentId"]?.text, "\(answer.errorText)")
    let order = try #require(try await Self.wait(system, shopper.reference, "Your order \(shopper.reference)").first)
    #expect(order["from"]?.text == "\"Kitsune Noodles\" <tender@pay.example>")
    let address = try #require(try await shopper.contact("gb-london")["emailAddress"])
    #expect(order["recipients"]?.elements == [address])
    let text = try #require(order["text"]?.text)
    #expect(
      text.contains("Thank you for your order at Kitsune Noodles.") && text.contains("Total: 1500 JPY"), "\(text)")
    #expect(text.contains("Fish and chips"))
    let transaction = try #require(answer.body["transactionIdentifier"]?.text)
    #expect(text.contains("Card: Visa 0492") && text.contains("Apple Pay transaction: \(transaction)"), "\(text)")
    #expect(order["html"]?.text?.contains("#0b6e4f") == true)
    _ = try await system.admin("POST", "/payments/\(payment)/refund?amount=300")
    let refund = try #require(
      try await Self.wait(system, shopper.reference, "Refund for your order \(shopper.reference)").first)
    #expect(refund["text"]?.text?.contains("300 JPY") == true)
    #expect(try await Self.mails(system, shopper.reference).count == 2)
  }

  @Test func `writes to no shopper for a merchant who does not want it, nor for a declined payment`() async throws {
    let system = try await TestSystem.shared.value
    let other = try await Shopper.enters(system, system.harbour, service: "collection")
    _ = try await other.pays()
    let declined = try await Shopper.enters(system, system.kitsune, amount: 2051, service: "collection")
    _ = try await declined.pays()
    // A later order's message comes after theirs would have.
    let paid = try await Shopper.enters(system, system.kitsune, service: "collection")
    _ = try await paid.pays()
    _ = try await Self.wait(system, paid.reference, "Your order \(paid.reference)")
    #expect(try await Self.mails(system, other.reference).isEmpty)
    #expect(try await Self.mails(system, declined.reference).isEmpty)
  }

  @Test func `is tested by a message that the command sends at once, with the mail server's answer`() async throws {
    let system = try await TestSystem.shared.value
    let answer = try await system.admin("POST", "/mail/test?to=test%40pay.example")
    #expect(answer["state"] == "sent" && answer["result"]?.text?.hasPrefix("250 2.0.0") == true, "\(answer)")
    #expect(try await system.mails { $0["recipients"]?.elements == ["test@pay.example"] }.count == 1)
    let refused = try await system.admin("POST", "/mail/test?to=refused%40pay.example")
    #expect(refused["state"] == "dead" && refused["result"]?.text?.contains("550 5.1.1") == true, "\(refused)")
    let id = try #require(refused["id"]?.text)
    #expect(try await system.admin("GET", "/mail?state=dead").elements.contains { $0["id"]?.text == id })
    #expect(try await system.admin("POST", "/mail/retry?id=\(id)")["retried"] == .integer(1))
    #expect(try await system.admin("GET", "/mail/\(id)")["text"]?.text?.contains("can send mail") == true)
    #expect(try await system.metrics().contains("tender_mail_tried_total{outcome=\"sent\"}"))
  }

  @Test(.enabled(if: StoreEngineUnderTest.isFile))
  func `keeps the mail server's password out of the store, whose files show what is planted there`() async throws {
    let system = try await TestSystem.shared.value
    let sent = try await system.admin("POST", "/mail/test?to=planted-in-the-store%40pay.example")
    #expect(sent["state"] == "sent")
    #expect(try Self.storeHolds("planted-in-the-store@pay.example", system))
    #expect(try !Self.storeHolds("sandbox-mailbox", system))
    #expect(try !Self.storeHolds(Base64.encode(Array("\0tender\0sandbox-mailbox".utf8)), system))
  }

  @Test func `warns of a domain's TLS certificate and of Apple's verification, once at each threshold`() async throws {
    let system = try await StoredShop.system.value
    let (domain, now) = ("shop.sited.example", WallClock.system.now())
    SecureSites.show(try SiteCertificate.handshake(names: [domain], days: 20, at: now), at: domain)
    let stored = try await StoredShop("sited", system)
    let association = Base64.encode(Array("7B7D".utf8))
    try await stored.call(.addDomain(domain, merchant: "sited", associationBase64: association))
    // The server may have looked by itself already; of two at once each warning is queued once.
    _ = try await system.admin("POST", "/mail/warnings")
    _ = try await system.admin("POST", "/mail/warnings")
    let warned = try await Self.warned(system, of: domain, times: 2)
    #expect(warned.count == 2, "\(warned)")
    #expect(warned.contains { $0.contains("TLS certificate") } && warned.contains { $0.contains("verification") })

    let soon = now.adding(.seconds(7 * 86_400))
    _ = try await system.admin("POST", "/mail/warnings?at=\(soon)")
    #expect(try await Self.warned(system, of: domain, times: 4).count == 4)
    SecureSites.show(try SiteCertificate.handshake(names: [domain], days: 200, at: now), at: domain)
    _ = try await system.admin("POST", "/mail/warnings?at=\(soon.adding(.seconds(7 * 86_400)))")
    _ = try await system.admin("POST", "/mail/test?to=after%40pay.example")
    #expect(try await Self.subjects(system, about: domain).count == 4)
  }

  private static func subjects(_ system: TestSystem, about domain: String) async throws -> [String] {
    try await system.mails { _ in true }.compactMap { $0["subject"]?.text }.filter { $0.contains(domain) }
  }

  /// The subjects of the warnings, as soon as there are so many.
  private static func warned(_ system: TestSystem, of domain: String, times: Int) async throws -> [String] {
    try await waitFor("\(times) warnings of \(domain)", { try await subjects(system, about: domain) }) {
      $0.count >= times
    }
  }

  private static func storeHolds(_ text: String, _ system: TestSystem) throws -> Bool {
    try FileManager.default.contentsOfDirectory(atPath: system.directory).filter { $0.hasPrefix("tender.db") }
      .compactMap { FileManager.default.contents(atPath: "\(system.directory)/\($0)") }
      .contains { $0.range(of: Data(text.utf8)) != nil }
  }

  private static func mails(_ system: TestSystem, _ reference: String) async throws -> [JSONValue] {
    try await system.mails { $0["subject"]?.text?.contains(reference) == true }
  }

  private static func wait(_ system: TestSystem, _ reference: String, _ subject: String) async throws -> [JSONValue] {
    let found = try await waitFor("a message “\(subject)”", { try await mails(system, reference) }) {
      $0.contains { $0["subject"]?.text == subject }
    }
    return found.filter { $0["subject"]?.text == subject }
  }
}

@Suite struct `The clock moved to 20 days before expiry` {
  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "expiring", merchantIdentifier: "merchant.test.expiring", displayName: "Expiring", countryCode: "IE",
    currencyCode: "EUR", domains: ["expiring.localhost:8410"])
  /// TLS goes by the machine's clock, so the certificates are made in the past and end in about 20 days from today.
  private static let span: Duration = .seconds(-740 * 86_400)

  @Test func `puts the warning of each certificate into the mailbox once, also after a restart`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-expiry-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    let past = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock(ahead: Self.span))
    _ = try await StoredShop("expiring", past)
    #expect(try await past.admin("POST", "/mail/warnings")["queued"] == .integer(0))
    await past.stop()

    let today = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    // The server may have looked by itself already.
    _ = try await today.admin("POST", "/mail/warnings")
    try await Self.wait(today, for: 2)
    #expect(try await today.admin("POST", "/mail/warnings")["queued"] == .integer(0))
    let subjects = try await today.mails { _ in true }.compactMap { $0["subject"]?.text }.sorted()
    #expect(subjects.count == 2)
    #expect(
      subjects[0].wholeMatch(of: /The merchant identity certificate of expiring expires in (1[5-9]|2[0-5]) days/) != nil
    )
    #expect(subjects[1].hasPrefix("The payment processing certificate of expiring expires in "))
    await today.stop()

    let again = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    #expect(try await again.admin("POST", "/mail/warnings")["queued"] == .integer(0))
    #expect(try await again.mails { _ in true }.isEmpty)
    // Seven days before the end the next warning is due.
    let week = WallClock.system.now().adding(.seconds(14 * 86_400))
    #expect(try await again.admin("POST", "/mail/warnings?at=\(week)")["queued"] == .integer(2))
    try await Self.wait(again, for: 2)
    #expect(try await again.mails { _ in true }.count == 2)
    await again.stop()
  }

  private static func wait(_ system: TestSystem, for count: Int) async throws {
    try await waitFor("\(count) messages", { try await system.mails { _ in true } }) { $0.count >= count }
  }
}
