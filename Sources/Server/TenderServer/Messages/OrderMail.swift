import DirectWire
import Ledger
import Logging
import Mail
import MerchantIdentity
import Orders
import Settings
import Storage
import TenderPayments

/// Writes to shoppers when their order is paid and when money goes back, where the merchant wants it: it takes each
/// event out of the ledger's outbox, and queues the message in the same commit.
struct OrderMail: Sendable {
  let database: Database
  let merchants: LiveMerchants
  let random: RandomBytes
  let logger: Logger

  /// How many payments there are at most whose events one commit takes.
  private static let page = 16

  /// Takes events until the task is cancelled.
  func run(lookingEvery pause: Duration = .seconds(1)) async {
    var left = LeftEvents()
    var sinceRefused = Duration.zero
    while !Task.isCancelled {
      do {
        left.merchants = left.merchants.filter { merchants.current[$0] == nil }
        while try await takePage(butOf: left) {}
      } catch let found as LeftEvents {
        for words in left.add(found) { logger.error("no mail goes to shoppers", metadata: ["reason": .string(words)]) }
        continue
      } catch {
        logger.error("no mail goes to shoppers", metadata: ["reason": .string("\(error)")])
      }
      try? await Task.sleep(for: pause)
      sinceRefused += pause
      if sinceRefused >= LeftEvents.pauseOfRefused { (left.refused, sinceRefused) = ([:], .zero) }
    }
  }

  /// - Returns: whether there were any events.
  /// - Throws: ``LeftEvents``, and takes nothing, where more events have to stay.
  private func takePage(butOf left: LeftEvents) async throws -> Bool {
    try await database.write { store in
      let events = try OutboxEvent.take(for: .mail, payments: Self.page, butOf: left, in: store)
      let served = merchants.current
      let unserved = Set(events.map(\.merchant)).filter { served[$0] == nil }.subtracting(left.merchants)
      guard unserved.isEmpty else { throw LeftEvents(merchants: unserved) }
      for event in events {
        do { try note(event, of: served[event.merchant]?.folder, in: store) } catch let error as StorageError {
          throw left.refusal(of: event, error)
        }
      }
      return !events.isEmpty
    }
  }

  /// A message that cannot be made holds up no other.
  ///
  /// - Parameter merchant: nil for one that is not served, whose event has waited long enough.
  private func note(_ event: OutboxEvent, of merchant: MerchantFolder?, in store: Transaction) throws {
    guard let merchant else { return }
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

  private func confirm(_ event: OutboxEvent, _ merchant: MerchantFolder, _ store: Transaction) throws {
    guard let (order, shopper) = try shopper(of: event, store) else { return }
    let currency = event.amount.currency
    let content = MailContent.order(
      order.merchantReference, amount: event.amount, isEstimate: order.estimated == true,
      lines: (order.lines ?? []).map { line in
        (line.label, line.pending == true ? nil : Amount(minorUnits: line.amount, currency: currency))
      },
      card: event.card.name, transaction: event.transactionIdentifier, url: order.orderURL, merchant.brand)
    try MailOutbox.add(
      mail(.order, content, merchant, event.order, shopper), once: "order/\(event.order)", random: random, in: store)
  }

  /// An event says how much has gone back in all.
  private func announceRefund(_ event: OutboxEvent, _ merchant: MerchantFolder, _ store: Transaction) throws {
    let before = event.refundedBefore
    guard event.refunded > before, let (order, shopper) = try shopper(of: event, store) else { return }
    let amount = Amount(minorUnits: event.refunded.subtractingClamped(before), currency: event.amount.currency)
    let content = MailContent.refund(of: order.merchantReference, amount: amount, merchant.brand)
    try MailOutbox.add(
      mail(.refund, content, merchant, event.order, shopper), once: "refund/\(event.payment)/\(event.sequence)",
      random: random,
      in: store)
  }

  /// Nil for an order without an address that mail can go to.
  private func shopper(of event: OutboxEvent, _ store: Transaction) throws -> (OrderAnswer, MailAddress)? {
    try OrderContacts.hold(event.order, in: store)
    guard let order = try OrderService.order(of: event.basket, in: store),
      let address = order.customer?.contactDetails?.emailAddress.flatMap({ MailAddress($0) })
    else { return nil }
    return (order, address)
  }

  private func mail(
    _ kind: MailKind, _ content: MailContent, _ merchant: MerchantFolder, _ order: OrderID, _ shopper: MailAddress
  ) -> QueuedMail {
    var mail = QueuedMail(
      kind, of: merchant.merchant.id, to: [shopper], replyTo: merchant.mail.replyTo, content, merchant.brand)
    mail.order = order
    return mail
  }
}

extension OrderMail {
  init(_ mail: ServerMail, logger: Logger) {
    self.init(database: mail.journal.database, merchants: mail.merchants, random: mail.random, logger: logger)
  }
}
