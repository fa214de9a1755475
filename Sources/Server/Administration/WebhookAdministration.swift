import HTTPServing
import HTTPTypes
import HostedCheckout
import DirectWire
import Ledger
package import Logging
import Orders
import PlatformAPI
package import Storage
import StrictJSON
package import TenderPayments
package import Webhooks

/// The answers behind `tender webhooks`, whether a server holds the store or the command line itself.
package struct WebhookAdministration: Sendable {
  private let database: Database

  package init(_ database: Database) { self.database = database }

  package func deliveries(_ state: Delivery.State, limit: Int) async throws -> [DeliveryReport] {
    let deliveries = try await WebhookDispatcher.deliveries(state, limit: min(500, max(1, limit)), in: database)
    return try await database.read { store in
      let events = try OutboxEvent.find(deliveries.map { ($0.payment, $0.sequence) }, in: store)
      return try zip(deliveries, events).map { delivery, found in
        let event = try? found?.get()
        return DeliveryReport(
          delivery, event, reference: try event.flatMap { try MerchantReferences.reference(of: $0.order, in: store) })
      }
    }
  }

  /// Stands in the office's audit chain, with its outcome.
  ///
  /// - Parameter endpoints: the names of a merchant's; nil where nobody knows them.
  package func replay(
    _ payment: String?, sequence: Int64?, to endpoint: String?, endpoints: ((MerchantID) -> [String])? = nil,
    by person: CommandLineOperator
  ) async throws -> Int {
    let (id, database) = (payment.map { PaymentID($0) }, database)
    let merchant = try await database.read { store in
      try id.flatMap { try WebhookDispatcher.deliveries(of: $0, in: store).first?.merchant }
    }
    let words = [sequence.map { "event \($0)" } ?? "every dead letter", endpoint.map { "to \($0)" }]
    let asked = OfficeAction(
      person.actor, from: "", "webhook.replay", merchant: merchant?.rawValue ?? "", subject: payment ?? "",
      after: words.compactMap(\.self).joined(separator: " "))
    let known = merchant.flatMap { endpoints?($0) }
    return try await OfficeAudit.attempt(
      asked, in: database, failure: OfficeRefusal.ending, outcome: { "\($0) brought back" }
    ) {
      let obstacle = try await database.read { store in
        try id.flatMap {
          try WebhookDispatcher.obstacle(
            toReplay: $0, sequence: sequence, isMoved: endpoint != nil, known: known, in: store)
        }
      }
      if let obstacle { throw Problem(.conflict, "nothing_to_replay", obstacle) }
      return try await WebhookDispatcher.replay(id, sequence: sequence, to: endpoint, in: database)
    }
  }

  /// What happened since `cursor`; without one nothing, and a cursor for what happens from now on.
  package func events(after cursor: String?) async throws -> WebhookFeed {
    let place = cursor.flatMap { Int64($0) }.map { OutboxEvent.Cursor(position: $0) }
    return try await database.read { store in
      guard let place else { return WebhookFeed(events: [], cursor: try .end(in: store)) }
      let found = try OutboxEvent.after(place, limit: 100, in: store)
      let items = try found.compactMap(\.event).map {
        try WebhookFeed.Item($0, OrderReader.stored().read($0, false, store))
      }
      return WebhookFeed(events: items, cursor: found.last?.cursor ?? place)
    }
  }
}

/// A delivery as the command line shows it.
package struct DeliveryReport: Codable, Sendable {
  package let payment: PaymentID
  package let sequence: Int64
  package let merchant: MerchantID
  /// Nil where the journal has no such event, or this version cannot read it.
  package let order: OrderID?
  package let basket: BasketID?
  /// The merchant's reference of the order.
  package let merchantReference: String?
  package let endpoint: String
  package let url: String
  package let state: Delivery.State
  package let tries: Int64
  package let nextTry: String
  package let result: String?

  init(_ delivery: Delivery, _ event: OutboxEvent?, reference: String?) {
    order = event?.order
    basket = event?.basket
    merchantReference = reference
    payment = delivery.payment
    sequence = delivery.sequence
    merchant = delivery.merchant
    endpoint = delivery.endpoint
    url = delivery.url
    state = delivery.state
    tries = delivery.tries
    nextTry = delivery.nextTry.description
    result = delivery.result
  }
}

/// Events in the form in which merchants get them, for `tender webhooks`.
package struct WebhookFeed: Codable, Sendable {
  package struct Item: Codable, Sendable {
    package let merchant: MerchantID
    package let payment: PaymentID
    package let sequence: Int64
    /// The event's.
    package let id: String
    package let type: String
    /// The body as it is sent; a signature is over exactly these bytes.
    package let body: String

    init(_ event: OutboxEvent, _ order: NotifiedOrder?) throws {
      let body = try WebhookBody(event, order: order)
      merchant = event.merchant
      payment = event.payment
      sequence = event.sequence
      (id, type) = (body.id, body.type)
      self.body = String(decoding: body.bytes, as: UTF8.self)
    }
  }

  package let events: [Item]
  /// Where to go on.
  package let cursor: String

  init(events: [Item], cursor: OutboxEvent.Cursor) {
    self.events = events
    self.cursor = "\(cursor.position)"
  }
}

extension OrderReader {
  /// The orders in the same store as the ledger. Of one that cannot be read only the merchant's reference, so that it
  /// holds up no event.
  ///
  /// - Parameter logger: is told of such an order.
  package static func stored(_ logger: Logger? = nil) -> OrderReader {
    OrderReader { event, includesDetails, store in
      guard let reference = try MerchantReferences.reference(of: event.order, in: store) else { return nil }
      do { return try order(of: event, reference, includesDetails, store) } catch let error as StorageError
        where !error.isUnreadable
      {
        throw error
      } catch {
        logger?.error(
          "an event goes without its order, which cannot be read",
          metadata: ["payment": .string(event.payment.rawValue), "reason": .string("\(error)")])
        return NotifiedOrder(DirectReferences(merchantReference: reference))
      }
    }
  }

  private static func order(
    of event: OutboxEvent, _ reference: String, _ includesDetails: Bool, _ store: Transaction
  ) throws -> NotifiedOrder {
    let details = includesDetails ? try OrderService.order(of: event.basket, in: store) : nil
    let checkout = try HostedCheckout.find(event.basket, in: store)
    let asked = checkout == nil ? try PlatformOrder.find(event.order, in: store) : nil
    var references = checkout?.references ?? asked?.references ?? DirectReferences()
    references.merchantReference = references.merchantReference ?? reference
    return NotifiedOrder(
      references, hostedCheckout: checkout?.output,
      details: try details.map { try JSONReader.read(JSONAnswer.bytes($0)) })
  }
}
