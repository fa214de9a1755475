package import TenderPayments

/// The body of `POST /v2/{merchantId}/payments`: what Tender reads and writes of Worldline's `CreatePaymentRequest`.
/// Members of other payment methods are ignored; what begins an agreement is refused where it is not read.
package struct CreatePaymentRequest: Sendable, Codable {
  package var order: DirectOrder
  package var mobilePaymentMethodSpecificInput: MobilePaymentInput?
  /// The payment data as Worldline's kits for apps encrypt it: a JWE.
  package var encryptedCustomerInput: String?
  package var feedbacks: Feedbacks?

  package init(order: DirectOrder, mobilePaymentMethodSpecificInput: MobilePaymentInput?) {
    self.order = order
    self.mobilePaymentMethodSpecificInput = mobilePaymentMethodSpecificInput
  }

  package init(from decoder: any Decoder) throws {
    try AgreementMembers.requirePlaces(decoder)
    let container = try decoder.container(keyedBy: CodingKeys.self)
    order = try container.decode(DirectOrder.self, forKey: .order)
    mobilePaymentMethodSpecificInput = try container.decodeIfPresent(
      MobilePaymentInput.self, forKey: .mobilePaymentMethodSpecificInput)
    encryptedCustomerInput = try container.decodeIfPresent(String.self, forKey: .encryptedCustomerInput)
    feedbacks = try container.decodeIfPresent(Feedbacks.self, forKey: .feedbacks)
  }

  /// Where events about this payment go, beside the merchant's own addresses.
  package struct Feedbacks: Sendable, Hashable, Codable {
    package var webhooksUrls: [String]?
    /// The older name, for one address.
    package var webhookUrl: String?
  }
}

/// Worldline's `Order`.
package struct DirectOrder: Sendable, Codable {
  package var amountOfMoney: AmountOfMoney
  package var references: DirectReferences?
  package var customer: DirectCustomer?
  package var shipping: Shipping?

  /// Worldline's `Shipping`.
  package struct Shipping: Sendable, Hashable, Codable {
    package var address: DirectCustomer.Address?
    package var emailAddress: String?
  }

  package init(amountOfMoney: AmountOfMoney, references: DirectReferences?, customer: DirectCustomer? = nil) {
    self.amountOfMoney = amountOfMoney
    self.references = references
    self.customer = customer
  }
}

/// Worldline's `Customer`. It describes a person, and never stands in a log.
package struct DirectCustomer: Sendable, Hashable, Codable {
  package var merchantCustomerId: String?
  package var locale: String?
  package var billingAddress: Address?
  /// Where older tables of Worldline's have the address of ``DirectOrder/Shipping``.
  package var shippingAddress: Address?
  package var contactDetails: ContactDetails?
  package var personalInformation: PersonalInformation?

  package init(
    billingAddress: Address? = nil, contactDetails: ContactDetails? = nil,
    personalInformation: PersonalInformation? = nil
  ) {
    self.billingAddress = billingAddress
    self.contactDetails = contactDetails
    self.personalInformation = personalInformation
  }

  package struct Address: Sendable, Hashable, Codable {
    /// The recipient's name, in a shipping address.
    package var name: PersonalInformation.Name?
    package var street: String?
    package var houseNumber: String?
    package var additionalInfo: String?
    package var state: String?
    package var zip: String?
    package var city: String?
    /// ISO 3166, two letters.
    package var countryCode: String?

    package init(street: String? = nil, zip: String? = nil, city: String? = nil, countryCode: String? = nil) {
      self.street = street
      self.zip = zip
      self.city = city
      self.countryCode = countryCode
    }
  }

  package struct ContactDetails: Sendable, Hashable, Codable {
    package var emailAddress: String?
    package var phoneNumber: String?

    package init(emailAddress: String? = nil, phoneNumber: String? = nil) {
      self.emailAddress = emailAddress
      self.phoneNumber = phoneNumber
    }
  }

  package struct PersonalInformation: Sendable, Hashable, Codable {
    package var name: Name?

    package init(firstName: String, surname: String) { name = Name(firstName: firstName, surname: surname) }

    package struct Name: Sendable, Hashable, Codable {
      package var firstName: String?
      package var surname: String?
      package var title: String?
    }
  }
}

