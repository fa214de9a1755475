package import TenderPayments

/// A request to hold money. Only the gateway makes one, out of an instrument that it has confirmed against the order
/// and an attempt that is durable.
package struct AuthorizationRequest: Sendable {
  /// Our name of the operation.
  package let reference: AttemptReference
  package let merchantReference: String
  package private(set) var amount: Amount
  package let instrument: PaymentInstrument
  /// What else the acquirer may want to know of the sale.
  package var sale: SaleDetails
  /// What ``Acquirer/prepare`` returned for this instrument; nil where the connector has no first step.
  package var prepared: String?

  package init(
    reference: AttemptReference, merchantReference: String, amount: Amount, instrument: PaymentInstrument,
    sale: SaleDetails = SaleDetails(), prepared: String? = nil
  ) {
    self.reference = reference
    self.merchantReference = merchantReference
    self.amount = amount
    self.instrument = instrument
    self.sale = sale
    self.prepared = prepared
  }

  /// Whether only the card is asked about. Sent where ``AcquirerCapabilities/verifiesCards`` only.
  package var verifiesCard: Bool { amount.minorUnits == 0 }

  /// Whether it is a later payment of an agreement, for which no shopper is there.
  package var isCharge: Bool { if case .stored = instrument { true } else { false } }

  /// The request for an amount in other units.
  func asking(_ amount: Amount) -> AuthorizationRequest {
    var request = self
    request.amount = amount
    return request
  }
}

/// What a provider wants to know of a sale beside the amount and the card. A connector sends what its provider takes.
package struct SaleDetails: Sendable, Hashable {
  /// Tender's name of the order.
  package var order: String?
  /// The merchant's account at the provider, where one set of credentials has several; stored with the payment.
  package var merchantAccount: String?
  /// What the cardholder reads on the statement: the merchant's business name unless it is configured.
  package var statementDescriptor: String?
  /// ISO 18245: four digits.
  package var merchantCategory: String?
  package var shopper: Shopper?
  /// The card as the device names it, such as `Visa 0492`, its network and its kind. Nothing signs them.
  package var cardName: String?
  package var cardNetwork: CardNetwork?
  package var cardType: PaymentMethodType?
  /// The payment token's `header.transactionId`, hexadecimal, and the name on the card, where Apple has sent one.
  package var transactionID: String?
  package var cardholderName: String?
  /// As the payment asks; nil for the route's usual. Sent where ``AcquirerCapabilities/namesAuthorizationType`` only.
  package var authorization: AuthorizationType?
  /// The agreement that the payment begins or charges; nil for a payment by itself.
  package var agreement: CredentialUse?

  package init(
    order: String? = nil, merchantAccount: String? = nil, statementDescriptor: String? = nil,
    merchantCategory: String? = nil, shopper: Shopper? = nil, cardName: String? = nil, cardNetwork: CardNetwork? = nil
  ) {
    self.order = order
    self.merchantAccount = merchantAccount
    self.statementDescriptor = statementDescriptor
    self.merchantCategory = merchantCategory
    self.shopper = shopper
    self.cardName = cardName
    self.cardNetwork = cardNetwork
  }

  /// What card schemes are told of a payment that begins or charges an agreement. Which of the two it is, the instrument
  /// says. The kind stays the same through the series.
  package struct CredentialUse: Sendable, Hashable {
    package let kind: AgreementKind
    /// Our name of the shopper at the provider: the order of the first payment.
    package let shopper: String

    package init(_ kind: AgreementKind, shopper: String) { (self.kind, self.shopper) = (kind, shopper) }

    /// Whether the payments follow a calendar.
    package var isRecurring: Bool { kind == .recurring }
  }

  /// Whom the shopper's confirmed contacts name as the card's holder, and where the bill goes: never the place that the
  /// order goes to. Never logged: scrubbers show allowed fields only.
  package struct Shopper: Sendable, Hashable {
    package var givenName: String?
    package var familyName: String?
    package var emailAddress: String?
    package var phoneNumber: String?
    /// ISO 3166, two letters.
    package var countryCode: String?
    package var postalCode: String?
    package var locality: String?
    package var addressLines: [String]

    package init(
      givenName: String? = nil, familyName: String? = nil, emailAddress: String? = nil, phoneNumber: String? = nil,
      countryCode: String? = nil, postalCode: String? = nil, locality: String? = nil, addressLines: [String] = []
    ) {
      self.givenName = givenName
      self.familyName = familyName
      self.emailAddress = emailAddress
      self.phoneNumber = phoneNumber
      self.countryCode = countryCode
      self.postalCode = postalCode
      self.locality = locality
      self.addressLines = addressLines
    }
  }
}

// A provider refuses the whole payment for a part of a contact that it does not take. Such a part is left out, and
// never cut into something else.
extension SaleDetails.Shopper {
  /// The address, if it has at most so many characters and its domain may exist: `ada@example.c` does not.
  package func emailAddress(within limit: Int) -> String? {
    emailAddress.within(limit).flatMap { Self.isEmailAddress($0) ? $0 : nil }
  }

