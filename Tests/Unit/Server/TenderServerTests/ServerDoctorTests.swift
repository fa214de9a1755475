import Administration
import Doctor
import Foundation
import HTTPTransport
import Logging
import MerchantIdentity
import NIOCore
import NIOPosix
import Settings
import Storage
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
    let readable = #"tender_doctor_check{code="merchant_readable",status="ok",subject="harbour"} 0"#
    #expect(text.contains(readable), "\(text)")
    // Nobody serves the shop's port in this test.
    let served = /tender_doctor_check\{code="association_served",status="failed",subject="harbour[^"]*"\} 1/
    #expect(text.firstMatch(of: served) != nil)
  }

  private static func findings(_ system: TestSystem, _ merchant: String) async throws -> [DoctorFinding] {
    let report = try await StrictJSONDecoder().decode(DoctorReport.self, from: system.admin("POST", "/doctor"))
    return report.checks.filter { $0.subject.contains(merchant) }
  }
}

@Suite struct `tender doctor beside a server that runs` {
  @Test func `names what is wrong with the keys of its store, and says nothing against the server`() async throws {
    let (server, config) = try await Self.serverWithStoredMerchant()
    defer { server.end() }
    let file = server.directory + "/store.key"
    let key = try PrivateFile.text(file)
    let faults: [(mode: Int?, text: String?, words: String)] = [
      (0o644, key, "\(file): can be read by others than its owner"), (nil, nil, "sealed under the key"),
      (0o600, String(repeating: "3c", count: 32), "sealed under the key"), (0o600, "no key", "32 bytes in hexadecimal"),
    ]
    for fault in faults {
      try? FileManager.default.removeItem(atPath: file)
      if let text = fault.text, let mode = fault.mode {
        try PrivateFile.write(text, to: file)
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
      }
      for place in [["--config", config], ["--port", "\(server.port)"]] {
        let failed = try await Self.findings(place).filter { $0.status == .failed }
        let expected: Set = fault.mode == 0o644 ? ["private_file_mode", "secrets_open"] : ["secrets_open"]
        #expect(Set(failed.map(\.code)) == expected, "\(place): \(failed)")
        #expect(failed.last?.finding.contains(fault.words) == true, "\(place): \(failed)")
      }
    }
    try PrivateFile.write(key, to: file)
    #expect(try await Self.findings(["--config", config]).contains { $0.code == "secrets_open" && $0.status == .ok })
  }

  @Test func `says once it has ended that others can read the file of its keys, as tender config check does`()
    async throws
  {
    let (server, config) = try await Self.serverWithStoredMerchant()
    let file = server.directory + "/store.key"
    try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: file)
    server.end()
    _ = await server.process.end()
    let findings = try await Self.findings(["--config", config])
    let failed = findings.filter { $0.status == .failed }
    #expect(failed.map(\.code) == ["private_file_mode", "secrets_open"], "\(failed)")
    #expect(failed.first?.subject == file && failed.first?.remedy == "chmod 600 \(file)")
    #expect(findings.contains { $0.code == "server_answers" && $0.status == .skipped })
    let check = try await CommandBesideServer.run(["config", "check", "--config", config])
    let text = String(decoding: check.output, as: UTF8.self)
    #expect(check.status == 1 && text.contains("secrets.keyFile: error: \(file): can be read by others"), "\(text)")
  }

  @Test func `repeats the words of one that refuses, and does not take it for absent`() async throws {
    let system = try await TestSystem.shared.value
    let folder = "\(system.directory)/refusing"
    let config = folder + "/tender.yaml"
    try PrivateFile.write("", to: folder + "/tender.db")
    try "environment: simulated\ndirectory: \(folder)\nsandboxURL: \(system.sandbox.base)\n".write(
      toFile: config, atomically: true, encoding: .utf8)
    let server = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
      .childChannelInitializer { channel in
        channel.eventLoop.makeCompletedFuture { try channel.pipeline.syncOperations.addHandler(NotFound()) }
      }
      .bind(unixDomainSocketPath: folder + "/tender.db.sock").get()
    let findings = try await Self.findings(["--config", config])
    try await server.close().get()
    let failed = findings.filter { $0.status == .failed }
    #expect(failed.map(\.code) == ["server_answers"] && failed[0].finding == NotFound.words, "\(failed)")
    #expect(findings.contains { $0.code == "store_opens" && $0.status == .ok })
    #expect(!findings.contains { $0.finding.contains("no server runs") }, "\(findings)")
  }

  @Test func `names the folder of its merchants that is gone`() async throws {
    let system = try await TestSystem.shared.value
    // Not in the system's folder, which another test searches for keys.
    let folder = FileManager.default.temporaryDirectory.path + "/passing-\(RandomBytes.system.hex(8))"
    try FileManager.default.copyItem(atPath: system.directory + "/merchants", toPath: folder)
    let server = try await ServedTender(system, merchants: folder)
    defer { server.end() }
    try FileManager.default.removeItem(atPath: folder)
    let failed = try await Self.findings(["--port", "\(server.port)"]).filter { $0.status == .failed }
    let served = failed.filter { $0.code == "merchant_served" }
    #expect(!served.isEmpty && served.allSatisfy { $0.finding.contains("there is no folder \(folder)") }, "\(failed)")
  }

  /// A server without declared merchants, whose store has one without certificates, and its configuration.
  private static func serverWithStoredMerchant() async throws -> (ServedTender, config: String) {
    let system = try await TestSystem.shared.value
    let folder = "\(system.directory)/none-\(RandomBytes.system.hex(4))"
    try PrivateFile.makeFolder(folder)
    let server = try await ServedTender(system, merchants: folder)
    let config = server.directory + "/tender.yaml"
    let merchant = ["--id", "kept", "--merchant-identifier", "merchant.test.kept", "--name", "Kept"]
    let added = try await CommandBesideServer.run(
      ["merchant", "add", "--config", config, "--country", "IE", "--currency", "EUR"] + merchant)
    try #require(added.status == 0, "\(String(decoding: added.output, as: UTF8.self))")
    return (server, config)
  }

  private static func findings(_ place: [String]) async throws -> [DoctorFinding] {
    let answer = try await CommandBesideServer.run(["doctor", "--json"] + place)
    // The settings do not name the port, which the system has chosen.
    return try StrictJSONDecoder().decode(DoctorReport.self, from: answer.output).checks
      .filter { $0.code != "public_url_reachable" }
  }
}

/// Answers every request as a server that does not know its path.
private final class NotFound: ChannelInboundHandler {
  typealias InboundIn = ByteBuffer

  static let words = "not_found: There is nothing at this address."

  func channelRead(context: ChannelHandlerContext, data: NIOAny) {
    let body = "{\"code\":\"not_found\",\"detail\":\"There is nothing at this address.\"}"
    let head = "HTTP/1.1 404 Not Found\r\nContent-Type: application/json\r\nContent-Length: \(body.utf8.count)\r\n\r\n"
    context.writeAndFlush(NIOAny(ByteBuffer(string: head + body)), promise: nil)
  }
}
