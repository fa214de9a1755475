/// An identifier that cannot be taken for another kind of identifier.
public protocol Identifier: RawRepresentable<String>, Sendable, Hashable, Codable, CustomStringConvertible {}

extension Identifier {
  public var description: String { rawValue }
}

/// Tender's name for a merchant: the `{merchantId}` of the platform API's paths. Not Apple's merchant identifier.
public struct MerchantID: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

/// A basket's name, chosen by the merchant's server. Whoever knows it may pay it, so it holds 128 random bits.
public struct BasketID: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

public struct QuoteID: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

public struct OrderID: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

public struct PaymentID: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

/// Our reference of one operation at the acquirer: unique, chosen before the wire, and what an inquiry asks for.
public struct AttemptReference: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}

/// What makes a repeated call the same call.
public struct IdempotencyKey: Identifier {
  public let rawValue: String
  public init(rawValue: String) { self.rawValue = rawValue }
  public init(_ text: String) { self.rawValue = text }
}
