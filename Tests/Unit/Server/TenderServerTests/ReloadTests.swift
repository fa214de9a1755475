import Administration
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import Webhooks

/// What changes when a running server reads the merchants' folders again.
@Suite struct `Reading the merchants again` {
  let system: TestSystem

  init() async throws { system = try await TestSystem.shared.value }

  private static let late = MerchantProvisioning.NewMerchant(
    id: "late", merchantIdentifier: "merchant.test.late", displayName: "Late", countryCode: "IE",
    currencyCode: "EUR", domains: ["late.localhost:8409"])

  private func status() async throws -> Int {
    try await system.sender.send(
      OutboundRequest(
        method: "GET", url: system.server + "/applepay/metadata",
        headers: [HTTPField("Origin", "http://late.localhost:8409")]), TestRun.whole
    ).status
  }

  @Test func `brings a new merchant without a restart; a broken folder changes nothing and is named`() async throws {
    let provisioning = MerchantProvisioning(portal: system.sandbox, random: .system)
    try await Turn.ofMerchantsFolder.take {
      _ = try await provisioning.make(Self.late, below: system.directory + "/merchants")
      #expect(try await status() == 403)
      try await reloadWithBrokenFolder()
    }
    #expect(try await status() == 403)

    let report = try await system.admin("POST", "/merchants/reload")
    #expect(report["merchants"] == 7 && report["addedKeys"] == 1)
    #expect(try await status() == 200)
    // The sandbox fetches the association file of the new domain, and its basket is stored under its own key.
    try await provisioning.verify(Self.late)
    let shop = try Shopfront(Self.late, system.directory, system.server, system.sender)
    let answer = try await shop.signed("GET", "/v2/late/services/testconnection", at: system.clock.wall.now())
    #expect(answer.status == 200)
    #expect(try await system.metrics().contains(#"{kind="identity",merchant="late"}"#))
  }

  /// Leaves the folder as it was.
  private func reloadWithBrokenFolder() async throws {
    let broken = system.directory + "/merchants/zz-broken"
    try FileManager.default.createDirectory(atPath: broken, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: broken) }
    try Data("displayName: [".utf8).write(to: URL(filePath: broken + "/merchant.yaml"))
    let refused = try await system.admin("POST", "/merchants/reload")
    #expect(refused["code"] == "merchants_not_read")
    #expect(refused["detail"]?.text?.contains("zz-broken") == true)
  }
}

/// A folder of declared merchants, beside merchants of the store, whose mount is lost.
@Suite struct `A lost folder of merchants` {
  private static let declared = MerchantProvisioning.NewMerchant(
    id: "declared", merchantIdentifier: "merchant.test.declared", displayName: "Declared", countryCode: "IE",
    currencyCode: "EUR", domains: ["declared.example"])

  @Test func `changes nothing for declared merchants, and is named; a start without it says so`() async throws {
    let platform = try await MerchantsApart()
    let (folder, away) = ("\(platform.directory)/merchants", "\(platform.directory)/away")
    let files = FileManager.default
    _ = try await MerchantProvisioning(portal: platform.system.sandbox, random: .system)
      .make(Self.declared, below: folder)
    try await platform.serve { server async throws in
      #expect(try await server.isServed("declared.example"))
      try files.moveItem(atPath: folder, toPath: away)
      for isEnabled in [false, true] {
        // A mount that is lost leaves its mount point.
        if isEnabled { try files.createDirectory(atPath: folder, withIntermediateDirectories: false) }
        let refused = try await server.admin("POST", "/merchants/reload")
        #expect(refused["code"] == "merchants_not_read" && refused["detail"]?.text?.contains(folder) == true)
        #expect(try await server.isServed("declared.example"))
        _ = try await server.ask(.setEnabled(isEnabled, merchant: "theirs", domain: "theirs.example"))
        #expect(try await server.isServed("declared.example"))
        #expect(server.log.text.contains("there is no \(isEnabled ? "merchant in" : "folder")"))
        #expect(try await server.metrics().contains("tender_merchant_left_out{merchant=\"declared\"} 1"))
      }
      try files.removeItem(atPath: folder)
      try files.moveItem(atPath: away, toPath: folder)
      #expect(try await server.admin("POST", "/merchants/reload")["merchants"] == 3)
    }
    try files.removeItem(atPath: folder)
    try await platform.serve { server async throws in
      #expect(try await server.isServed("theirs.example"))
      #expect(server.log.text.contains("there is no folder of declared merchants"))
    }
  }

