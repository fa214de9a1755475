import Acquiring
package import DirectWire
package import Gateway
package import Storage
package import TenderPayments
package import TenderSheet

/// An order that a merchant's server brings with its payment. It has no basket here and was never in a sheet of ours.
package struct ServerOrder: Sendable {
  package let id: OrderID
  package let merchant: MerchantID
  package let merchantReference: String
  package let amount: Amount
  package let contact: OrderContact
  /// The merchant's reference of the shopper.
  package let customer: String?
  /// Whether it goes to an address.
  package let isShipped: Bool

  /// - Parameter reference: the merchant's own name of the order.
  package init(_ order: DirectOrder, id: OrderID, of merchant: MerchantID, amount: Amount, reference: String) {
    self.id = id
    self.merchant = merchant
    self.amount = amount
    merchantReference = reference
    isShipped = order.shippingAddress != nil
    customer = order.customer?.merchantCustomerId
    contact = OrderContact(
      service: isShipped ? .shipping : .noFulfillment, shipping: order.shippingContact, billing: order.billingContact,
      billingRequired: true)
  }

  /// In place of a basket's name; the order's own, so that it is as unique.
  package var basket: BasketID { BasketID(id.rawValue) }

  /// Writes the order with its contact, in the commit of its payment's claim.
  package func save(in store: Transaction) throws {
    let record = OrderRecord(
      id: id, merchant: merchant, basket: basket, quote: QuoteID(""), merchantReference: merchantReference,
      amount: amount, service: isShipped ? .shipping : .noFulfillment, customer: customer, guest: nil,
      requestedFor: nil, note: nil, createdAt: store.now, guestToken: nil)
    try record.save(contact, in: store)
  }

  /// What decides the payment's route, and what a provider may want to know.
  package var choice: RouteChoice {
    RouteChoice(
      sale: SaleDetails(
        order: id.rawValue, shopper: SaleDetails.Shopper(contact, isShipped ? .shipping : .noFulfillment)),
      country: contact.address?.countryCode)
  }
}

/// The order of an agreement's later payment: it has neither basket nor contact, and no shopper was there.
package struct ChargedOrder: Sendable {
  private let order: Order
  private let customer: String?

  /// - Parameter customer: the merchant's reference of the shopper.
  package init(_ order: Order, customer: String?) { (self.order, self.customer) = (order, customer) }

  /// Writes the order, in the commit of its payment's claim.
  package func save(in store: Transaction) throws {
    let record = OrderRecord(
      id: order.id, merchant: order.merchant, basket: order.basket, quote: QuoteID(""),
      merchantReference: order.merchantReference, amount: order.amount, service: .noFulfillment, customer: customer,
      guest: nil, requestedFor: nil, note: nil, createdAt: store.now, guestToken: nil)
    try record.save(
      OrderContact(service: .noFulfillment, shipping: nil, billing: nil, billingRequired: false), in: store)
  }
}

// Worldline's order in the sheet's terms, as the vendor's table has it.
extension DirectOrder {
  /// The newer member, or else the older one.
  fileprivate var shippingAddress: DirectCustomer.Address? { shipping?.address ?? customer?.shippingAddress }

  /// E-mail and phone are those of the customer, or else of the shipping.
  fileprivate var shippingContact: FullContact {
    FullContact(
      shippingAddress?.name ?? customer?.personalInformation?.name, shippingAddress,
      phone: customer?.contactDetails?.phoneNumber,
      email: customer?.contactDetails?.emailAddress ?? shipping?.emailAddress)
  }

  fileprivate var billingContact: FullContact {
    FullContact(customer?.personalInformation?.name, customer?.billingAddress, phone: nil, email: nil)
  }
}

/// The member of a request that is too long for an order to keep, and what it may have at most.
package typealias LongMember = (member: String, limit: String)

// What a merchant's server sends is kept and shown as what a sheet sends, within the limits of a `FullContact`.
extension DirectOrder {
  package var tooLong: LongMember? {
    customer?.tooLong ?? shipping?.address?.tooLong(at: "order.shipping.address")
      ?? DirectCustomer.tooLong(emailAddress: shipping?.emailAddress, at: "order.shipping")
  }
}

extension HostedOrder {
  package var tooLong: LongMember? {
    customer?.tooLong ?? shipping?.address?.tooLong(at: "order.shipping.address")
  }
}

extension DirectCustomer {
  private static let place = "order.customer"

  fileprivate var tooLong: LongMember? {
    let contact = "\(Self.place).contactDetails"
    if !TextLimits.holds(merchantCustomerId ?? "", most: BasketRules.longestCustomer) {
      return ("\(Self.place).merchantCustomerId", "\(BasketRules.longestCustomer) characters")
    }
    return Self.tooLong(emailAddress: contactDetails?.emailAddress, at: contact)
      ?? Self.tooLong([("phoneNumber", contactDetails?.phoneNumber)], at: contact)
      ?? personalInformation?.name?.tooLong(at: "\(Self.place).personalInformation.name")
      ?? billingAddress?.tooLong(at: "\(Self.place).billingAddress")
      ?? shippingAddress?.tooLong(at: "\(Self.place).shippingAddress")
  }

  fileprivate static func tooLong(emailAddress: String?, at place: String) -> LongMember? {
    emailAddress?.utf8.count ?? 0 > TextLimits.emailAddress
      ? ("\(place).emailAddress", "\(TextLimits.emailAddress) bytes") : nil
  }

  fileprivate static func tooLong(_ members: [(name: String, text: String?)], at place: String) -> LongMember? {
    members.first { !TextLimits.holds($0.text ?? "", most: TextLimits.field) }
      .map { ("\(place).\($0.name)", "\(TextLimits.field) characters") }
  }
}

extension DirectCustomer.PersonalInformation.Name {
  fileprivate func tooLong(at place: String) -> LongMember? {
    DirectCustomer.tooLong([("firstName", firstName), ("surname", surname), ("title", title)], at: place)
  }
}

extension DirectCustomer.Address {
  /// Each member by itself, and street and house number as the lines that they make.
  fileprivate func tooLong(at place: String) -> LongMember? {
    let members: [(name: String, text: String?)] = [
      ("street", street), ("houseNumber", houseNumber), ("additionalInfo", additionalInfo), ("state", state),
      ("zip", zip), ("city", city), ("countryCode", countryCode?.uppercased()),
    ]
    let kept = FullContact(nil, self, phone: nil, email: nil).addressLines
    return name?.tooLong(at: "\(place).name") ?? DirectCustomer.tooLong(members, at: place)
      ?? DirectCustomer.tooLong(kept.map { ("street", $0) }, at: place)
      ?? (kept.count > TextLimits.addressLines ? ("\(place).street", "\(TextLimits.addressLines) lines") : nil)
  }
}

extension FullContact {
  fileprivate init(
    _ name: DirectCustomer.PersonalInformation.Name?, _ address: DirectCustomer.Address?, phone: String?, email: String?
  ) {
    let street = [address?.street, address?.houseNumber].compactMap { $0 }.joined(separator: " ")
    self.init(
      givenName: name?.firstName, familyName: name?.surname, phoneNumber: phone, emailAddress: email,
      addressLines: [street, address?.additionalInfo].compactMap { $0 }, locality: address?.city,
      administrativeArea: address?.state,
      postalCode: address?.zip, countryCode: address?.countryCode, namePrefix: name?.title)
  }
}
