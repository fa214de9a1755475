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
    /// `EMV`: a chip's answer, which Tender hands on and does not read. See ``PaymentData/revealed``.
    case emv
  }

  public let credential: Credential
  /// What the shopper agreed to; 0 when the total was pending.
  public let amount: Amount
  public var currency: Currency { amount.currency }
  /// The network's name for a merchant token, when one was issued.
  public let merchantTokenIdentifier: String?

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

  /// Reads the decrypted text.
  ///
  /// - Throws: stage `payload`.
  init(plaintext: [UInt8]) throws(PaymentTokenError) {
    let json: JSONValue
    do {
      json = try JSONReader.read(plaintext, limits: JSONLimits(depth: 16, size: TokenLimits.data))
    } catch {
      // Where, and never what: the text is card data.
      throw PaymentTokenError(.payloadNotJSON, "the decrypted data is not JSON (\(error.code.rawValue))")
    }
    do {
      try self.init(fields: JSONField(json), json)
    } catch let error as JSONError {
      throw PaymentTokenError(.badPayload, error.reason, field: error.path)
    } catch let error as PaymentTokenError {
      throw error
    } catch {
      throw PaymentTokenError(.badPayload, "the decrypted data is not in Apple's format")
    }
  }

  private init(fields: JSONField, _ json: JSONValue) throws {
    amount = try Self.amount(fields)
    credential = try Self.credential(fields)
    merchantTokenIdentifier = try fields.memberIfPresent("merchantTokenIdentifier")?.string
    revealed = json
  }

  /// `currencyCode` is ISO 4217's number as text, with its leading zeros.
  private static func amount(_ fields: JSONField) throws -> Amount {
    let code = try fields.member("currencyCode")
    guard let currency = Currency(numericCode: try code.string), currency.isMoney else {
      throw PaymentTokenError(.unknownCurrency, "no currency has this numeric code", field: code.path)
    }
    return Amount(minorUnits: try minorUnits(fields.member("transactionAmount")), currency: currency)
  }

  /// Minor units; `100.0` is taken for 100, since Apple's table says only "number".
  private static func minorUnits(_ field: JSONField) throws -> Int64 {
    let bad = PaymentTokenError(.badAmount, "not a whole number of minor units", field: field.path)
    let units: Int64
    switch field.value {
    case .integer(let whole): units = whole
    case .number(let literal):
      let parts = literal.split(separator: ".", omittingEmptySubsequences: false)
      guard parts.count == 2, parts[1].allSatisfy({ $0 == "0" }), let whole = Int64(parts[0]) else { throw bad }
      units = whole
    default: throw bad
    }
    guard units >= 0 else { throw bad }
    return units
  }

  private static func credential(_ fields: JSONField) throws -> Credential {
    let type = try fields.member("paymentDataType")
    switch try type.string {
    case "3DSecure": return .threeDSecure(try networkToken(fields))
    case "EMV": return .emv
    default: throw PaymentTokenError(.badPayload, "neither 3DSecure nor EMV", field: type.path)
    }
  }

  private static func networkToken(_ fields: JSONField) throws -> NetworkToken {
    let number = try fields.member("applicationPrimaryAccountNumber")
    let date = try fields.member("applicationExpirationDate")
    let answer = try fields.member("paymentData")
    let cryptogram = try answer.member("onlinePaymentCryptogram")
    guard let dpan = DPAN(try number.string) else {
      throw PaymentTokenError(.badPayload, "not an account number", field: number.path)
    }
    guard let expiry = CardExpiry(applePayDate: try date.string) else {
      throw PaymentTokenError(.badPayload, "not a date", field: date.path)
    }
    guard try !cryptogram.string.isEmpty else { throw PaymentTokenError(.badPayload, "empty", field: cryptogram.path) }
    return NetworkToken(
      dpan: dpan, expiry: expiry, cryptogram: Cryptogram(base64: try cryptogram.string),
      eci: try answer.memberIfPresent("eciIndicator")?.string)
  }
}

extension PaymentData: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "PaymentData(\(amount))" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
