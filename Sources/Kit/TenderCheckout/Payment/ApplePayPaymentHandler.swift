public import TenderCheckoutAPI
import TenderPayments
public import TenderSheet

/// Owns one payment, from the authorized sheet to the order.
///
/// It merges the contacts and judges them a second time, now that all of them are there; sends the payment; and if the
/// connection breaks after that, asks for the outcome instead of paying again. ``ApplePayService`` makes one for each
/// payment. An app with a sheet of its own, such as SwiftUI's button, makes it by hand and calls ``pay()``.
public struct ApplePayPaymentHandler: Sendable {
  /// Who gets the order and where, merged from the two contacts.
  public let contact: OrderContact
  private let conversation: SheetConversation
  private let payment: AuthorizedPayment

  /// For a payment that the shopper authorized on a sheet of the app's own.
  ///
  /// - Parameters:
  ///   - payment: what the sheet handed over.
  ///   - sheet: what the sheet was opened with; its quote is the one that the shopper saw last.
  ///   - client: speaks to the merchant's Tender server.
  ///   - checks: judge the full contact before it is sent.
  ///   - clock: what the budget is measured by.
  public init(
    _ payment: AuthorizedPayment, on sheet: PreparedSheet, client: CheckoutClient,
    checks: AddressChecks = .standard, clock: SheetClock = .system
  ) async {
    let conversation = SheetConversation(
      ServerLeg(client: client, basket: sheet.basket, checks: checks), merchantIdentifier: "", sheet: .elsewhere,
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

  /// Sends the payment and stays with it until its outcome is known, or 27 seconds have gone by.
  ///
  /// Calling it again sends nothing twice. A failure with sheet errors may be corrected and authorized anew, with a new
  /// handler.
  public func pay() async -> PaymentResult {
    _ = await conversation.authorized(payment)
    return await result
  }

  /// Ends the payment if the server holds no attempt yet. Whatever it answers, ``result`` tells how the payment ended.
  public func attemptCancellation() async -> Cancellation { await conversation.cancel() }

  /// How the payment ends, or ended.
  public var result: PaymentResult {
    get async { await conversation.outcome() }
  }
}

extension PaymentSheet {
  /// A sheet that somebody else shows.
  static let elsewhere = PaymentSheet(present: { _, _ in true }, dismiss: {})
}
