package import TenderPayments

/// The order made of a basket, and what became of its payment.
///
/// It names the shopper, so it goes to the merchant alone, and never into a log, an error or a trace. Properties that
/// Worldline Direct's `Order` has are named as there.
package struct OrderAnswer: Sendable, Hashable, Codable {
  package var orderId: OrderID
  package var paymentId: PaymentID?
  package var merchantReference: String
  /// Nil while the acquirer has not been asked.
  package var status: PaymentStatus?
  /// Whether the shopper has paid, as ``Payment/isPaid`` has it; nil with `status`.
  package var paid: Bool?
  package var amount: WireAmount
  /// True where `amount` is the basket's estimate, because the sheet showed a pending total; nil otherwise.
  package var estimated: Bool?
  /// Apple's identifier of the transaction, the card as the sheet showed it, its network as Apple names it,
  /// and its kind.
  package var transactionIdentifier: String?
  package var card: String?
  package var cardNetwork: String?
  package var cardType: PaymentMethodType?
  /// Minor units that were taken, those that went back since too; nil when there are none.
  package var captured: Int64?
  /// Minor units that were held, and released without being taken; nil when there are none.
  package var released: Int64?
  /// Minor units that went back to the shopper, also without a request of the merchant's; nil when there are none.
  package var refunded: Int64?
  /// Minor units that the shopper's bank took back; nil when there are none.
  package var chargedBack: Int64?
  /// When it was placed.
  package var placedAt: WireTime?
  /// What the amount is made of, as the sheet showed it: goods, discount, fees, the way they travel.
  package var lines: [Line]?
  /// The items that could not be had at the address, and are not part of the order.
  package var unavailableItems: [String]?
  /// How the shopper gets it: `delivery`, `collection`, `shipping`.
  package var serviceType: String?
  /// The identifier of the shipping method that the shopper chose.
  package var shippingMethod: String?
  /// When the shopper wants it, as the basket or the page wrote it.
  package var requestedFor: String?
  package var note: String?
  /// When the shopper may expect it.
  package var expectedDates: ExpectedDates?
  /// The order's page in the merchant's shop, from the basket.
  package var orderURL: String?
  package var customer: Customer?
  /// Nil where nothing is brought anywhere.
  package var shipping: Shipping?

  /// A line of the sheet.
  package struct Line: Sendable, Hashable, Codable {
    package var label: String
    /// Minor units; negative for a discount.
    package var amount: Int64
    /// True where the sheet showed it as pending; nil otherwise.
    package var pending: Bool?

    package init(label: String, amount: Int64, pending: Bool? = nil) {
      self.label = label
      self.amount = amount
      self.pending = pending
    }
  }

  package init(
    orderId: OrderID, paymentId: PaymentID?, merchantReference: String, status: PaymentStatus?, amount: WireAmount,
    lines: [Line]? = nil, unavailableItems: [String]? = nil
  ) {
    self.lines = lines
    self.unavailableItems = unavailableItems
    self.orderId = orderId
    self.paymentId = paymentId
    self.merchantReference = merchantReference
    self.status = status
    self.amount = amount
  }
}

extension OrderAnswer {
  /// Who ordered, as confirmed in the payment sheet. Worldline's `Customer`.
  package struct Customer: Sendable, Hashable, Codable {
    /// The merchant's reference of a signed-in shopper, or of the customer who claimed the guest.
    package var merchantCustomerId: String?
    /// Names the browser of a shopper without an account, for all of its orders; nil for a signed-in shopper.
    package var guestId: String?
    package var contactDetails: ContactDetails?
    package var personalInformation: PersonalInformation?
    /// Where nothing is brought anywhere and the merchant asks for it.
    package var billingAddress: Address?
    /// The address of ``Shipping`` again, where older tables of Worldline's have it.
    package var shippingAddress: Address?

    package init() {}
  }

  package struct ContactDetails: Sendable, Hashable, Codable {
    package var emailAddress: String?
    package var phoneNumber: String?

    package init(emailAddress: String?, phoneNumber: String?) {
      self.emailAddress = emailAddress
      self.phoneNumber = phoneNumber
    }
  }

  package struct PersonalInformation: Sendable, Hashable, Codable {
    package var name: Name?

    package init(name: Name?) { self.name = name }
  }

  package struct Name: Sendable, Hashable, Codable {
    package var firstName: String?
    package var surname: String?
    /// The name's prefix, such as `Dr.`
    package var title: String?
    /// Where the basket asks for them; Worldline has no such properties.
    package var phoneticFirstName: String?
    package var phoneticSurname: String?

    package init(
      firstName: String?, surname: String?, title: String? = nil, phoneticFirstName: String? = nil,
      phoneticSurname: String? = nil
    ) {
      self.title = title
      self.firstName = firstName
      self.surname = surname
      self.phoneticFirstName = phoneticFirstName
      self.phoneticSurname = phoneticSurname
    }
  }

  /// Where the order goes. Worldline's `Shipping`.
  package struct Shipping: Sendable, Hashable, Codable {
    package var address: Address

    package init(address: Address) { self.address = address }
  }

  /// Worldline's `AddressPersonal`.
  package struct Address: Sendable, Hashable, Codable {
    package var name: Name?
    /// The first line of the address, with the house number.
    package var street: String?
    /// The other lines, a line break between them.
    package var additionalInfo: String?
    /// A part of the town; Worldline has no such property.
    package var subLocality: String?
    package var city: String?
    package var zip: String?
    package var state: String?
    /// ISO 3166-1 alpha-2.
    package var countryCode: String?

    package init() {}
  }
}
