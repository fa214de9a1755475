import Administration
import BackOffice
import Foundation
import HTTPTransport
import Ledger
import Logging
import MerchantIdentity
import Settings
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Webhooks

/// A platform with two merchants in its store, `mine` and `theirs`, which calls no private address for a merchant.
///
/// Its store stays when it stops, so that a test can change a row behind its back, and see the next start.
struct MerchantsApart: Sendable {
  let system: TestSystem
  let directory: String
  var configuration: ServerConfiguration

  static let mine = MerchantProvisioning.NewMerchant(
    id: "mine", merchantIdentifier: "merchant.test.mine", displayName: "Mine", countryCode: "IE", currencyCode: "EUR",
    domains: ["mine.example"])
  static let theirs = MerchantProvisioning.NewMerchant(
    id: "theirs", merchantIdentifier: "merchant.test.theirs", displayName: "Theirs", countryCode: "IE",
    currencyCode: "EUR", domains: ["theirs.example"])

  init() async throws {
    system = try await StoredShop.system.value
    directory = "\(system.directory)/apart-\(RandomBytes.system.hex(4))"
    try FileManager.default.createDirectory(atPath: directory + "/merchants", withIntermediateDirectories: true)
    configuration = ServerConfiguration(
      environment: .simulated, directory: directory, host: "127.0.0.1", port: 0, sandboxURL: system.sandbox.base,
      acquirer: .init(connector: "sandbox", baseURL: system.sandbox.base, apiKey: ""))
    configuration.platformDirectory = system.directory + "/platform"
    configuration.publicURL = "https://api.platform.example"
    configuration.hostedCheckoutURL = "http://\(TestSystem.hostedDomain)"
    configuration.office.url = "https://office.platform.example"
    configuration.office.passwordCost = .least
    configuration.connectionTimes = .unhurried
    try await configuration.useEngineUnderTest()
    try await behindItsBack { administration, _ in
      for merchant in [Self.theirs, Self.mine] {
        _ = try await administration.perform(.add(try MerchantBundle(merchant, random: .system)))
      }
    }
  }

  /// Works on the store while no server runs. The tables take what the administration would refuse.
  func behindItsBack(_ body: (MerchantAdministration, MerchantStore) async throws -> Void) async throws {
    let database = try await ServerStore.open(configuration.store).database
    do {
      let keys = try? MasterKeys(String(contentsOfFile: configuration.storeKeyFile, encoding: .utf8))
      try await body(MerchantAdministration(configuration, database), MerchantStore(database, keys: keys))
      await database.close()
    } catch {
      await database.close()
      throw error
    }
  }

  /// Writes a line of a merchant's settings that no check has seen.
  func write(_ line: String, to merchant: String) async throws {
    let key = line.prefix { $0 != ":" } + ":"
    try await behindItsBack { _, store in
      try await store.write { tables in
        let stored = try tables.merchant(MerchantID(merchant))
        let others = stored.settings.split(separator: "\n").filter { !$0.hasPrefix(key) }
        try tables.update(
          stored.id, settings: (others + [Substring(line), ""]).joined(separator: "\n"), after: stored.version)
      }
    }
  }

  /// Serves until the body returns.
  ///
  /// - Parameter merchants: the way to the merchants' own servers; nil for the real one.
  func serve<R: Sendable>(
    over merchants: DeliveryNetwork? = nil, _ body: (Running) async throws -> R
  ) async throws -> R {
    var configuration = configuration
    let office = try FreePorts.row(of: 1)
    configuration.office.port = office
    let (ready, log) = (Mailbox<Int>(), Log())
    var logger = Logger(label: "apart") { JSONLogHandler(label: $0, write: log.keep) }
    logger.logLevel = .notice
    let network = Network(
      plain: try LiveHTTPClient().sender.unhurried,
      identified: { identity, trust in try LiveHTTPClient(identity: identity, trust: trust).sender.unhurried },
      merchants: merchants)
    let server = try await TenderServer(configuration, network: network, logger: logger) { ready.put($0) }
    let run = ready.start { try await server.run() }
    let port = try await ready.awaited
    let running = Running(
      url: "http://127.0.0.1:\(port)", office: "http://127.0.0.1:\(office)", directory: directory,
      log: log, system: system)
    let result: Result<R, any Error>
    do { result = .success(try await body(running)) } catch { result = .failure(error) }
    run.cancel()
    _ = await run.result
    return try result.get()
  }

  struct Running: Sendable {
    let url: String
    let office: String
    let directory: String
    let log: Log
    let system: TestSystem

    /// An administrator of one merchant alone.
    func administrator(of merchant: String) async throws -> OfficePerson {
      try await OfficePerson(
        office: office, store: directory, system.sender, grants: [Grant(.administrator, of: MerchantID(merchant))])
    }

    /// An administrator of all.
    func operatorOfAll() async throws -> OfficePerson {
      try await OfficePerson(office: office, store: directory, system.sender)
    }

    func admin(_ method: String, _ path: String, _ body: [UInt8] = []) async throws -> JSONValue {
      let socket = "\(directory)/tender.db.sock".replacingOccurrences(of: "/", with: "%2F")
      let request = OutboundRequest(method: method, url: "http+unix://\(socket)\(path)", body: body)
      return try JSONReader.read(try await system.sender.send(request, TestRun.whole).body)
    }

    func ask(_ call: MerchantCall) async throws -> JSONValue {
      try await admin("POST", "/merchants/calls", Array(try JSONEncoder().encode(call)))
    }

    func get(_ path: String, host: String? = nil, origin: String? = nil) async throws -> InboundResponse {
      let headers = [host.map { HTTPField("Host", $0) }, origin.map { HTTPField("Origin", $0) }].compactMap(\.self)
      return try await system.sender.send(
        OutboundRequest(method: "GET", url: url + path, headers: headers), TestRun.whole)
    }

    func metrics() async throws -> String { try await TestSystem.metrics(directory, system.sender) }

    /// Whether a page of the domain is served.
    func isServed(_ domain: String) async throws -> Bool {
      try await get("/applepay/metadata", origin: "https://\(domain)").status == 200
    }
  }
}
