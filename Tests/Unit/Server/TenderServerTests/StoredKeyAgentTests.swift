import Administration
import ApplePayToken
import Foundation
import HTTPTransport
import KeyAgent
import MerchantIdentity
import Storage
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

@Suite struct `A merchant of the store whose keys an agent holds` {
  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "held", merchantIdentifier: "merchant.test.held", displayName: "Held", countryCode: "IE", currencyCode: "EUR",
    domains: ["held.localhost:8410"])

  @Test func `is paid while the agent answers, and only then`() async throws {
    let directory = FileManager.default.temporaryDirectory.appending(path: "held-\(RandomBytes.system.hex(4))").path
    defer { try? FileManager.default.removeItem(atPath: directory) }
    try PrivateFile.makeFolder(directory)
    let socket = TestSystem.agentSocket(directory)
    let place = try KeyAgentServer(path: socket, holding: [], idle: TestRun.whole, timeout: TestRun.whole)
    let system = try await TestSystem(of: Self.merchant, in: directory, at: StoppableClock())
    let folder = "\(directory)/imported/merchants/held"
    let key = try ProcessingKey(
      privateKeyPEM: PrivateFile.text("\(folder)/processing/1.key"),
      certificatePEM: String(contentsOfFile: "\(folder)/processing/1.pem", encoding: .utf8))
    try FileManager.default.removeItem(atPath: "\(folder)/processing/1.key")
    let stored = StoredShop(again: system)
    let bundle = try await MerchantBundle(folder: folder, at: system.clock.wall.now(), keysMayBeElsewhere: true)
    try await stored.call(.add(bundle))
    try await MerchantProvisioning(portal: system.sandbox, random: .system).verify(Self.merchant)
    let row = try #require(try await stored.certificate(.processing, .active))
    #expect(try await stored.call(.exportCertificate(id: row.id, withKey: true)).privateKeyPEM == nil)

    let refused = try await stored.pays()
    #expect(refused.status >= 400 && refused.body["status"] != "captured", "\(refused.body)")
    place.hold(only: [(.merchant(MerchantID("held")), key)])
    let paid = try await stored.pays()
    #expect(paid.body["status"] == "captured", "\(paid.errorText)")
    place.stop()
    let late = try await stored.pays()
    #expect(late.status == 503 && late.body["code"] == "key_agent_unavailable", "\(late.body)")
    await system.stop()
  }
}
