public import TenderPayments

/// What the shopper changed on the open sheet.
///
/// In JSON exactly one of `shippingContact`, `shippingMethod`, `couponCode` and `paymentMethod`, as Apple Pay JS's
/// events carry them: a method and a payment method may be Apple's whole objects, or only identifier and type.
public enum SheetChange: Sendable, Hashable {
  /// Another address, of which the device shows only a part.
  case shippingContact(RedactedContact)
  /// The identifier of a method that was offered.
  case shippingMethod(String)
  /// Empty when the shopper took the code back.
  case couponCode(String)
  /// Another card, of which the device tells only the kind.
  case paymentMethod(PaymentMethodType)

  /// The callback of the sheet that is answered.
  public var moment: SheetMoment {
    switch self {
    case .shippingContact: .contactSelection
    case .shippingMethod: .shippingMethodSelection
    case .couponCode: .couponCodeChange
    case .paymentMethod: .paymentMethodSelection
    }
  }
}

extension SheetChange: Codable {
  private enum CodingKeys: String, CodingKey, CaseIterable {
    case shippingContact, shippingMethod, couponCode, paymentMethod
  }
  private struct Method: Codable { let identifier: String }
  private struct Payment: Codable { let type: String? }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    let present = try CodingKeys.allCases.filter { try keys.contains($0) && !keys.decodeNil(forKey: $0) }
    guard present.count == 1 else {
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "a sheet update carries exactly one change"))
    }
    switch present[0] {
    case .shippingContact: self = .shippingContact(try keys.decode(RedactedContact.self, forKey: .shippingContact))
    case .couponCode:
      self = .couponCode(try keys.limited(keys.decode(String.self, forKey: .couponCode), forKey: .couponCode))
    case .shippingMethod:
      let text = try? keys.decode(String.self, forKey: .shippingMethod)
      let identifier = try text ?? keys.decode(Method.self, forKey: .shippingMethod).identifier
      self = .shippingMethod(try keys.limited(identifier, forKey: .shippingMethod))
    case .paymentMethod:
      let text = try? keys.decode(String.self, forKey: .paymentMethod)
      let type = try text ?? keys.decode(Payment.self, forKey: .paymentMethod).type
      self = .paymentMethod(type.flatMap(PaymentMethodType.init) ?? .unknown)
    }
  }

  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: CodingKeys.self)
    switch self {
    case .shippingContact(let contact): try keys.encode(contact, forKey: .shippingContact)
    case .shippingMethod(let identifier): try keys.encode(Method(identifier: identifier), forKey: .shippingMethod)
    case .couponCode(let code): try keys.encode(code, forKey: .couponCode)
    case .paymentMethod(let type): try keys.encode(Payment(type: type.rawValue), forKey: .paymentMethod)
    }
  }
}

/// The answer to a change, complete: what the sheet shows from now on.
public struct SheetUpdate: Sendable, Hashable {
  /// What is paid now, under the business name.
  public let newTotal: SummaryItem
  /// What the total is made of now.
  public let newLineItems: [SummaryItem]
  /// Nil leaves the methods as they are.
  public let newShippingMethods: [ShippingMethod]?
  /// The gravest first. While an error of a contact or an address stands, the shopper cannot pay; a coupon code that
  /// is refused blocks nothing, and the total simply stays.
  public let errors: [SheetError]

  /// The answer to a change that was priced.
  public init(summary: Summary, shippingMethods: [ShippingMethod]? = nil, errors: [SheetError] = []) {
    self.newTotal = summary.total
    self.newLineItems = summary.items
    self.newShippingMethods = shippingMethods
    self.errors = errors
  }

  /// For whoever answers without pricing anew: the sheet keeps what it shows.
  public init(
    keeping total: SummaryItem, _ lineItems: [SummaryItem], shippingMethods: [ShippingMethod]? = nil,
    errors: [SheetError] = []
  ) {
    self.newTotal = total
    self.newLineItems = lineItems
    self.newShippingMethods = shippingMethods
    self.errors = errors
  }

  /// The lines as PassKit lists them: the last is the total.
  public var summaryItems: [SummaryItem] { newLineItems + [newTotal] }
}
