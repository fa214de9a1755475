public import StrictJSON
public import TenderPayments

/// What stood inside a payment token.
///
/// Source: Apple, *Payment token format reference*, "Payment data keys".
public struct PaymentData: Sendable {
  /// How the card answered.
  public enum Credential: Sendable {
    /// `3DSecure`: what an acquirer is asked to authorize with.
    case threeDSecure(NetworkToken)
    /// `EMV`: a chip's answer, which Tender hands on and does not read.
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
  /// Hexadecimal, 12 digits: who made the device. For the acquirer, and for nothing else.
  public let deviceManufacturerIdentifier: String?
  /// One for each merchant of a request that paid several; otherwise empty.
  public let authenticationResponses: [AuthenticationResponse]
  /// The network's name for a merchant token, when one was issued.
  public let merchantTokenIdentifier: String?
  /// Card art and card metadata that came with a merchant token, as Apple sent them.
  public let merchantTokenMetadata: JSONObject?

  /// Everything that stood inside, Apple's keys and values, unknown ones too: account number and cryptogram in clear.
  /// Only for the wire to an acquirer, or for a person who asked with `--reveal`.
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

  /// Only ``TokenOpener`` makes one, through the reader beside this file.
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
/// It prints nothing of itself and cannot be encoded.
public struct EMVData: Sendable, Hashable {
  /// EMV tag-length-value, as the Secure Element wrote it.
  private let answer: [UInt8]
  private let pin: String?

  init(answer: [UInt8], encryptedPIN: String?) {
    self.answer = answer
    self.pin = encryptedPIN
  }

  /// The bytes themselves. Only for the wire to an acquirer.
  public var revealed: [UInt8] { answer }
  /// Hexadecimal, encrypted under the bank's key; only in `RSA_v1`. Only for the wire to an acquirer.
  public var revealedEncryptedPIN: String? { pin }
}

/// What the card answered to one of several merchants that one sheet paid.
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
