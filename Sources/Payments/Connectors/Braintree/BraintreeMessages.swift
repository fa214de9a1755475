import Acquiring
import HTTPTransport
import StrictJSON
import TenderPayments

/// The bodies of the requests to Braintree's REST API. Names and order are those of Braintree's server libraries.
struct BraintreeMessages: Sendable {
  let settings: BraintreeSettings

  /// Holds the amount with a network token.
  func sale(_ request: AuthorizationRequest, _ card: NetworkToken) -> BraintreeXML {
    var elements = [
      BraintreeXML("type", "sale"), BraintreeXML("amount", text(request.amount)), Self.applePay(card),
      BraintreeXML("order_id", request.reference.rawValue),
    ]
    if let account = merchantAccount(request) { elements.append(BraintreeXML("merchant_account_id", account)) }
    elements += Self.descriptor(request.sale) + Self.customer(request.sale.shopper)
    elements += Self.billing(request.sale.shopper)
    elements.append(BraintreeXML("options", [BraintreeXML("submit_for_settlement", false)]))
    return BraintreeXML("transaction", elements)
  }

  /// The merchant account of a payment: its own, or the one of its currency.
  func merchantAccount(_ request: AuthorizationRequest) -> String? {
    request.sale.merchantAccount ?? settings.merchantAccounts[request.amount.currency]
  }

  /// Takes held money, once; what is not taken is released. It keeps the authorization's order id, by which an inquiry
  /// finds the authorization.
  func settlement(_ request: FollowUpRequest) -> BraintreeXML {
    BraintreeXML("transaction", [BraintreeXML("amount", text(request.amount))])
  }

  /// Takes a part of held money, as a transaction of its own.
  func partialSettlement(_ request: FollowUpRequest) -> BraintreeXML {
    var elements = [
      BraintreeXML("amount", text(request.amount)), BraintreeXML("order_id", request.reference.rawValue),
    ]
    if request.isFinal { elements.append(BraintreeXML("final_capture", true)) }
    return BraintreeXML("transaction", elements)
  }

  func refund(_ request: FollowUpRequest) -> BraintreeXML {
    BraintreeXML(
      "transaction",
      [BraintreeXML("amount", text(request.amount)), BraintreeXML("order_id", request.reference.rawValue)])
  }

  /// Transactions that meet these criteria, and have these ids if they are known.
  static func search(_ criteria: [BraintreeXML], ids: [String] = []) -> BraintreeXML {
    let names = BraintreeXML("ids", type: "array", ids.map { BraintreeXML("item", $0) })
    return BraintreeXML("search", ids.isEmpty ? criteria : criteria + [names])
  }

  /// Transactions with this order id.
  static func bearing(_ order: String) -> BraintreeXML { BraintreeXML("order_id", [BraintreeXML("is", order)]) }

  func text(_ amount: Amount) -> String { BraintreeAmount.text(amount, decimals: decimals(amount.currency)) }

  /// The amount of a transaction, in Braintree's units.
  func amount(_ text: String, _ currency: Currency) -> Amount? {
    BraintreeAmount.read(text, currency, decimals: decimals(currency))
  }

  private func decimals(_ currency: Currency) -> Int { settings.decimals[currency] ?? currency.exponent }
}

extension BraintreeMessages {
  private static func applePay(_ card: NetworkToken) -> BraintreeXML {
    var elements = [
      BraintreeXML("number", card.dpan.revealed), BraintreeXML("cryptogram", card.cryptogram.revealed),
      BraintreeXML("expiration_month", String(card.expiry.mmyy.prefix(2))),
      BraintreeXML("expiration_year", String(card.expiry.year)),
    ]
    if let eci = card.eci { elements.append(BraintreeXML("eci_indicator", eci)) }
    return BraintreeXML("apple_pay_card", elements)
  }

