#if DEBUG
  public import Foundation
  import StrictJSON
  import TenderCheckoutAPI
  import TenderPayments
  import TenderSheet

  #if canImport(FoundationNetworking)
    import FoundationNetworking
  #endif

  /// Payment tokens for the iOS Simulator, whose own are empty: a sandbox's device makes a real one instead, signed under
  /// the sandbox's root, which no production server trusts.
  ///
  /// The type is not there in a release build. A payment token that is not empty is never replaced.
  public struct SimulatedPayments: Sendable {
    /// Makes the payment token for a sheet that was authorized; nil when the sandbox makes none.
    let mint: @Sendable (Wish) async -> [UInt8]?

    struct Wish: Sendable {
      let merchantIdentifier: String
      let card: String
      let amount: String
      let currency: String
      let applicationData: String
    }

    private let merchantIdentifier: String
    private let card: String

    /// - Parameters:
    ///   - sandbox: the address that `tender sandbox` prints: `http://localhost:8402`.
    ///   - merchantIdentifier: whose key the payment token is encrypted to, as the sandbox knows it.
    ///   - card: a card of the sandbox's wallet; its front page lists them.
    public init(sandbox: URL, merchantIdentifier: String, card: String = "visa-debit") {
      self.init(merchantIdentifier: merchantIdentifier, card: card) { wish in
        await Self.ask(sandbox, wish)
      }
    }

    init(merchantIdentifier: String, card: String, mint: @escaping @Sendable (Wish) async -> [UInt8]?) {
      self.merchantIdentifier = merchantIdentifier
      self.card = card
      self.mint = mint
    }

    /// The payment with the sandbox's payment token in it; nil when the sandbox made none.
    func completing(
      _ payment: AuthorizedPayment, for request: PaymentRequest, total: Amount
    ) async -> AuthorizedPayment? {
      guard payment.paymentData.isEmpty else { return payment }
      guard let amount = try? total.sheetText else { return nil }
      let wish = Wish(
        merchantIdentifier: merchantIdentifier, card: card, amount: amount, currency: request.currency.code,
        applicationData: Base64.encode(request.applicationData))
      guard let answer = await mint(wish), let token = try? JSONReader.read(answer),
        let paymentData = token["paymentData"]
      else { return nil }
      return AuthorizedPayment(
        paymentData: paymentData.serialized(), transactionIdentifier: payment.transactionIdentifier,
        displayName: payment.displayName, network: payment.network, methodType: payment.methodType,
        shippingMethod: payment.shippingMethod, shippingContact: payment.shippingContact,
        billingContact: payment.billingContact)
    }

    private static func ask(_ sandbox: URL, _ wish: Wish) async -> [UInt8]? {
      let body: JSONValue = [
        "publicKeyOf": .string(wish.merchantIdentifier), "cardId": .string(wish.card), "amount": .string(wish.amount),
        "currency": .string(wish.currency), "applicationData": .string(wish.applicationData),
      ]
      let transport = CheckoutTransport.urlSession(server: sandbox)
      let call = CheckoutCall(.post, "/device/tokens", body: body.serialized())
      guard let reply = try? await transport.send(call, CheckoutClient.patience), reply.status == 200 else {
        return nil
      }
      return reply.body
    }
  }
#endif
