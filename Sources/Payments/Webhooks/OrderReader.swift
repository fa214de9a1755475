package import DirectWire
package import Ledger
package import Storage
package import StrictJSON

/// The order of a payment, as the merchant's endpoints are sent it.
package struct NotifiedOrder: Sendable, Hashable {
  /// As the look-up of the payment gives them.
  package let references: DirectReferences
  /// The hosted checkout that made the payment, on a page of the platform's own.
  package let hostedCheckout: HostedCheckoutOutput?
  /// Whom it is for, where it goes and what it is made of. Nil for an endpoint that does not ask for it: it names the
  /// shopper.
  package let details: JSONValue?

  package init(
    _ references: DirectReferences, hostedCheckout: HostedCheckoutOutput? = nil, details: JSONValue? = nil
  ) {
    self.references = references
    self.hostedCheckout = hostedCheckout
    self.details = details
  }
}

/// Reads the order of an event's payment at the moment the event is sent. Orders are not the ledger's, so that what
/// names the shopper can be erased without touching it.
package struct OrderReader: Sendable {
  package let read: @Sendable (OutboxEvent, _ includesDetails: Bool, Transaction) throws -> NotifiedOrder?

  /// - Parameter read: nil where the payment has no order here.
  package init(
    _ read: @escaping @Sendable (OutboxEvent, _ includesDetails: Bool, Transaction) throws -> NotifiedOrder?
  ) {
    self.read = read
  }

  /// For a store without orders.
  package static let none = OrderReader { _, _, _ in nil }
}