  /// Braintree refuses the whole sale for a descriptor of another form: 3, 7 or 12 characters of business name, `*`,
  /// and a product, 22 characters in all. Then the account's own descriptor is used.
  static func isDescriptor(_ text: String) -> Bool {
    text.utf8.count <= 22
      && text.wholeMatch(
        of: /([A-Za-z0-9.+\- ]{3}|[A-Za-z0-9.+\- ]{7}|[A-Za-z0-9.+\- ]{12})\*[A-Za-z0-9.+\- ]{1,18}/) != nil
  }

  private static func descriptor(_ sale: SaleDetails) -> [BraintreeXML] {
    guard let name = sale.statementDescriptor, isDescriptor(name) else { return [] }
    return [BraintreeXML("descriptor", [BraintreeXML("name", name)])]
  }

  /// Limits and forms of this and of the billing address: Braintree, *All validation errors*, 81604 to 81614, 81805 to
  /// 81813 and 91814. A text has at most 255 characters.
  private static func customer(_ shopper: SaleDetails.Shopper?) -> [BraintreeXML] {
    group(
      "customer",
      [
        ("first_name", shopper?.givenName), ("last_name", shopper?.familyName),
        ("email", shopper?.emailAddress(within: textLimit)), ("phone", shopper?.phoneNumber),
      ])
  }

  private static func billing(_ shopper: SaleDetails.Shopper?) -> [BraintreeXML] {
    group(
      "billing",
      [
        ("first_name", shopper?.givenName), ("last_name", shopper?.familyName),
        ("street_address", shopper?.addressLines.first), ("locality", shopper?.locality),
        ("postal_code", shopper?.postalCode.flatMap { isPostalCode($0) ? $0 : nil }),
        ("country_code_alpha2", shopper?.assignedCountryCode),
      ])
  }

  /// At most nine letters and digits, the first before any hyphen or space.
  private static func isPostalCode(_ text: String) -> Bool {
    let signs = text.utf8.filter { $0 != 0x2D && $0 != 0x20 }
    return signs.count <= 9 && signs.first == text.utf8.first
      && signs.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) }
  }

  static let textLimit = 255

  private static func group(_ name: String, _ members: [(String, String?)]) -> [BraintreeXML] {
    let elements = members.compactMap { name, text in
      text.within(textLimit).map { BraintreeXML(name, $0) }
    }
    return elements.isEmpty ? [] : [BraintreeXML(name, elements)]
  }
}

// Transcripts show what is named here, and of everything else only that it was there.
extension BraintreeMessages {
  private static let shown: Set<String> = [
    "id", "type", "status", "amount", "currency-iso-code", "merchant-account-id", "merchant_account_id", "order-id",
    "order_id", "is", "item", "authorized-transaction-id", "refunded-transaction-id", "processor-response-code",
    "processor-authorization-code", "network-transaction-id", "gateway-rejection-reason", "code", "attribute",
    "eci_indicator", "final_capture", "submit_for_settlement", "page-size", "total-items", "kind", "min", "max",
  ]

  private static let scrubber = Scrubber(showing: [
    "legacyId", "orderId", "merchantAccountId", "status", "value", "amount", "currencyCode", "legacyCode",
    "errorClass", "gatewayRejectionReason", "requestId", "authorizationId",
  ])

  static func transcript(
    _ request: OutboundRequest, _ result: Result<InboundResponse, TransportError>
  ) -> Transcript {
    let answer =
      switch result {
      case .success(let response): "\(response.status) \(scrub(response.body))"
      case .failure(let error): "\(error)"
      }
    return Transcript(request: "\(request.method) \(request.url) \(scrub(request.body))", response: answer)
  }

  private static func scrub(_ body: [UInt8]) -> String {
    guard let document = try? BraintreeXML.read(body) else { return scrubber.scrub(body) }
    return String(decoding: document.masked(except: shown).serialized(), as: UTF8.self)
  }
}

extension BraintreeXML {
  /// The elements with masked texts, but for those of these names.
  fileprivate func masked(except shown: Set<String>) -> BraintreeXML {
    guard children.isEmpty else { return BraintreeXML(name, children.map { $0.masked(except: shown) }) }
    return BraintreeXML(name, shown.contains(name) || text.isEmpty ? text : "***")
  }
}
