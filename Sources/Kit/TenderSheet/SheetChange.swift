public import TenderPayments

/// What the shopper changed on the open sheet.
///
/// In JSON exactly one of `shippingContact`, `shippingMethod`, `couponCode` and `paymentMethod`, as Apple Pay JS's
/// events carry them: a method and a payment method may be Apple's whole objects, or only identifier and type.
public enum SheetChange: Sendable, Hashable {
  /// Another address, redacted by the device.
  case shippingContact(RedactedContact)
  /// The identifier of an offered shipping method.
  case shippingMethod(String)
  /// Empty when the shopper removed the code.
  case couponCode(String)
  /// Another card, of which the device reports only the kind.
  case paymentMethod(PaymentMethodType)

  /// The sheet's callback to answer.
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

/// The complete answer to a change: what the sheet shows from now on.
public struct SheetUpdate: Sendable, Hashable {
  /// The new total, labelled with the business name.
  public let newTotal: SummaryItem
  /// The new lines.
  public let newLineItems: [SummaryItem]
  /// Nil keeps the current methods.
  public let newShippingMethods: [ShippingMethod]?
  /// The most severe first. An error of a contact or an address blocks the payment; a refused coupon code does not, and
  /// the total stays the same.
  public let errors: [SheetError]

  /// The answer to a change that was priced.
  public init(summary: Summary, shippingMethods: [ShippingMethod]? = nil, errors: [SheetError] = []) {
    self.newTotal = summary.total
    self.newLineItems = summary.items
    self.newShippingMethods = shippingMethods
    self.errors = errors
  }

  /// An answer without new prices: the sheet keeps its total and lines.
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
