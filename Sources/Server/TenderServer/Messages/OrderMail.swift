import DirectWire
import Ledger
import Logging
import Mail
import Orders
import Settings
import Storage
import TenderPayments

/// Writes to shoppers when their order is paid and when money goes back, where the merchant wants it: in the commit that
/// takes the event of the payment out of the outbox.
struct OrderMail: Sendable {
  let merchants: MailMerchants
  let random: RandomBytes
  let logger: Logger

  /// A message that cannot be made never holds up the webhooks of its event.
  func note(_ event: OutboxEvent, in store: Transaction) throws {
    guard let merchant = merchants[event.merchant] else { return }
    do {
      if merchant.mail.confirmsOrders, Self.isPaid(event.status) { try confirm(event, merchant, store) }
      if merchant.mail.announcesRefunds { try announceRefund(event, merchant, store) }
    } catch let error as StorageError where !error.isUnreadable {
      throw error
    } catch {
      logger.error(
        "a message to a shopper cannot be made",
        metadata: ["payment": .string(event.payment.rawValue), "reason": .string("\(error)")])
    }
  }

  private static func isPaid(_ status: PaymentStatus) -> Bool {
    [.authorized, .partiallyCaptured, .captured, .verified].contains(status)
  }

  private func confirm(_ event: OutboxEvent, _ merchant: MailMerchant, _ store: Transaction) throws {
    guard let (order, shopper) = try shopper(of: event, store) else { return }
    let currency = event.amount.currency
    let content = MailContent.order(
      order.merchantReference, amount: event.amount, isEstimate: order.estimated == true,
      lines: (order.lines ?? []).map { line in
        (line.label, line.pending == true ? nil : Amount(minorUnits: line.amount, currency: currency))
      },
      card: event.card.name, transaction: event.transactionIdentifier, url: order.orderURL, merchant.brand)
    try MailOutbox.add(
      mail(.order, content, merchant, shopper), once: "order/\(event.order)", random: random, in: store)
  }

  /// An event says how much has gone back in all.
  private func announceRefund(_ event: OutboxEvent, _ merchant: MailMerchant, _ store: Transaction) throws {
    let before = try OutboxEvent.find(event.payment, event.sequence - 1, in: store)?.refunded ?? 0
    guard event.refunded > before, let (order, shopper) = try shopper(of: event, store) else { return }
    let amount = Amount(minorUnits: event.refunded.subtractingClamped(before), currency: event.amount.currency)
    let content = MailContent.refund(of: order.merchantReference, amount: amount, merchant.brand)
    try MailOutbox.add(
      mail(.refund, content, merchant, shopper), once: "refund/\(event.payment)/\(event.sequence)", random: random,
      in: store)
  }

  /// Nil for an order without an address that mail can go to.
  private func shopper(of event: OutboxEvent, _ store: Transaction) throws -> (OrderAnswer, MailAddress)? {
    guard let order = try OrderService.order(of: event.basket, in: store),
      let address = order.customer?.contactDetails?.emailAddress.flatMap({ MailAddress($0) })
    else { return nil }
    return (order, address)
  }

  private func mail(
    _ kind: MailKind, _ content: MailContent, _ merchant: MailMerchant, _ shopper: MailAddress
  ) -> QueuedMail {
    QueuedMail(kind, of: merchant.id, to: [shopper], replyTo: merchant.mail.replyTo, content, merchant.brand)
  }
}
