#if DEBUG
  public import Foundation
  import StrictJSON
  import TenderCheckoutAPI
  import TenderPayments
  import TenderSheet

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// Payment tokens for the iOS Simulator, which produces empty ones: a sandbox issues a complete token instead, signed
  /// under the sandbox's root, which no production server trusts.
  ///
  /// Not available in a release build. A payment token that is not empty is never replaced.
  public struct SimulatedPayments: Sendable {
    /// Issues the payment token for an authorized sheet; nil when the sandbox refuses.
    let issue: @Sendable (TokenRequest) async -> [UInt8]?

    struct TokenRequest: Sendable {
      let merchantIdentifier: String
      let card: String
      let amount: String
      let currency: String
      let applicationData: String
      let hasAgreement: Bool
    }

    private let merchantIdentifier: String
    private let card: String

    /// - Parameters:
    ///   - sandbox: the address that `tender-sandbox sandbox` prints: `http://localhost:8402`.
    ///   - merchantIdentifier: the merchant known to the sandbox whose key encrypts the payment token.
    ///   - card: a card of the sandbox's wallet; its front page lists them.
    public init(sandbox: URL, merchantIdentifier: String, card: String = "visa-debit") {
      self.init(merchantIdentifier: merchantIdentifier, card: card) { tokenRequest in
        await Self.ask(sandbox, tokenRequest)
      }
    }

    init(merchantIdentifier: String, card: String, issue: @escaping @Sendable (TokenRequest) async -> [UInt8]?) {
      self.merchantIdentifier = merchantIdentifier
      self.card = card
      self.issue = issue
    }

    /// The payment with the sandbox's payment token; nil when the sandbox refused.
    func completing(
      _ payment: AuthorizedPayment, for request: PaymentRequest, total: Amount
    ) async -> AuthorizedPayment? {
      guard payment.paymentData.isEmpty else { return payment }
      guard let amount = try? total.sheetText else { return nil }
      let tokenRequest = TokenRequest(
        merchantIdentifier: merchantIdentifier, card: card, amount: amount, currency: request.currency.code,
        applicationData: Base64.encode(request.applicationData), hasAgreement: request.agreement != nil)
      guard let answer = await issue(tokenRequest), let token = try? JSONReader.read(answer),
        let paymentData = token["paymentData"]
      else { return nil }
      return AuthorizedPayment(
        paymentData: paymentData.serialized(), transactionIdentifier: payment.transactionIdentifier,
        displayName: payment.displayName, network: payment.network, methodType: payment.methodType,
        shippingMethod: payment.shippingMethod, shippingContact: payment.shippingContact,
        billingContact: payment.billingContact)
    }

    private static func ask(_ sandbox: URL, _ tokenRequest: TokenRequest) async -> [UInt8]? {
      let body: JSONValue = [
        "publicKeyOf": .string(tokenRequest.merchantIdentifier), "cardId": .string(tokenRequest.card),
        "amount": .string(tokenRequest.amount),
        "currency": .string(tokenRequest.currency), "applicationData": .string(tokenRequest.applicationData),
        "agreement": .bool(tokenRequest.hasAgreement),
      ]
      let transport = CheckoutTransport.urlSession(server: sandbox)
      let call = CheckoutCall(.post, "/device/tokens", body: body.serialized())
      guard let reply = try? await transport.send(call, CheckoutClient.timeout), reply.status == 200 else {
        return nil
      }
      return reply.body
    }
  }
#endif
