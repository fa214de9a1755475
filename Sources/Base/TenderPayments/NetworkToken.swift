/// What an acquirer is asked to authorize with: device account number, expiry, cryptogram, and the electronic
/// commerce indicator when Apple delivered one.
public struct NetworkToken: Sendable, Hashable {
  /// The number that stands for the card on this device.
  public let dpan: DPAN
  /// The month in which that number ends, which is not the card's own.
  public let expiry: CardExpiry
  /// Proves that this device made this payment, once.
  public let cryptogram: Cryptogram
  /// Exactly as delivered. Never defaulted, because a missing indicator affects liability.
  public let eci: String?

  /// A network token from a payment token.
  public init(dpan: DPAN, expiry: CardExpiry, cryptogram: Cryptogram, eci: String?) {
    self.dpan = dpan
    self.expiry = expiry
    self.cryptogram = cryptogram
    self.eci = eci
  }
}

/// The month in which a card ends.
public struct CardExpiry: Sendable, Hashable {
  /// With the century: 2031.
  public let year: Int
  /// 1 to 12.
  public let month: Int

  /// From Apple's `applicationExpirationDate`, `YYMMDD`.
  public init?(applePayDate text: String) {
    guard text.utf8.count == 6 else { return nil }
    self.init(digits: text.utf8)
  }

  /// From `YYMM`, as ISO 8583 field 14 has it.
  public init?(yymm text: String) {
    guard text.utf8.count == 4 else { return nil }
    self.init(digits: text.utf8)
  }

  /// - Parameter digits: that begin with `YYMM`.
  private init?(digits: String.UTF8View) {
    guard digits.allSatisfy({ (0x30...0x39).contains($0) }) else { return nil }
    let yymm = digits.prefix(4).reduce(0) { $0 * 10 + Int($1) - 0x30 }
    guard (1...12).contains(yymm % 100) else { return nil }
    self.year = 2000 + yymm / 100
    self.month = yymm % 100
  }

  /// `YYMM`, as ISO 8583 field 14 has it.
  public var yymm: String { Self.two(year % 100) + Self.two(month) }
  /// `MMYY`, as Worldline Direct has it.
  public var mmyy: String { Self.two(month) + Self.two(year % 100) }

  private static func two(_ value: Int) -> String { value < 10 ? "0\(value)" : "\(value)" }
}

/// What kind of card the shopper chose; unknown when the device does not say.
public enum PaymentMethodType: String, Sendable, Hashable, Codable, CaseIterable {
  /// The kinds that Apple's devices report.
  case credit, debit, prepaid, store
  /// The device reported none, or an unknown kind.
  case unknown
}

/// The card data that may be stored and shown after authorization; not enough to charge the card.
public struct CardSummary: Sendable, Hashable {
  /// As the shopper saw it, such as `Visa 0492`: the network and the last digits of the card's own number. The device
  /// names it and nothing signs it; nil where the page or app did not send it.
  public var name: String?
  /// The network that the device names beside it, or else the network of the device account number.
  public var network: CardNetwork?
  /// As the device reports it; nil where it does not.
  public var type: PaymentMethodType?
  /// The last four digits of the device account number (not of the card's own number); nil for a sealed token.
  public let deviceAccountSuffix: String?
  /// Nil for a sealed payment token.
  public let expiry: CardExpiry?
  /// Whether Apple delivered an electronic commerce indicator.
  public let hasECI: Bool

  /// A summary of a card.
  public init(
    name: String? = nil, network: CardNetwork? = nil, type: PaymentMethodType? = nil, deviceAccountSuffix: String?,
    expiry: CardExpiry?, hasECI: Bool
  ) {
    self.name = name
    self.network = network
    self.type = type
    self.deviceAccountSuffix = deviceAccountSuffix
    self.expiry = expiry
    self.hasECI = hasECI
  }
}

/// The kinds of credential that a connector accepts.
public enum PaymentInstrument: Sendable {
  /// Decrypted here.
  case network(NetworkToken)
  /// Verified here, decrypted by the provider.
  case sealed(VerifiedPaymentToken)
  /// What the provider keeps of an agreement's first payment, for a later one.
  case stored(StoredCredential)

  /// The data that may be stored.
  public var summary: CardSummary {
    switch self {
    case .network(let token):
      CardSummary(deviceAccountSuffix: token.dpan.lastFour, expiry: token.expiry, hasECI: token.eci != nil)
    case .sealed:
      CardSummary(deviceAccountSuffix: nil, expiry: nil, hasECI: false)
    case .stored(let credential): credential.card
    }
  }
}

/// What charges a card again without its number: the names that provider and scheme gave the first payment.
public struct StoredCredential: Sendable, Hashable {
  /// The provider's name of the first payment.
  public let firstPayment: String
  /// The provider's name of the credential that it keeps.
  public let reference: String?
  /// The scheme's identifier of the first payment.
  public let networkTransactionID: String?
  /// Mastercard's transaction link identifier of the first payment.
  public let networkLinkID: String?
  /// The card of the first payment, for people.
  public let card: CardSummary

  /// A stored credential.
  public init(
    firstPayment: String, reference: String?, networkTransactionID: String?, networkLinkID: String?, card: CardSummary
  ) {
    self.firstPayment = firstPayment
    self.reference = reference
    self.networkTransactionID = networkTransactionID
    self.networkLinkID = networkLinkID
    self.card = card
  }
}
