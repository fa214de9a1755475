package import StrictJSON
package import TenderPayments

/// What an Apple Pay payment is made with: Worldline's `MobilePaymentMethodSpecificInput`.
package struct MobilePaymentInput: Sendable, Codable {
  /// Apple Pay.
  package static let applePay: Int64 = 302

  /// 302 is Apple Pay.
  package var paymentProductId: Int64
  package var authorizationMode: AuthorizationMode?
  /// Whether a capture has to follow; false captures at once.
  package var requiresApproval: Bool?
  /// Captures some time after the authorization.
  package var autoCapture: AutoCapture?
  /// Decrypted by the merchant.
  package var decryptedPaymentData: DecryptedPaymentData?
  /// To be decrypted by the platform.
  package var encryptedPaymentData: EncryptedPaymentData?
  /// Base64 of `header.ephemeralPublicKey`, beside ``EncryptedPaymentData/data(_:)``.
  package var ephemeralKey: String?
  /// Base64 of `header.publicKeyHash`, beside ``EncryptedPaymentData/data(_:)``.
  package var publicKeyHash: String?
  /// The payment token's `header.transactionId`, hexadecimal: a member of Worldline's mapping, and of none of its SDKs.
  package var transactionId: String?
  package var paymentProduct302SpecificInput: Product302?

  /// Worldline's `MobilePaymentProduct302SpecificInput`, and our `agreement` in it.
  package struct Product302: Sendable, Hashable, Codable {
    package var isRecurring: Flag?
    package var recurring: Recurring?
    /// What the shopper agreed to; absent where the basket of the payment's reference says it.
    package var agreement: AgreementDocument?

    package init(isRecurring: Bool, agreement: AgreementDocument? = nil) {
      self.isRecurring = Flag(isRecurring)
      recurring = Recurring(recurringPaymentSequenceIndicator: "first")
      self.agreement = agreement
    }

    enum CodingKeys: String, CodingKey, CaseIterable { case isRecurring, recurring, agreement }

    /// A misspelt `agreement` would be none.
    package init(from decoder: any Decoder) throws {
      let keys = try ClosedKeys<CodingKeys>(decoder, ignoring: ["applePayRecurringPaymentRequest", "tokenize"])
      isRecurring = try keys.optional(.isRecurring)
      recurring = try keys.optional(.recurring)
      agreement = try keys.optional(.agreement)
    }

    package struct Recurring: Sendable, Hashable, Codable {
      /// `first` is all that a payment with a payment token can be.
      package var recurringPaymentSequenceIndicator: String?
    }
  }

  /// A truth value, which Worldline's documentation writes as a text too.
  package struct Flag: Sendable, Hashable, Codable {
    package let value: Bool

    package init(_ value: Bool) { self.value = value }

    package init(from decoder: any Decoder) throws {
      let container = try decoder.singleValueContainer()
      if let value = try? container.decode(Bool.self) {
        self.value = value
        return
      }
      switch try container.decode(String.self).lowercased() {
      case "true": value = true
      case "false": value = false
      default: throw DecodingError.dataCorruptedError(in: container, debugDescription: "neither true nor false")
      }
    }

    package func encode(to encoder: any Encoder) throws {
      var container = encoder.singleValueContainer()
      try container.encode(value)
    }
  }

  /// Its only member is required, and none beside it is taken: a delay that a program has lost must not capture at once.
  package struct AutoCapture: Sendable, Hashable, Codable {
    /// 0 to 43200.
    package var delayInMinutes: Int64

    enum CodingKeys: String, CodingKey, CaseIterable { case delayInMinutes }

    package init(from decoder: any Decoder) throws {
      delayInMinutes = try ClosedKeys<CodingKeys>(decoder).required(.delayInMinutes)
    }
  }

  package enum AuthorizationMode: String, Sendable, Hashable, Codable, CaseIterable {
    /// To be captured in full, within about seven days.
    case final = "FINAL_AUTHORIZATION"
    /// May be cancelled, and captured in parts, within thirty days.
    case preliminary = "PRE_AUTHORIZATION"
    /// Authorized and captured at once.
    case sale = "SALE"

    package init(_ type: AuthorizationType) {
      self = type == .preliminary ? .preliminary : .final
    }

    /// What is held before the capture.
    package var type: AuthorizationType { self == .preliminary ? .preliminary : .final }
  }

  /// Apple Pay, with nothing said.
  package init() { paymentProductId = Self.applePay }

  package init(authorizationMode: AuthorizationMode, requiresApproval: Bool) {
    paymentProductId = Self.applePay
    self.authorizationMode = authorizationMode
    self.requiresApproval = requiresApproval
  }
}

