/// An error on the sheet, for the shopper: Apple's `ApplePayError`.
///
/// The sheet stays open and marks the field, so that the shopper can correct it.
public enum SheetError: Error, Sendable, Hashable {
  /// A field of the shipping contact, or nil for the whole contact, with a text for the shopper.
  case shippingContactInvalid(ErrorContactField?, String)
  /// A field of the billing contact; only after authorization.
  case billingContactInvalid(ErrorContactField?, String)
  /// The merchant does not deliver there.
  case addressUnserviceable(String)
  /// The code does not exist or does not apply to this basket.
  case couponCodeInvalid(String)
  /// The code has expired.
  case couponCodeExpired(String)
  /// Another error.
  case unknown(String)

  /// Apple's code.
  public var code: Code {
    switch self {
    case .shippingContactInvalid: .shippingContactInvalid
    case .billingContactInvalid: .billingContactInvalid
    case .addressUnserviceable: .addressUnserviceable
    case .couponCodeInvalid: .couponCodeInvalid
    case .couponCodeExpired: .couponCodeExpired
    case .unknown: .unknown
    }
  }

  /// Apple's codes.
  public enum Code: String, Sendable, Hashable, Codable, CaseIterable {
    /// As Apple spells them.
    case shippingContactInvalid, billingContactInvalid, addressUnserviceable, couponCodeInvalid, couponCodeExpired
    /// As Apple spells it.
    case unknown
  }

  /// The field that the sheet marks; nil for the whole.
  public var contactField: ErrorContactField? {
    switch self {
    case .shippingContactInvalid(let field, _), .billingContactInvalid(let field, _): field
    default: nil
    }
  }

  /// For the shopper.
  public var message: String {
    switch self {
    case .shippingContactInvalid(_, let message), .billingContactInvalid(_, let message): message
    case .addressUnserviceable(let message), .couponCodeInvalid(let message): message
    case .couponCodeExpired(let message), .unknown(let message): message
    }
  }
}

/// The callbacks of the sheet that can answer with errors.
public enum SheetMoment: Sendable, Hashable, CaseIterable {
  /// As in Apple Pay JS, in the order of a sheet.
  case contactSelection, shippingMethodSelection, couponCodeChange, paymentMethodSelection, payment
}

extension SheetError {
  /// Whether the sheet shows this error at this callback; others make it fail or are dropped. Source: Apple,
  /// *ApplePayErrorCode* and *ApplePayErrorContactField*.
  public func isAllowed(at moment: SheetMoment) -> Bool {
    switch self {
    case .unknown: true
    case .couponCodeInvalid, .couponCodeExpired: moment == .couponCodeChange
    case .addressUnserviceable: moment == .contactSelection || moment == .payment
    case .billingContactInvalid(let field, _): moment == .payment && field?.isBilling != false
    case .shippingContactInvalid(let field, _):
      moment == .payment || moment == .contactSelection && field?.isVisibleWhileRedacted != false
    }
  }
}

extension ErrorContactField {
  /// Phone and e-mail are never part of the billing contact.
  fileprivate var isBilling: Bool { self != .phoneNumber && self != .emailAddress }

  /// Before authorization the sheet cannot mark hidden fields.
  fileprivate var isVisibleWhileRedacted: Bool {
    switch self {
    case .phoneNumber, .emailAddress, .name, .phoneticName, .addressLines: false
    default: true
    }
  }
}

extension SheetError: Codable {
  private enum CodingKeys: String, CodingKey { case code, contactField, message }

  public init(from decoder: any Decoder) throws {
    let keys = try decoder.container(keyedBy: CodingKeys.self)
    let field = try keys.decodeIfPresent(ErrorContactField.self, forKey: .contactField)
    let message = try keys.decodeIfPresent(String.self, forKey: .message) ?? ""
    self =
      switch try keys.decode(Code.self, forKey: .code) {
      case .shippingContactInvalid: .shippingContactInvalid(field, message)
      case .billingContactInvalid: .billingContactInvalid(field, message)
      case .addressUnserviceable: .addressUnserviceable(message)
      case .couponCodeInvalid: .couponCodeInvalid(message)
      case .couponCodeExpired: .couponCodeExpired(message)
      case .unknown: .unknown(message)
      }
  }

  public func encode(to encoder: any Encoder) throws {
    var keys = encoder.container(keyedBy: CodingKeys.self)
    try keys.encode(code, forKey: .code)
    try keys.encodeIfPresent(contactField, forKey: .contactField)
    try keys.encode(message, forKey: .message)
  }
}
