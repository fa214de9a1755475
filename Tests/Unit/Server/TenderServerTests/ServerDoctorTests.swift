import Administration
import Doctor
import Foundation
import HTTPTransport
import Logging
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `The doctor of a running server` {
  @Test func `is reached by the server's port, wherever its store is`() async throws {
    let system = try await TestSystem.shared.value
    let served = try await ServedTender(system)
    defer { served.end() }
    let answer = try await CommandBesideServer.run(["doctor", "--port", "\(served.port)", "--json"])
    let checks = JSONField(try JSONReader.read(answer.output))
    let codes = try checks.member("checks").array.map { try $0.member("code").string }
    #expect(Set(codes).isSuperset(of: ["merchant_readable", "store_opens", "mail_configured", "recovery_runs"]))
    let none = try await CommandBesideServer.run(["doctor", "--port", "1"])
    #expect(none.status == 1)
  }

  @Test func `examines the merchants in the store as it does those in folders`() async throws {
    let system = try await StoredShop.system.value
    let stored = try await StoredShop("examined", system)
    let healthy = try await Self.findings(system, "examined")
    #expect(healthy.contains { $0.code == "certificate_pair" && $0.status == .ok })
    #expect(healthy.contains { $0.code == "self_test_payment_data" && $0.status == .ok })
    #expect(healthy.contains { $0.code == "association_present" && $0.status == .ok })
    #expect(healthy.contains { $0.code == "apple_session" && $0.status == .ok })

    try await stored.call(.addDomain("never.examined.localhost:8499", merchant: "examined", associationBase64: nil))
    let found = try await Self.findings(system, "examined").filter { $0.status == .failed }.map(\.code)
    #expect(found.contains("association_present") && found.contains("apple_session"), "\(found)")
    // The command line, which cannot open the store beside the server, asks for the same.
    let asked = try await StrictJSONDecoder().decode(
      DoctorReport.self, from: system.admin("POST", "/doctor/merchants"))
    #expect(asked.checks.contains { $0.code == "association_present" && $0.status == .failed })
  }

  @Test func `says of a merchant in the store what its commands do, and nothing of files that it has not`() async throws
  {
    let system = try await StoredShop.system.value
    _ = try await StoredShop("withcert", system)
    let merchant = MerchantProvisioning.NewMerchant(
      id: "bare", merchantIdentifier: "merchant.test.bare", displayName: "Bare", countryCode: "IE",
      currencyCode: "EUR", domains: ["bare.localhost:8498"])
    _ = try await system.admin(
      "POST", "/merchants/calls",
      Array(try JSONEncoder().encode(MerchantCall.add(try MerchantBundle(merchant, random: .system)))))
    let bare = try await Self.findings(system, "bare")
    func remedy(_ code: String) -> String { bare.first { $0.code == code }?.remedy ?? "" }
    #expect(
      remedy("association_present").contains("tender domain add bare.localhost:8498 --merchant bare --association FILE")
    )
    #expect(!bare.contains { $0.code == "association_present" && "\($0.finding) \($0.remedy)".contains("store/") })
    #expect(remedy("identity_present").contains("tender certificate request bare --kind identity"))
    #expect(remedy("processing_present").contains("tender certificate import FILE --merchant bare"))
    let old = try await StrictJSONDecoder().decode(
      DoctorReport.self, from: system.admin("POST", "/doctor?until=2099-01-01T00:00:00Z")
    ).checks.filter { $0.code == "certificate_expiry" && $0.status == .failed }
    let stored = old.filter { $0.subject.hasPrefix("store/withcert/") }
    #expect(stored.count == 2, "\(old)")
    #expect(stored.allSatisfy { $0.remedy.contains("tender certificate request withcert --kind ") }, "\(stored)")
    #expect(old.contains { $0.remedy.contains("tender reload") }, "of a folder")
  }

  @Test func `runs by itself a minute after the start, and its findings are on the metrics page`() async throws {
    let system = try await TestSystem.shared.value
    let minute = Mailbox<Bool>()
    // The doctor's first pause ends when the test says so; no other pause is a minute.
    let scheduler = Scheduler(
      uptime: Scheduler.system.uptime,
      sleep: { pause in
        guard pause == .seconds(60) else { return try await Scheduler.system.sleep(pause) }
        _ = try await minute.awaited
      }, finish: Scheduler.system.finish)
    let directory = FileManager.default.temporaryDirectory.appending(path: "tender-timer-\(UUID().uuidString)").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    var configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: system.sandbox.base,
      acquirer: .init(connector: "sandbox", baseURL: system.sandbox.base, apiKey: ""))
    configuration.merchantsDirectory = system.directory + "/merchants"
    configuration.platformDirectory = system.directory + "/platform"
    configuration.allowsPrivateWebhooks = true
    let ready = Mailbox<Int>()
    var logger = Logger(label: "timer")
    logger.logLevel = .critical
    let network = Network(
      plain: try LiveHTTPClient().sender.unhurried,
      identified: { identity, trust in try LiveHTTPClient(identity: identity, trust: trust).sender.unhurried })
    let server = try await TenderServer(configuration, scheduler: scheduler, network: network, logger: logger) {
      ready.put($0)
    }
    let run = ready.start { try await server.run() }
    _ = try await ready.awaited
    #expect(try await !TestSystem.metrics(directory, system.sender).contains("tender_doctor_check"))
    minute.put(true)
    let text = try await waitFor("the doctor's metrics", { try await TestSystem.metrics(directory, system.sender) }) {
      $0.contains("tender_doctor_check")
    }
    run.cancel()
    _ = await run.result
    #expect(text.contains("# TYPE tender_doctor_check gauge"))
    #expect(text.contains("tender_doctor_check{code=\"merchant_readable\",subject=\"harbour\"} 0"), "\(text)")
    // Nobody serves the shop's port in this test.
    #expect(text.firstMatch(of: /tender_doctor_check\{code="association_served",subject="harbour[^"]*"\} 1/) != nil)
  }

  private static func findings(_ system: TestSystem, _ merchant: String) async throws -> [DoctorFinding] {
    let report = try await StrictJSONDecoder().decode(DoctorReport.self, from: system.admin("POST", "/doctor"))
    return report.checks.filter { $0.subject.contains(merchant) }
  }
}
