import Acquiring
import DirectWire
import Gateway
import Ledger
import Orders
import Storage
import StrictJSON
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// An order that a merchant's server brings with its payment, in Worldline's words.
@Suite struct `An order without a basket` {
  private func order(_ text: String) throws -> ServerOrder {
    let order = try DirectJSON.read(DirectOrder.self, Array(text.utf8))
    return ServerOrder(
      order, id: OrderID("o1"), of: Shop.merchant, amount: .eur(1250),
      reference: order.references?.merchantReference ?? "")
  }

  private static let shipped = """
    {"amountOfMoney": {"amount": 1250, "currencyCode": "EUR"}, "references": {"merchantReference": "R-1"},
     "customer": {"merchantCustomerId": "c7", "contactDetails": {"emailAddress": "a@b.example", "phoneNumber": "1"},
       "personalInformation": {"name": {"firstName": "Aoife", "surname": "Byrne", "title": "Dr."}},
       "billingAddress": {"street": "Bill", "countryCode": "GB"}%@},
     "shipping": {"address": {"name": {"firstName": "Sean"}, "street": "Quay", "houseNumber": "2",
       "additionalInfo": "Flat 1", "city": "Cork", "zip": "T12", "countryCode": "ie"}}}
    """

  @Test func `goes to its shipping address, and takes e-mail and phone from the customer`() throws {
    let contact = try order(Self.shipped.replacing("%@", with: "")).contact
    #expect((contact.givenName, contact.emailAddress, contact.phoneNumber) == ("Sean", "a@b.example", "1"))
    #expect(contact.address?.lines == ["Quay 2", "Flat 1"])
    #expect((contact.address?.locality, contact.address?.countryCode) == ("Cork", "IE"))
  }

  @Test func `takes the older shipping address where the newer is missing, and its e-mail last`() throws {
    let contact = try order(
      """
      {"amountOfMoney": {"amount": 1, "currencyCode": "EUR"}, "shipping": {"emailAddress": "s@b.example"},
       "customer": {"shippingAddress": {"street": "Old", "countryCode": "IE"},
         "personalInformation": {"name": {"surname": "Byrne", "title": "Dr."}}}}
      """
    ).contact
    #expect(contact.address?.lines == ["Old"] && contact.emailAddress == "s@b.example")
    #expect((contact.familyName, contact.namePrefix) == ("Byrne", "Dr."))
  }

  @Test func `takes name and address from billing where nothing is shipped`() throws {
    let order = try order(
      """
      {"amountOfMoney": {"amount": 1, "currencyCode": "EUR"}, "customer": {
         "personalInformation": {"name": {"firstName": "Aoife", "title": "Dr."}},
         "billingAddress": {"street": "Bill", "countryCode": "GB"}}}
      """)
    #expect(order.contact.givenName == "Aoife" && order.contact.address?.lines == ["Bill"])
    #expect(order.choice.sale.shopper?.countryCode == "GB" && !order.isShipped)
  }

  @Test func `is stored with its contact, found by its reference, and told to the merchant in the wire's words`()
    async throws
  {
    let shop = try await Shop()
    let order = try order(Self.shipped.replacing("%@", with: ""))
    try await shop.database.write { try order.save(in: $0) }
    let (found, told) = try await shop.database.read { store in
      (
        try MerchantReferences.orders(with: "R-1", of: [Shop.merchant], limit: 5, in: store),
        try OrderService.order(of: order.basket, in: store)
      )
    }
    #expect(found == [OrderID("o1")])
    #expect(told?.customer?.merchantCustomerId == "c7" && told?.customer?.contactDetails?.phoneNumber == "1")
    #expect(told?.shipping?.address.street == "Quay 2")
    #expect(told?.customer?.billingAddress?.street == "Bill" && told?.customer?.billingAddress?.countryCode == "GB")
    let name = OrderAnswer.Name(firstName: "Aoife", surname: "Byrne", title: "Dr.")
    #expect(told?.customer?.personalInformation?.name == name && told?.shipping?.address.name?.firstName == "Sean")
    #expect(told?.customer?.shippingAddress == told?.shipping?.address)
  }

  @Test func `is read back also where it was stored with longer texts than are taken now`() async throws {
    let shop = try await Shop()
    let long = String(repeating: "B", count: 3_000)
    let order = try order(
      Self.shipped.replacing("%@", with: "").replacing("Aoife", with: long).replacing("Bill", with: long))
    try await shop.database.write { try order.save(in: $0) }
    let read = try await shop.database.read { try OrderService.order(of: order.basket, in: $0) }
    #expect(read?.customer?.billingAddress?.street == long)
    #expect(read?.customer?.personalInformation?.name?.firstName == long)
  }
}
