import Acquiring
import DirectWire
import Gateway
import Ledger
import TenderPayments
import TenderSheet

extension Basket {
  /// The agreement that its payment begins.
  func newAgreement(_ terms: MerchantTerms) -> NewAgreement? {
    agreement.map {
      NewAgreement(
        terms: $0.notified(at: terms.tokenNotificationURL), timeZone: agreementZone,
        merchantReference: document.merchantReference, customer: document.customer,
        isScheduled: document.agreement?.schedule == true)
    }
  }
}

extension RouteChoice {
  init(_ contact: OrderContact, _ card: NamedCard, _ record: OrderRecord, _ order: Order, _ basket: Basket) {
    self.init(
      sale: SaleDetails(order, basket.document.businessName, .init(contact, record.service), card),
      country: contact.address?.countryCode, wantedRoute: basket.document.route.flatMap { Route($0) })
    sale.authorization = basket.document.authorization
    sale.agreement = basket.agreement.map { .init($0.kind, shopper: order.id.rawValue) }
  }
}

extension SaleDetails {
  /// What a provider may want to know beside the amount.
  init(_ order: Order, _ businessName: String, _ shopper: Shopper, _ card: NamedCard) {
    self.init(
      order: order.id.rawValue, statementDescriptor: businessName, shopper: shopper, cardName: card.name,
      cardNetwork: card.network)
    cardType = card.type
  }
}

extension SaleDetails.Shopper {
  /// The billing contact, with phone and e-mail of the shipping contact, which alone has them.
  init(_ contact: OrderContact, _ service: ServiceType) {
    let (address, name) = (contact.billingAddress(for: service), contact.billing.flatMap { $0.hasName ? $0 : nil })
    self.init(
      givenName: name == nil ? contact.givenName : name?.givenName,
      familyName: name == nil ? contact.familyName : name?.familyName, emailAddress: contact.emailAddress,
      phoneNumber: contact.phoneNumber, countryCode: address?.countryCode, postalCode: address?.postalCode,
      locality: address?.locality, addressLines: address?.lines ?? [])
  }
}