/// The body of `POST …/payments/{id}/capture`: Worldline's `CapturePaymentRequest`. A member that no SDK has is refused,
/// because without its amount a request is for all that is left.
package struct CapturePaymentRequest: Sendable, Hashable, Codable {
  /// In minor units; nil captures what is left.
  package var amount: MinorUnits?
  /// Whether what is left afterwards is released.
  package var isFinal: Bool?
  /// Older SDKs know only this one.
  package var references: DirectReferences?
  package var operationReferences: DirectReferences?

  enum CodingKeys: String, CodingKey, CaseIterable { case amount, isFinal, references, operationReferences }

  package init(amount: Amount?, isFinal: Bool?, references: DirectReferences? = nil) {
    self.amount = amount.map(MinorUnits.init)
    self.isFinal = isFinal
    self.references = references
    operationReferences = references
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder, ignoring: ["lineItemDetails", "shipping"])
    amount = try keys.absentOrGiven(.amount)
    isFinal = try keys.absentOrGiven(.isFinal)
    references = try keys.optional(.references)
    operationReferences = try keys.optional(.operationReferences)
  }

  package var merchantReference: String? {
    operationReferences?.merchantReference ?? references?.merchantReference
  }
}

/// The body of `POST …/payments/{id}/cancel`, which older SDKs send without one: Worldline's `CancelPaymentRequest`. A
/// member that no SDK has is refused, as in ``CapturePaymentRequest``.
package struct CancelPaymentRequest: Sendable, Hashable, Codable {
  /// Nil cancels what is left.
  package var amountOfMoney: AmountOfMoney?
  package var isFinal: Bool?
  package var operationReferences: DirectReferences?

  enum CodingKeys: String, CodingKey, CaseIterable { case amountOfMoney, isFinal, operationReferences }

  package init(
    amountOfMoney: AmountOfMoney? = nil, isFinal: Bool? = nil, operationReferences: DirectReferences? = nil
  ) {
    self.amountOfMoney = amountOfMoney
    self.isFinal = isFinal
    self.operationReferences = operationReferences
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder, ignoring: ["lineItemDetails", "shipping"])
    amountOfMoney = try keys.absentOrGiven(.amountOfMoney)
    isFinal = try keys.absentOrGiven(.isFinal)
    operationReferences = try keys.optional(.operationReferences)
  }
}

/// The body of `POST …/payments/{id}/refund`: Worldline's `RefundRequest`. A member that no SDK has is refused, as in
/// ``CapturePaymentRequest``.
package struct RefundPaymentRequest: Sendable, Hashable, Codable {
  /// Nil refunds what is left, of the capture where one is named.
  package var amountOfMoney: AmountOfMoney?
  /// The capture, of which no more is refunded than it took; nil for any.
  package var captureId: String?
  /// Older SDKs know only this one.
  package var references: DirectReferences?
  package var operationReferences: DirectReferences?

  enum CodingKeys: String, CodingKey, CaseIterable {
    case amountOfMoney, captureId, references, operationReferences
  }

  package init(amountOfMoney: AmountOfMoney?, references: DirectReferences? = nil) {
    self.amountOfMoney = amountOfMoney
    self.references = references
    operationReferences = references
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(
      decoder,
      ignoring: [
        "isFinal", "lineItemDetails", "omnichannelRefundSpecificInput", "reason",
        "refundRedirectPaymentMethodSpecificInput",
      ])
    amountOfMoney = try keys.absentOrGiven(.amountOfMoney)
    captureId = try keys.absentOrGiven(.captureId)
    references = try keys.optional(.references)
    operationReferences = try keys.optional(.operationReferences)
  }

  package var merchantReference: String? {
    operationReferences?.merchantReference ?? references?.merchantReference
  }
}