  @Test func `as a symbolic link that leads nowhere is refused by name, at a start and by a reload`() async throws {
    let platform = try await MerchantsApart()
    let (folder, away) = ("\(platform.directory)/merchants", "\(platform.directory)/away")
    let files = FileManager.default
    _ = try await MerchantProvisioning(portal: platform.system.sandbox, random: .system)
      .make(Self.declared, below: folder)
    try files.moveItem(atPath: folder, toPath: away)
    try files.createSymbolicLink(atPath: folder, withDestinationPath: away)
    try await platform.serve { server async throws in
      #expect(try await server.isServed("declared.example"))
      try files.moveItem(atPath: away, toPath: away + "-again")
      let refused = try await server.admin("POST", "/merchants/reload")
      #expect(refused["detail"]?.text?.contains("\(folder) is a symbolic link to \(away)") == true, "\(refused)")
      #expect(refused["detail"]?.text?.contains("move away what is in its place and restart") == true, "\(refused)")
      #expect(try await server.isServed("declared.example"))
    }
    let refusal = await #expect(throws: ConfigurationError.self) { try await platform.serve { _ in } }
    #expect(refusal?.description.contains("\(folder) is a symbolic link to \(away)") == true, "\(refusal as Any)")
  }

  @Test(arguments: [true, false])
  func `that is there and cannot be listed keeps no revoked key and no change of the store alive`(
    hasDeclared: Bool
  ) async throws {
    let platform = try await MerchantsApart()
    let (folder, away) = ("\(platform.directory)/merchants", "\(platform.directory)/away")
    let files = FileManager.default
    if hasDeclared {
      _ = try await MerchantProvisioning(portal: platform.system.sandbox, random: .system)
        .make(Self.declared, below: folder)
    }
    try await platform.serve { server async throws in
      try files.moveItem(atPath: folder, toPath: away)
      try Data("no folder".utf8).write(to: URL(filePath: folder))
      let refused = try await server.admin("POST", "/merchants/reload")
      #expect(refused["code"] == "merchants_not_read", "\(refused)")
      let key = try #require(
        try await server.ask(.addKey(merchant: "theirs", kind: .apiKey))["keys"]?.elements.first)
      let (id, secret) = (try #require(key["id"]?.text), try #require(key["secret"]?.text))
      let shop = Shopfront(
        MerchantsApart.theirs, platform.system, key: ("theirs", id, secret), at: server.url)
      func status() async throws -> Int {
        try await shop.signed("GET", "/v2/theirs/services/testconnection", at: WallClock.system.now()).status
      }
      #expect(try await status() == 200)
      let answer = try await server.ask(.revokeKey(merchant: "theirs", kind: .apiKey, id: id))
      #expect(answer["notes"]?.elements.isEmpty != false, "\(answer)")
      #expect(try await status() == 403)
      #expect(try await server.isServed("theirs.example"))
      #expect(try await server.isServed("declared.example") == hasDeclared)
    }
  }
}

/// Calls that come while a reload replaces the merchants.
@Suite struct `A reload among calls` {
  fileprivate static func merchant(_ name: String, _ number: Int) -> MerchantProvisioning.NewMerchant {
    MerchantProvisioning.NewMerchant(
      id: name, merchantIdentifier: "merchant.test.\(name)\(number)", displayName: "\(name) \(number)",
      countryCode: "IE", currencyCode: "EUR", domains: ["\(name).example"])
  }

  fileprivate static func edit(_ folder: String, _ change: (String) -> String) throws {
    let settings = URL(filePath: folder + "/merchant.yaml")
    try Data(change(try String(contentsOf: settings, encoding: .utf8)).utf8).write(to: settings)
  }

  /// A merchant of which everything changes at once: name, networks, API key, processing certificate.
  private struct Generation: Sendable {
    let merchant: MerchantProvisioning.NewMerchant
    let network: CardNetwork
    let directory: String

    init(_ number: Int, _ network: CardNetwork, _ platform: MerchantsApart) async throws {
      (merchant, self.network) = (`A reload among calls`.merchant("whole", number), network)
      directory = "\(platform.directory)/generation-\(number)"
      let path = try await MerchantProvisioning(portal: platform.system.sandbox, random: .system)
        .make(merchant, below: directory + "/merchants")
      try `A reload among calls`.edit(path) {
        $0.replacing(/supportedNetworks: .*/, with: "supportedNetworks: [\(network.rawValue)]")
      }
    }

    func install(in platform: MerchantsApart) throws {
      let place = "\(platform.directory)/merchants/whole"
      try? FileManager.default.removeItem(atPath: place)
      try FileManager.default.copyItem(atPath: directory + "/merchants/whole", toPath: place)
    }

