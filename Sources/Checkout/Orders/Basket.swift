package import DirectWire
package import TenderPayments
package import TenderSheet

/// A basket whose every rule has been checked: what is for sale and how it is priced.
package struct Basket: Sendable, Hashable {
  package let id: BasketID
  package let merchant: MerchantID
  package let document: BasketDocument
  /// What the shopper may choose from; never empty.
  package let services: [ServiceType]
  /// What the sheet opens with unless the shopper chose otherwise.
  package let service: ServiceType
  /// Whether it is paid on the platform's own page, which many merchants share.
  package let isHosted: Bool

  /// Checks the document from its first property to its last, and that the sheet it opens with has something to pay.
  ///
  /// - Parameters:
  ///   - mayBeFree: whether a total of zero is something to do: it verifies the card.
  ///   - now: by which an agreement's dates are judged.
  package init(
    _ document: BasketDocument, id: BasketID, merchant: MerchantID, isHosted: Bool = false, mayBeFree: Bool = false,
    at now: Timestamp = Timestamp(seconds: 0)
  ) throws {
    try BasketRules.checkID(id)
    try self.init(stored: document, id: id, merchant: merchant, isHosted: isHosted)
    try BasketRules.check(document)
    if let wanted = document.agreement {
      _ = try AgreementRules.check(wanted, in: document.currencyCode, at: now, "agreement")
    }
    for service in services { try checkTotal(service, mayBeFree, at: now) }
  }

  /// From the store, where the document was written after all checks. Rules that are newer than the basket do not end it.
  init(stored document: BasketDocument, id: BasketID, merchant: MerchantID, isHosted: Bool) throws {
    self.id = id
    self.merchant = merchant
    self.isHosted = isHosted
    self.document = document
    services = try BasketRules.services(document)
    service = try BasketRules.service(document, among: services)
  }

  package var currency: Currency { document.currencyCode }

  /// What is authorized while the total is pending; nil where it is final, or cannot be paid yet.
  package var estimate: Amount? { document.estimate.map(amount) }

  /// What the shopper agrees to beyond this payment.
  package var agreement: PaymentAgreement? { document.agreement?.agreement(in: currency) }

  /// The time zone by which the agreement's dates are reckoned.
  var agreementZone: String { document.agreement?.timeZone ?? "UTC" }

  /// Whether an address must have what its country's post needs.
  var checksAddresses: Bool { document.addressCheck != BasketDocument.AddressCheck.none }

  /// What its sheet asks for, beside the address of an order that goes to one.
  package var contactFields: [ContactField] {
    document.contactFields?.compactMap(ContactField.init) ?? ContactField.usual
  }

  /// The language in which its shopper is spoken to.
  package var locale: ShopperLocale { document.locale.map { ShopperLocale($0) } ?? .english }

  func amount(_ minorUnits: Int64) -> Amount { Amount(minorUnits: minorUnits, currency: currency) }

  /// Priced before anything is known of the shopper, as the sheet will open.
  private func checkTotal(_ service: ServiceType, _ mayBeFree: Bool, at now: Timestamp) throws {
    guard !document.pending else { return }
    let total: Amount
    do {
      let priced = try QuoteRules.price(self, SheetState(service: service), at: Timestamp(seconds: 0))
      total = try priced.summary(of: self).total.amount
    } catch let violation as SheetViolation {
      if case .negativeTotal = violation { throw OrderError(.totalNotPositive, violation.reason) }
      throw OrderError(violation)
    } catch is AmountError {
      throw OrderError(.basketInvalid, "the total does not fit into 64 bits", field: "items")
    }
    guard total.isPositive || mayBeFree && total.minorUnits == 0 else {
      throw OrderError(.totalNotPositive, "the total for \(service) is \(total)")
    }
    if let agreement {
      try AgreementRules.check(agreement, timeZone: agreementZone, pays: total, at: now, "agreement")
    }
  }
}

extension Basket {
  /// What the payment request carries and the signed payment token repeats as a hash: it ties the token to this
  /// basket, so that one shopper's token cannot pay another's basket of the same price.
  package var applicationData: [UInt8] { Array("tender:v1:\(merchant.rawValue):\(id.rawValue)".utf8) }
}
