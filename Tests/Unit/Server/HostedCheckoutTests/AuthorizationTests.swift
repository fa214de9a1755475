import ApplePayToken
import DirectWire
import Gateway
import HostedCheckout
import Ledger
import Orders
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A hosted checkout` {
  @Test(
    arguments: [
      ("FINAL_AUTHORIZATION", CaptureMode.manual, AuthorizationType.final),
      ("PRE_AUTHORIZATION", .manual, .preliminary), ("SALE", .immediate, .final),
    ])
  func `is authorized and captured as its mode says`(
    mode: String, capture: CaptureMode, type: AuthorizationType
  ) async throws {
    let file = try TemporaryStore()
    let database = try await file.open(Journal.migrations + OrderService.migrations + HostedCheckouts.migrations)
    let request = try DirectJSON.read(
      CreateHostedCheckoutRequest.self,
      Array(
        """
        {"order":{"amountOfMoney":{"amount":1450,"currencyCode":"EUR"},"references":{"merchantReference":"M-7"}},
        "hostedCheckoutSpecificInput":{"returnUrl":"https://shop.example/"},
        "mobilePaymentMethodSpecificInput":{"authorizationMode":"\(mode)","paymentProductId":302}}
        """.utf8))
    _ = try await checkouts(database).create(request, of: MerchantID("m"), nil)
    let stored = try await database.read { try $0.row("SELECT document FROM baskets")?.text("document") }
    let document = try DirectJSON.read(BasketDocument.self, Array(try #require(stored).utf8))
    #expect(document.capture == capture && document.authorization == type)
  }

  private func checkouts(_ database: Database) -> HostedCheckouts {
    struct Unpaid: Error {}
    let opener = TokenOpener(verifier: TokenVerifier(trust: .apple()), keys: ProcessingKeyRing([:]))
    let gateway = PaymentGateway(
      opener: opener, journal: Journal(database), acquirer: FakeAcquirer().acquirer)
    return HostedCheckouts(
      orderService: OrderService(gateway: gateway, quotes: nil, terms: { _ in MerchantTerms() }, clock: .system),
      database: database,
      merchants: { HostedMerchant(id: $0, name: "Market", countryCode: "IE", locale: "en-IE") },
      payment: { _, _ in throw Unpaid() }, origin: "https://pay.example", clock: .system, random: .system)
  }
}
