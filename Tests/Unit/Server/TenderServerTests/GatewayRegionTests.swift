import Administration
import Foundation
import HTTPTransport
import Logging
import Settings
import StrictJSON
import SwiftASN1
import TenderPayments
import TenderServer
import TenderTesting
import Testing
import X509

/// A server against Apple's sandbox, whose gateway is this test.
@Suite struct `A merchant's merchant sessions` {
  @Test(arguments: [
    ("mainland-china", "https://cn-apple-pay-gateway-cert.apple.com/paymentservices/paymentSession"),
    ("global", "https://apple-pay-gateway-cert.apple.com/paymentservices/paymentSession"),
  ])
  func `come from the gateway of its region`(_ region: String, _ url: String) async throws {
    let file = try TemporaryStore()
    try Self.write(region, file.directory)
    let called = Log()
    let session = InboundResponse(
      status: 200, headers: [HTTPField("Content-Type", "application/json")],
      body: Array("{\"merchantSessionIdentifier\":\"SSH\",\"epochTimestamp\":1,\"expiresAt\":2}".utf8))
    let network = Network(
      plain: HTTPSender { _, _ throws(TransportError) in throw .notSent("nothing else is reached") },
      identified: { _, _ in
        HTTPSender { request, _ in
          called.keep(request.url + "\n")
          return session
        }
      })
    let configuration = try await ServerConfiguration.load(
      file: nil,
      variables: [
        "TENDER_ENVIRONMENT": "apple-sandbox", "TENDER_PUBLIC_URL": "https://pay.example.com", "TENDER_PORT": "0",
        "TENDER_HOST": "127.0.0.1", "TENDER_DIRECTORY": file.directory,
        "TENDER_ACQUIRER_BASE_URL": "https://acquirer.example", "TENDER_ACQUIRER_API_KEY": "0123456789abcdef",
      ])
    let port = Mailbox<Int>()
    let server = try await TenderServer(
      configuration, network: network,
      logger: Logger(label: "region") { _ in SwiftLogNoOpLogHandler() }
    ) { port.put($0) }
    let run = port.start { try await server.run() }
    try await Self.openSheet("http://127.0.0.1:\(try await port.awaited)", file.directory)
    run.cancel()
    _ = await run.result
    #expect(called.text == url + "\n")
  }

  private static let merchant = MerchantProvisioning.NewMerchant(
    id: "harbour", merchantIdentifier: "merchant.test.harbour", displayName: "Harbour Kitchen", countryCode: "CN",
    currencyCode: "CNY", domains: ["shop.example.com"])

  private static func openSheet(_ url: String, _ directory: String) async throws {
    let client = try LiveHTTPClient()
    let shop = try Shopfront(merchant, directory, url, client.sender.unhurried, scheme: "https")
    let basket = RandomBytes.system.hex(16)
    let document: JSONValue = [
      "currencyCode": "CNY", "countryCode": "CN", "merchantReference": "R-1", "businessName": "Harbour Kitchen",
      "serviceTypes": ["collection"], "serviceType": "collection",
      "items": [["id": "fish", "label": "Fish", "unitAmount": 1250, "quantity": 1]], "zones": [],
      "shippingMethods": [], "coupons": [], "capture": "immediate",
    ]
    let stored = try await shop.signed("PUT", "/v2/harbour/baskets/\(basket)", document, at: WallClock.system.now())
    #expect(stored.status == 200, "\(stored.errorText)")
    let answer = try await shop.page.call("POST", "/applepay/validate", ["basketId": .string(basket)])
    #expect(answer.status == 200, "\(answer.errorText)")
    try await client.shutdown()
  }

  private static func write(_ region: String, _ directory: String) throws {
    let (folder, material) = (directory + "/merchants/harbour", try Clinic.material.get())
    try FileManager.default.createDirectory(atPath: folder + "/api-keys", withIntermediateDirectories: true)
    try MerchantProvisioning.write(
      """
      merchantIdentifier: merchant.test.harbour
      displayName: Harbour Kitchen
      countryCode: CN
      currencyCode: CNY
      domains: [shop.example.com]
      gatewayRegion: \(region)

      """, to: folder + "/merchant.yaml")
    let apple = try Certificate(pemEncoded: material.identity.pem).namingApple().serializeAsPEM().pemString
    try MerchantProvisioning.write(apple, to: folder + "/identity.pem")
    for (name, text) in [
      ("identity.key", material.identity.key), ("api-keys/k1.secret", String(repeating: "5a", count: 32)),
    ] {
      try MerchantProvisioning.write(text, to: "\(folder)/\(name)")
      try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: "\(folder)/\(name)")
    }
  }
}