  /// In capitals; nil for what is no country of ISO 3166-1.
  package var assignedCountryCode: String? {
    countryCode.map { $0.uppercased() }.flatMap { CountryCode.isAssigned($0) ? $0 : nil }
  }

  /// RFC 5321 and 1034, without quotes: a local part of 64 characters, labels of 63, the last one of two at least.
  private static func isEmailAddress(_ text: String) -> Bool {
    let parts = text.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
    guard parts.count == 2, let local = parts.first, let domain = parts.last, (1...64).contains(local.count) else {
      return false
    }
    let atoms = local.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    let labels = domain.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
    guard labels.count >= 2, let top = labels.last, top.count >= 2, top.first.map(isLetter) == true else {
      return false
    }
    return labels.allSatisfy(isLabel)
      && atoms.allSatisfy {
        !$0.isEmpty && $0.allSatisfy { isLetterOrDigit($0) || "!#$%&'*+-/=?^_`{|}~".utf8.contains($0) }
      }
  }

  private static func isLabel(_ label: Substring.UTF8View.SubSequence) -> Bool {
    (1...63).contains(label.count) && label.allSatisfy { isLetterOrDigit($0) || $0 == UInt8(ascii: "-") }
      && label.first != UInt8(ascii: "-") && label.last != UInt8(ascii: "-")
  }

  private static func isLetter(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte | 0x20) }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool { isLetter(byte) || (0x30...0x39).contains(byte) }
}

extension String? {
  /// The text; nil for one without, or with more than so many, characters of Unicode.
  package func within(_ limit: Int) -> String? {
    flatMap { (1...limit).contains($0.unicodeScalars.count) ? $0 : nil }
  }
}

/// A request that follows an authorization: a capture, a void, a refund, an increment.
package struct FollowUpRequest: Sendable, Hashable {
  /// Our name of this operation.
  package let reference: AttemptReference
  /// The acquirer's name of the authorization.
  package let authorization: String
  package private(set) var amount: Amount
  /// Whether this capture is the last one: the acquirer releases the rest.
  package let isFinal: Bool
  /// The acquirer's name of the capture that a refund gives back; nil for captures and voids.
  package var capture: String?
  /// As of ``SaleDetails/merchantAccount``, from the payment.
  package var merchantAccount: String?
  /// Whether the amount is all that was authorized (a capture, a void) or all that was captured (a refund). Some
  /// providers have other calls for a part.
  package var isWhole: Bool
  /// Counts the captures of a payment from 1, also those that were declined; nil for voids and refunds.
  package var number: Int?

  package init(
    reference: AttemptReference, authorization: String, amount: Amount, isFinal: Bool = false, capture: String? = nil,
    merchantAccount: String? = nil, isWhole: Bool = false, number: Int? = nil
  ) {
    self.reference = reference
    self.authorization = authorization
    self.amount = amount
    self.isFinal = isFinal
    self.capture = capture
    self.merchantAccount = merchantAccount
    self.isWhole = isWhole
    self.number = number
  }

  /// The request for an amount in other units.
  func asking(_ amount: Amount) -> FollowUpRequest {
    var request = self
    request.amount = amount
    return request
  }
}

/// A question about an operation, or the request to undo it, by the one name that both sides know for certain: ours.
package struct InquiryRequest: Sendable, Hashable {
  package let reference: AttemptReference
  /// What the operation was about. An answer about another amount is not its answer.
  package private(set) var amount: Amount
  package let kind: InquiredOperation
  /// The acquirer's name of the authorization that the operation follows; nil for an authorization.
  package var authorization: String?
  /// The acquirer's name of the capture that a refund gives back; nil for other operations.
  package var capture: String?
  /// The acquirer's name of the operation, if a pending answer gave one.
  package var acquirerReference: String?
  /// As of ``SaleDetails/merchantAccount``, from the payment.
  package var merchantAccount: String?
  /// When the operation was first sent, by the store's clock: where to begin in a provider's listing.
  package var sentAt: Timestamp?

  package init(
    reference: AttemptReference, amount: Amount, kind: InquiredOperation = .authorization, authorization: String? = nil,
    capture: String? = nil, acquirerReference: String? = nil, merchantAccount: String? = nil, sentAt: Timestamp? = nil
  ) {
    self.reference = reference
    self.amount = amount
    self.kind = kind
    self.authorization = authorization
    self.capture = capture
    self.acquirerReference = acquirerReference
    self.merchantAccount = merchantAccount
    self.sentAt = sentAt
  }

  /// The request for an amount in other units.
  func asking(_ amount: Amount) -> InquiryRequest {
    var request = self
    request.amount = amount
    return request
  }
}

/// What kind of operation is asked about.
package enum InquiredOperation: String, Sendable, Hashable, CaseIterable {
  case authorization, capture, void, refund, increment
}