    /// The networks that the merchant's server is told of, signed with this generation's key; nil where the key is unknown.
    func networks(at server: MerchantsApart.Running) async throws -> JSONValue? {
      let shop = try Shopfront(merchant, directory, server.url, server.system.sender)
      let answer = try await shop.signed(
        "GET", "/v2/whole/products/302/networks?currencyCode=EUR", at: WallClock.system.now())
      return answer.status == 200 ? answer.body["networks"] : nil
    }
  }

  @Test func `is atomic: no call sees a merchant that is new and keys that are old`() async throws {
    let platform = try await MerchantsApart()
    let generations = [
      try await Generation(1, .visa, platform), try await Generation(2, .masterCard, platform),
    ]
    try generations[0].install(in: platform)
    try await platform.serve { server async throws in
      let (isOver, answered) = (Hold(), Counter())
      try await withThrowingTaskGroup { group in
        for generation in generations {
          group.addTask {
            while isOver.isOn {
              guard let networks = try await generation.networks(at: server) else { continue }
              #expect(networks == [.string(generation.network.appleName)])
              answered.next()
            }
          }
        }
        group.addTask {
          var keys = 0
          while isOver.isOn {
            let page = try await server.get("/applepay/metadata", origin: "https://whole.example")
            keys = (try await server.admin("GET", "/keys")["keys"]?.elements ?? []).count { $0["merchant"] == "whole" }
            let name = try JSONReader.read(page.body)["displayName"]
            #expect(keys == 2 || name == "whole 1", "\(name ?? .null) with \(keys) keys")
          }
          #expect(keys == 2)
        }
        for number in 1...12 {
          try generations[number % 2].install(in: platform)
          #expect(try await server.admin("POST", "/merchants/reload")["merchants"] == 3)
          let before = answered.value
          try await waitUntil("a call with the new key") { answered.value > before }
        }
        isOver.end()
        try await group.waitForAll()
      }
    }
  }

  @Test func `leaves a call under way its merchant as it was`() async throws {
    var platform = try await MerchantsApart()
    platform.configuration.allowsPrivateWebhooks = true
    let (hold, asked) = (Hold(), Counter())
    let source = DeliveryNetwork { _ in
      .init(
        HTTPSender { _, _ throws(TransportError) in
          let number = asked.next()
          try? await waitUntil("the end of the hold") { !hold.isOn }
          let basket: JSONValue = [
            "currencyCode": "EUR", "countryCode": "IE", "merchantReference": .string("P-\(number)"),
            "businessName": "Patient", "serviceTypes": ["collection"], "route": "sandbox",
            "items": [["id": "fish", "label": "Fish", "unitAmount": 1250]],
          ]
          return InboundResponse(status: 200, body: basket.serialized())
        })
    }
    let folder = try await MerchantProvisioning(portal: platform.system.sandbox, random: .system)
      .make(Self.merchant("patient", 1), below: platform.directory + "/merchants")
    try Self.edit(folder) { $0 + "basketSource: http://127.0.0.1:1/baskets\n" }
    try await platform.serve(over: source) { server async throws in
      @Sendable func sheet(_ basket: String) async throws -> InboundResponse {
        try await server.get("/applepay/basket/\(basket)", origin: "https://patient.example")
      }
      async let underWay = sheet("kNc7pQ2xR8vT5wY1zB4d10")
      try await waitUntil("the call to the merchant's server") { asked.value == 1 }
      try Self.edit(folder) { $0 + "routes: [elsewhere]\n" }
      #expect(try await server.admin("POST", "/merchants/reload")["merchants"] == 3)
      hold.end()
      let (first, second) = (try await underWay, try await sheet("kNc7pQ2xR8vT5wY1zB4d11"))
      #expect(first.status == 200, "\(String(decoding: first.body, as: UTF8.self))")
      #expect(second.status != 200 && String(decoding: second.body, as: UTF8.self).contains("route"))
    }
  }
}

@Suite struct `A merchant that is removed from a running server` {
  @Test func `is served no more at once, also where it was the last and no folder declares others`() async throws {
    let platform = try await MerchantsApart()
    try FileManager.default.removeItem(atPath: "\(platform.directory)/merchants")
    try await platform.serve { server async throws in
      for (merchant, domain) in [("mine", "mine.example"), ("theirs", "theirs.example")] {
        #expect(try await server.isServed(domain))
        let removed = try await server.ask(.remove(merchant: merchant))
        #expect(removed["code"] == nil, "\(removed)")
        #expect(try await !server.isServed(domain))
      }
      #expect(try await server.admin("POST", "/merchants/reload")["merchants"] == 0)
      #expect(try await server.admin("POST", "/doctor/facts")["isRunning"] == .bool(true))
    }
  }
}
