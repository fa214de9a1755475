public import TenderCheckoutAPI
import TenderPayments
public import TenderSheet

/// Handles one payment, from the authorized sheet to the order.
///
/// It merges the contacts and checks them again, now complete; sends the payment; and if the connection breaks
/// afterwards, asks for the outcome instead of paying again. ``ApplePayService`` creates one for each payment. An app
/// that shows its own sheet, such as SwiftUI's button, creates one and calls ``pay()``.
public struct ApplePayPaymentHandler: Sendable {
  /// The recipient and address of the order, merged from the two contacts.
  public let contact: OrderContact
  private let conversation: SheetConversation
  private let payment: AuthorizedPayment

  /// For a payment that the shopper authorized on the app's own sheet.
  ///
  /// - Parameters:
  ///   - payment: from the sheet.
  ///   - sheet: what the sheet was opened with; its quote is the one that the shopper saw last.
  ///   - client: calls the merchant's Tender server.
  ///   - checks: applied to the full contact before it is sent.
  ///   - clock: measures the time limit.
  public init(
    _ payment: AuthorizedPayment, on sheet: PreparedSheet, client: CheckoutClient,
    checks: AddressChecks = .standard, clock: SheetClock = .system
  ) async {
    let conversation = SheetConversation(
      ServerCalls(client: client, basket: sheet.basket, checks: checks), merchantIdentifier: "", sheet: .elsewhere,
      clock: clock, report: AsyncStream.makeStream(of: ApplePayReport.self).continuation)
    await conversation.prepare(sheet)
    await conversation.press()
    self.init(payment, on: sheet, conversation)
  }

  init(_ payment: AuthorizedPayment, on sheet: PreparedSheet, _ conversation: SheetConversation) {
    self.contact = OrderContact(
      service: sheet.service, shipping: payment.shippingContact, billing: payment.billingContact,
      billingRequired: sheet.billingRequired)
    self.conversation = conversation
    self.payment = payment
  }

  /// Sends the payment and waits until its outcome is known, at most 27 seconds.
  ///
  /// A second call does not send the payment again. After a failure with sheet errors the shopper may correct them and
  /// authorize again, with a new handler.
  public func pay() async -> PaymentResult {
    _ = await conversation.authorize(payment)
    return await result
  }

  /// Cancels the payment if the server has no attempt yet. In every case ``result`` is how the payment ended.
  public func attemptCancellation() async -> Cancellation { await conversation.cancel() }

  /// How the payment ends, or ended.
  public var result: PaymentResult {
    get async { await conversation.outcome() }
  }
}

extension PaymentSheet {
  /// A sheet that the app shows itself.
  static let elsewhere = PaymentSheet(present: { _, _ in true }, dismiss: {})
}
