public import StrictJSON
public import TenderPayments

/// The decrypted payment data of a payment token.
///
/// Source: Apple, *Payment token format reference*, "Payment data keys".
public struct PaymentData: Sendable {
  /// The credential that the card returned.
  public enum Credential: Sendable {
    /// `3DSecure`: the network token to authorize with.
    case threeDSecure(NetworkToken)
    /// `EMV`: an EMV chip's answer, which Tender passes on unread.
    case emv(EMVData)
  }

  public let credential: Credential
  /// The device account number, or the number of a merchant token.
  public let dpan: DPAN
  public let expiry: CardExpiry
  /// What the shopper agreed to; 0 when the total was pending.
  public let amount: Amount
  public var currency: Currency { amount.currency }
  /// As the card has it; most do not.
  public let cardholderName: String?
  /// The manufacturer of the device, 12 hexadecimal digits. For the acquirer only.
  public let deviceManufacturerIdentifier: String?
  /// One for each merchant of a request that paid several; otherwise empty.
  public let authenticationResponses: [AuthenticationResponse]
  /// The network's name for a merchant token, when one was issued.
  public let merchantTokenIdentifier: String?
  /// Card art and card metadata that came with a merchant token, as Apple sent them.
  public let merchantTokenMetadata: JSONObject?

  /// All decrypted payment data, unknown keys included, with account number and cryptogram in clear. Only for a request
  /// to an acquirer, or for an operator who passes `--reveal`.
  public let revealed: JSONValue

  /// - Throws: `unsupported_payment_data` for EMV data.
  public var networkToken: NetworkToken {
    get throws(PaymentTokenError) {
      guard case .threeDSecure(let token) = credential else {
        throw PaymentTokenError(.unsupportedPaymentData, "the card answered with EMV data", field: "paymentDataType")
      }
      return token
    }
  }

  /// Only ``TokenOpener`` calls this, through `PaymentDataFields`.
  init(reading fields: JSONField) throws {
    amount = try PaymentDataFields.amount(fields)
    (dpan, expiry) = (try PaymentDataFields.dpan(fields), try PaymentDataFields.expiry(fields))
    credential = try PaymentDataFields.credential(fields, dpan, expiry)
    cardholderName = try fields.memberIfPresent("cardholderName")?.string
    deviceManufacturerIdentifier = try fields.memberIfPresent("deviceManufacturerIdentifier")?.string
    authenticationResponses = try PaymentDataFields.responses(fields)
    merchantTokenIdentifier = try fields.memberIfPresent("merchantTokenIdentifier")?.string
    merchantTokenMetadata = try fields.memberIfPresent("merchantTokenMetadata")?.object
    revealed = fields.value
  }
}

/// The answer of a card's chip.
///
/// Its description is masked and it cannot be encoded.
public struct EMVData: Sendable, Hashable {
  /// EMV tag-length-value data from the Secure Element.
  private let answer: [UInt8]
  private let pin: String?

  init(answer: [UInt8], encryptedPIN: String?) {
    self.answer = answer
    self.pin = encryptedPIN
  }

  /// The bytes. Only for a request to an acquirer.
  public var revealed: [UInt8] { answer }
  /// Hexadecimal, encrypted under the bank's key; only in `RSA_v1`. Only for a request to an acquirer.
  public var revealedEncryptedPIN: String? { pin }
}

/// The card's response for one of several merchants paid with one sheet.
public struct AuthenticationResponse: Sendable, Hashable {
  /// The merchant's name, as the merchant that coordinates them gave it.
  public let merchantIdentifier: String
  public let cryptogram: Cryptogram
  /// The text as Apple sends it. Its unit is not documented, so it is not an `Amount`.
  public let transactionAmount: String

  init(merchantIdentifier: String, cryptogram: Cryptogram, transactionAmount: String) {
    self.merchantIdentifier = merchantIdentifier
    self.cryptogram = cryptogram
    self.transactionAmount = transactionAmount
  }
}

extension PaymentData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "PaymentData(\(amount))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}

extension EMVData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "EMVData(•••)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
