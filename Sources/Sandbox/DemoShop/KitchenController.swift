import DirectWire
import HTTPServing
import HTTPTypes
import Hummingbird
import StrictJSON
import TenderPayments

/// The shop's own side: what was ordered and where it goes. A demo has no staff and no passwords, so it is served only
/// where everything is simulated.
struct KitchenController: Sendable {
  static let hook: RouterPath = "/hooks/tender"
  private static let maximumBytes = 1 << 20

  let kitchen: Kitchen
  let menu: Menu
  let tender: TenderClient
  /// Nil where Tender sends this shop no webhooks.
  let signature: WebhookSignature?

  /// `POST /hooks/tender`: an event of Tender's. Verified over the bytes that arrived, before they are parsed.
  func receive(_ request: Request, _ context: BasicRequestContext) async throws -> Response {
    let body = try await BodyReader.collect(request, limit: Self.maximumBytes)
    let sent = HTTPField.Name(WebhookSignature.header).flatMap { request.headers[$0] } ?? ""
    guard signature?.isValid(sent, for: body) == true else {
      throw ShopError(.forbidden, "signature_refused", "Only Tender's webhooks come here.")
    }
    guard let event = try? StrictJSONDecoder().decode(Event.self, from: body),
      event.tender != nil || event.type?.utf8.elementsEqual("payment.test".utf8) == true
    else {
      throw ShopError(.badRequest, "invalid_event", "This is no event of a payment.")
    }
    // A test event, as the back office sends one, is about no payment.
    if let change = event.tender { try await take(change) }
    return Response(status: .noContent)
  }

  /// The order comes with the event where the endpoint asks for it; otherwise it is looked up.
  private func take(_ change: Event.Change) async throws {
    let order: OrderAnswer? =
      if let order = change.order { order } else { try await tender.basket(change.basketId).order }
    guard let order else { return }
    kitchen.take(.init(order: order, status: change.status, sequence: change.sequence), of: change.paymentId)
  }

  /// `GET /api/kitchen` → `{orders}`, the newest first.
  func orders(_ request: Request, _ context: BasicRequestContext) -> Response {
    JSONAnswer.response(["orders": kitchen.tickets.map { KitchenTicket($0, menu) }])
  }

  /// The part of a webhook that the shop reads.
  private struct Event: Decodable {
    let type: String?
    let tender: Change?

    struct Change: Decodable {
      let paymentId: PaymentID
      let basketId: BasketID
      let status: PaymentStatus
      let sequence: Int64
      let order: OrderAnswer?
    }
  }
}

/// An order as the kitchen's page shows it.
private struct KitchenTicket: Encodable {
  let reference: String
  let placedAt: WireTime?
  let status: PaymentStatus
  let serviceType: String?
  /// Such as `Bike`.
  let method: String?
  let requestedFor: String?
  let note: String?
  let name: String
  let phone: String?
  let email: String?
  /// Street to region, a line each; empty where nothing is delivered.
  let address: [String]
  let countryCode: String?
  let customer: String?
  let lines: [Line]

  struct Line: Encodable {
    let label: String
    /// Decimal text in major units.
    let amount: String
  }

  init(_ ticket: Kitchen.Ticket, _ menu: Menu) {
    let (order, customer) = (ticket.order, ticket.order.customer)
    (reference, placedAt, status) = (order.merchantReference, order.placedAt, ticket.status)
    (serviceType, requestedFor, note) = (order.serviceType, order.requestedFor, order.note)
    method = menu.methods.first { $0.identifier == order.shippingMethod }?.label
    name = order.shopperName ?? ""
    (phone, email) = (customer?.contactDetails?.phoneNumber, customer?.contactDetails?.emailAddress)
    address = order.shipping?.address.lines ?? []
    countryCode = order.shipping?.address.countryCode
    self.customer = customer?.merchantCustomerId
    let currency = order.amount.currencyCode
    lines = (order.lines ?? []).map {
      Line(label: $0.label, amount: Amount(minorUnits: $0.amount, currency: currency).decimalString)
    }
  }
}

extension OrderAnswer.Address {
  /// As it is written on a label, without the country.
  fileprivate var lines: [String] {
    let town = [zip, city].compactMap { $0 }.joined(separator: " ")
    let other = additionalInfo?.split(separator: "\n").map(String.init) ?? []
    return ([street].compactMap { $0 } + other + [subLocality, town, state].compactMap { $0 }).filter { !$0.isEmpty }
  }
}
