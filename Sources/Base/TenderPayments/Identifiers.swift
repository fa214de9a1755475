/// An identifier that cannot be taken for another kind of identifier.
public protocol Identifier: RawRepresentable<String>, Sendable, Hashable, Codable, CustomStringConvertible {}

extension Identifier {
  /// The text itself.
  public var description: String { rawValue }
}

/// Tender's name for a merchant: the `{merchantId}` of the platform API's paths. Not Apple's merchant identifier.
public struct MerchantID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// A basket's name, chosen by the merchant's server. It authorizes payment of the basket, so it holds 128 random bits.
public struct BasketID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// One price of a basket, as a sheet showed it. A payment names the quote that the shopper saw last.
public struct QuoteID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// Tender's name for an order, made when the basket is paid.
public struct OrderID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// Tender's name for a payment; an order that was declined and paid again has two.
public struct PaymentID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// Tender's reference of one operation at the acquirer: unique, chosen before the request is sent, and used for
/// inquiries.
public struct AttemptReference: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// Identifies repeated calls as the same call.
public struct IdempotencyKey: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}

/// Tender's name for an agreement: the permission to charge a shopper again.
public struct AgreementID: Identifier {
  /// The text, as it is sent and stored.
  public let rawValue: String
  /// The identifier with this text.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// The identifier with this text.
  public init(_ text: String) { self.rawValue = text }
}
