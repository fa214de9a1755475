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
