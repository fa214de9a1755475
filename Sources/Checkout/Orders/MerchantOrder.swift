package import DirectWire
package import Storage
package import TenderPayments
import TenderSheet

/// An order as its merchant gets it: whom it is for, where it goes, and what the sheet showed.
struct MerchantOrder: Sendable, Hashable {
  let order: OrderRecord
  /// Nil once it was erased.
  let contact: OrderContact?
  /// What the shopper saw when the order was placed.
  let quote: Quote?
  /// The merchant's customer who claimed the order's guest afterwards.
  let claimant: String?
  let basket: Basket?

  /// Nil before the first try to pay the basket.
  static func find(of basket: BasketID, in store: Transaction) throws -> MerchantOrder? {
    try OrderRecord.find(of: basket, in: store).map { order in
      MerchantOrder(
        order: order, contact: try OrderContact.find(of: order.id, in: store),
        quote: try Quote.find(order.quote, in: store),
        claimant: try order.guest.flatMap { try Guests.customer($0, at: order.merchant, in: store) },
        basket: try BasketRecord.find(basket, in: store)?.basket)
    }
  }

  func answer(_ payment: Payment?) -> OrderAnswer {
    var answer = OrderAnswer(
      orderId: order.id, paymentId: payment?.id, merchantReference: order.merchantReference, status: payment?.status,
      amount: WireAmount(order.amount),
      lines: quote?.lines.map {
        .init(label: $0.label, amount: $0.amount.minorUnits, pending: $0.kind == .pending ? true : nil)
      },
      unavailableItems: quote?.unavailableItems)
    answer.transactionIdentifier = payment?.transactionIdentifier
    (answer.card, answer.cardNetwork) = (payment?.card.name, payment?.card.network?.appleName)
    answer.cardType = payment?.card.type
    answer.captured = payment.flatMap { $0.captured > 0 ? $0.captured : nil }
    answer.released = payment.flatMap { $0.released > 0 ? $0.released : nil }
    answer.refunded = payment.flatMap { $0.refunded > 0 ? $0.refunded : nil }
    answer.chargedBack = payment.flatMap { $0.chargedBack > 0 ? $0.chargedBack : nil }
    answer.estimated = quote?.isPending == true ? true : nil
    answer.placedAt = WireTime(order.createdAt)
    answer.paid = payment?.isPaid
    answer.serviceType = order.service.rawValue
    answer.shippingMethod = order.service.needsAddress ? quote?.state.shippingMethod : nil
    (answer.requestedFor, answer.note) = (order.requestedFor, order.note)
    (answer.expectedDates, answer.orderURL) = (expectedDates, basket?.document.orderURL)
    answer.shipping = order.service.needsAddress ? contact.flatMap(OrderAnswer.Shipping.init) : nil
    answer.customer = customer
    answer.customer?.shippingAddress = answer.shipping?.address
    return answer
  }

  /// Nil where there are none.
  private var expectedDates: ExpectedDates? {
    let dates = quote.flatMap { basket?.document.expectedDates(for: $0.state) } ?? ExpectedDates()
    return dates == ExpectedDates() ? nil : dates
  }

  private var customer: OrderAnswer.Customer {
    var customer = OrderAnswer.Customer(contact)
    customer.merchantCustomerId = order.customer ?? claimant
    customer.guestId = order.guest
    customer.billingAddress = contact?.billingAddress(for: order.service).map { OrderAnswer.Address($0) }
    if let billing = contact?.billing, billing.hasName { customer.personalInformation = .init(name: .init(billing)) }
    return customer
  }
}

extension OrderService {
  /// The order of a basket, without what became of its payment: for the webhook of a change, which says that itself.
  package static func order(of basket: BasketID, in store: Transaction) throws -> OrderAnswer? {
    try MerchantOrder.find(of: basket, in: store)?.answer(nil)
  }
}

extension OrderAnswer.Customer {
  fileprivate init(_ contact: OrderContact?) {
    self.init()
    guard let contact else { return }
    contactDetails = .init(emailAddress: contact.emailAddress, phoneNumber: contact.phoneNumber)
    personalInformation = .init(name: .init(contact))
  }
}

extension OrderAnswer.Shipping {
  fileprivate init?(_ contact: OrderContact) {
    guard let found = contact.address else { return nil }
    var address = OrderAnswer.Address(found)
    address.name = .init(contact)
    self.init(address: address)
  }
}

extension OrderAnswer.Name {
  fileprivate init(_ contact: OrderContact) {
    self.init(
      firstName: contact.givenName, surname: contact.familyName, title: contact.namePrefix,
      phoneticFirstName: contact.phoneticGivenName, phoneticSurname: contact.phoneticFamilyName)
  }

  fileprivate init(_ contact: FullContact) {
    self.init(firstName: contact.givenName, surname: contact.familyName, title: contact.namePrefix)
  }
}

extension OrderAnswer.Address {
  fileprivate init(_ address: OrderAddress) {
    self.init()
    street = address.lines.first
    additionalInfo = address.lines.count > 1 ? address.lines.dropFirst().joined(separator: "\n") : nil
    (subLocality, city, zip) = (address.subLocality, address.locality, address.postalCode)
    (state, countryCode) = (address.administrativeArea, address.countryCode)
  }
}