/// A network token on the wire: Worldline's `DecryptedPaymentData`. It prints masked, and is encoded for the wire only.
package struct DecryptedPaymentData: Sendable, Hashable {
  package let card: NetworkToken
  package let cardholderName: String?

  package init(_ card: NetworkToken, cardholderName: String? = nil) {
    self.card = card
    self.cardholderName = cardholderName
  }
}

extension DecryptedPaymentData: Codable {
  private enum Key: String, CodingKey {
    case cardholderName, cryptogram, dpan, eci, expiryDate
  }

  package init(from decoder: any Decoder) throws {
    let container = try decoder.container(keyedBy: Key.self)
    func read<Value>(_ key: Key, _ reason: String, _ make: (String) -> Value?) throws -> Value {
      guard let value = make(try container.decode(String.self, forKey: key)) else {
        throw DecodingError.dataCorruptedError(forKey: key, in: container, debugDescription: reason)
      }
      return value
    }
    card = NetworkToken(
      dpan: try read(.dpan, "not 12 to 19 digits") { DPAN($0) },
      expiry: try read(.expiryDate, "not a month as MMYY") { CardExpiry(mmyy: $0) },
      cryptogram: try read(.cryptogram, "not base64", Self.cryptogram),
      eci: try Self.eci(container))
    cardholderName = try container.decodeIfPresent(String.self, forKey: .cardholderName)
  }

  private static func cryptogram(_ text: String) -> Cryptogram? {
    Base64.decode(text)?.isEmpty == false ? Cryptogram(base64: text) : nil
  }

  /// A number in every SDK, and a text on the vendor's page.
  private static func eci(_ container: KeyedDecodingContainer<Key>) throws -> String? {
    guard container.contains(.eci), try !container.decodeNil(forKey: .eci) else { return nil }
    let text =
      if let number = try? container.decode(Int64.self, forKey: .eci) {
        "\(number)"
      } else { try container.decode(String.self, forKey: .eci) }
    guard (1...2).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
      throw DecodingError.dataCorruptedError(
        forKey: .eci, in: container, debugDescription: "not one or two digits")
    }
    return text
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.container(keyedBy: Key.self)
    try container.encode(card.dpan.revealed, forKey: .dpan)
    try container.encode(card.expiry.mmyy, forKey: .expiryDate)
    try container.encode(card.cryptogram.revealed, forKey: .cryptogram)
    try container.encodeIfPresent(card.eci.flatMap { Int64($0) }, forKey: .eci)
    try container.encodeIfPresent(cardholderName, forKey: .cardholderName)
  }
}

extension DecryptedPaymentData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "DecryptedPaymentData(•••)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CardExpiry {
  fileprivate init?(mmyy text: String) {
    guard text.utf8.count == 4 else { return nil }
    self.init(yymm: String(text.suffix(2) + text.prefix(2)))
  }
}

/// Apple's encrypted payment data, in the two forms in which callers send it.
package enum EncryptedPaymentData: Sendable, Hashable {
  /// Base64 of `data` alone, as Worldline documents it: the ephemeral key and the key's hash stand beside it, the
  /// signature is missing.
  case data(String)
  /// All of Apple's `paymentData`: a JSON text in a string, or an object.
  case token(JSONValue)
}

extension EncryptedPaymentData: Codable {
  package init(from decoder: any Decoder) throws {
    let value = try JSONValue(from: decoder)
    switch value {
    case .object: self = .token(value)
    case .string(let text) where text.utf8.first == UInt8(ascii: "{"):
      guard let token = try? JSONReader.read(Array(text.utf8)) else {
        throw DecodingError.dataCorrupted(
          .init(codingPath: decoder.codingPath, debugDescription: "begins as JSON and is none"))
      }
      self = .token(token)
    case .string(let text): self = .data(text)
    default:
      throw DecodingError.dataCorrupted(
        .init(codingPath: decoder.codingPath, debugDescription: "neither a string nor an object"))
    }
  }

  package func encode(to encoder: any Encoder) throws {
    var container = encoder.singleValueContainer()
    switch self {
    case .data(let text): try container.encode(text)
    case .token(let token): try container.encode(String(decoding: token.serialized(), as: UTF8.self))
    }
  }
}

extension EncryptedPaymentData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "EncryptedPaymentData(•••)" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
