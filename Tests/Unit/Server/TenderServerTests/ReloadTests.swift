import Administration
import Foundation
import HTTPTransport
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

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
    _ = try await provisioning.make(Self.late, below: system.directory + "/merchants")
    #expect(try await status() == 403)

    try await Turn.ofMerchantsFolder.take { try await reloadWithBrokenFolder() }
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
}
