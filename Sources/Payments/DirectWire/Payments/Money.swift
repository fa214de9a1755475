package import TenderPayments

/// An amount in the minor units of its currency: Worldline's `AmountOfMoney`.
package struct AmountOfMoney: Sendable, Hashable, Codable {
  package let amount: Int64
  /// ISO 4217, three letters.
  package let currencyCode: String

  package init(_ amount: Amount) {
    self.amount = amount.minorUnits
    currencyCode = amount.currency.code
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: CodingKeys.self)
    amount = try container.decode(MinorUnits.self, forKey: .amount).units
    currencyCode = try container.decode(String.self, forKey: .currencyCode)
  }

  /// Nil for a currency that is none.
  package var value: Amount? {
    Currency(code: currencyCode).flatMap { $0.isMoney ? Amount(minorUnits: amount, currency: $0) : nil }
  }
}

/// Minor units on the wire, of a currency that stands elsewhere: within ``Amount/limit``, and nothing to calculate with
/// before the currency makes an amount of it.
package struct MinorUnits: Sendable, Hashable, Codable {
  fileprivate let units: Int64

  package init(_ amount: Amount) { units = amount.minorUnits }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    units = try container.decode(Int64.self)
    guard Amount.limit.contains(units) else {
      throw DecodingError.dataCorruptedError(in: container, debugDescription: "must have at most twelve digits")
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    try container.encode(units)
  }

  package func amount(in currency: Currency) -> Amount { Amount(minorUnits: units, currency: currency) }
}

/// The references of an order, a payment or an operation: Worldline's `OrderReferences`, `PaymentReferences` and
/// `OperationPaymentReferences`, which have these members in common.
package struct DirectReferences: Sendable, Hashable, Codable {
  /// The merchant's name of the order or the operation, at most 40 characters.
  package var merchantReference: String?
  /// Returned as it was sent.
  package var merchantParameters: String?
  /// What the cardholder reads on the statement.
  package var softDescriptor: String?

  package init(merchantReference: String? = nil, merchantParameters: String? = nil, softDescriptor: String? = nil) {
    self.merchantReference = merchantReference
    self.merchantParameters = merchantParameters
    self.softDescriptor = softDescriptor
  }

  /// `references` of a capture or a refund, by which a shop finds its order: SDKs of 2021 read the operation's own name
  /// there, and an operation without one has the order's.
  package init?(ofOperation name: String?, _ order: DirectReferences?) {
    guard name != nil || order != nil else { return nil }
    self.init(
      merchantReference: name ?? order?.merchantReference, merchantParameters: order?.merchantParameters)
  }

  /// How long a merchant's reference may be, in characters.
  package static let referenceLimit = 40

  /// Whether a merchant may name something so: on one line, without control characters and marks of the writing direction.
  package static func isReference(_ text: String) -> Bool {
    (1...referenceLimit).contains(text.unicodeScalars.count) && text.unicodeScalars.allSatisfy(\.isPrintable)
  }

  /// The name of a text that is sent on, and has control characters or marks of the writing direction. Parameters may have
  /// several lines, as JSON has that a person can read.
  package var unreadable: String? {
    let isReadable = (merchantParameters ?? "").unicodeScalars.allSatisfy {
      $0.isReadable || "\t\n\r".unicodeScalars.contains($0)
    }
    guard isReadable else { return "merchantParameters" }
    return (softDescriptor ?? "").unicodeScalars.allSatisfy(\.isPrintable) ? nil : "softDescriptor"
  }
}

/// Worldline's name of a payment or of one operation on it: `3254564310_1`. Operation 0 is the authorization.
package struct DirectPaymentID: Sendable, Hashable, CustomStringConvertible {
  package let payment: String
  package let operation: Int

  package init(payment: String, operation: Int = 0) {
    self.payment = payment
    self.operation = operation
  }

  /// Reads `<payment>_<operation>`, or the payment's name alone. It becomes a part of addresses, so it has 1 to 64
  /// letters, digits and hyphens, and its operation at most four digits; nil for any other text.
  package init?(_ text: String) {
    let parts = text.utf8.split(separator: UInt8(ascii: "_"), omittingEmptySubsequences: false)
    guard (1...2).contains(parts.count), (1...64).contains(parts[0].count), parts[0].allSatisfy(Self.isAllowed) else {
      return nil
    }
    payment = String(decoding: parts[0], as: UTF8.self)
    guard parts.count == 2 else {
      operation = 0
      return
    }
    guard (1...4).contains(parts[1].count), parts[1].allSatisfy({ (0x30...0x39).contains($0) }),
      let number = Int(String(decoding: parts[1], as: UTF8.self))
    else { return nil }
    operation = number
  }

  private static func isAllowed(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20) || byte == UInt8(ascii: "-")
  }

  package var description: String { "\(payment)_\(operation)" }

  /// The name of the payment's authorization.
  package var authorization: DirectPaymentID { DirectPaymentID(payment: payment) }
}
