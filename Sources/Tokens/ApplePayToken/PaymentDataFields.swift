import StrictJSON
import TenderPayments

extension PaymentData {
  /// Reads the decrypted text.
  ///
  /// - Throws: stage `payload`.
  package init(plaintext: [UInt8]) throws(PaymentTokenError) {
    let json: JSONValue
    do {
      json = try JSONReader.read(plaintext, limits: JSONLimits(depth: 16, size: TokenLimits.data))
    } catch {
      // The error names the position and never the text, which is card data.
      throw PaymentTokenError(.payloadNotJSON, "the decrypted data is not JSON (\(error.code.rawValue))")
    }
    do {
      try self.init(reading: JSONField(json))
    } catch let error as JSONError {
      throw PaymentTokenError(.badPayload, error.reason, field: error.path)
    } catch let error as PaymentTokenError {
      throw error
    } catch {
      throw PaymentTokenError(.badPayload, "the decrypted data is not in Apple's format")
    }
  }
}

/// Readers of the decrypted data, one function for each member.
///
/// Source: Apple, *Payment token format reference*, "Payment data keys". Unknown keys are kept and not checked, because
/// Apple adds new ones.
enum PaymentDataFields {
  private static let responseLimit = 64

  /// `currencyCode` is ISO 4217's number as text, with its leading zeros.
  static func amount(_ fields: JSONField) throws -> Amount {
    let code = try fields.member("currencyCode")
    guard let currency = Currency(numericCode: try code.string), currency.isMoney else {
      throw PaymentTokenError(.unknownCurrency, "no currency has this numeric code", field: code.path)
    }
    return Amount(minorUnits: try minorUnits(fields.member("transactionAmount")), currency: currency)
  }

  /// Minor units; `100.0` is taken for 100, since Apple's table says only "number".
  private static func minorUnits(_ field: JSONField) throws -> Int64 {
    guard let units = wholeNumber(field.value), units >= 0 else {
      throw PaymentTokenError(.badAmount, "not a whole number of minor units", field: field.path)
    }
    return units
  }

  private static func wholeNumber(_ value: JSONValue) -> Int64? {
    switch value {
    case .integer(let whole): return whole
    case .number(let literal):
      let parts = literal.split(separator: ".", omittingEmptySubsequences: false)
      return parts.count == 2 && parts[1].allSatisfy({ $0 == "0" }) ? Int64(parts[0]) : nil
    default: return nil
    }
  }

  static func dpan(_ fields: JSONField) throws -> DPAN {
    let number = try fields.member("applicationPrimaryAccountNumber")
    guard let dpan = DPAN(try number.string) else {
      throw PaymentTokenError(.badPayload, "not an account number", field: number.path)
    }
    return dpan
  }

  static func expiry(_ fields: JSONField) throws -> CardExpiry {
    let date = try fields.member("applicationExpirationDate")
    guard let expiry = CardExpiry(applePayDate: try date.string) else {
      throw PaymentTokenError(.badPayload, "not a date", field: date.path)
    }
    return expiry
  }

  static func credential(
    _ fields: JSONField, _ dpan: DPAN, _ expiry: CardExpiry
  ) throws -> PaymentData.Credential {
    let type = try fields.member("paymentDataType")
    let answer = try fields.member("paymentData")
    switch try type.string {
    case "3DSecure": return .threeDSecure(try networkToken(answer, dpan, expiry))
    case "EMV": return .emv(try chip(answer))
    default: throw PaymentTokenError(.badPayload, "neither 3DSecure nor EMV", field: type.path)
    }
  }

  private static func networkToken(_ answer: JSONField, _ dpan: DPAN, _ expiry: CardExpiry) throws -> NetworkToken {
    NetworkToken(
      dpan: dpan, expiry: expiry, cryptogram: try cryptogram(answer.member("onlinePaymentCryptogram")),
      eci: try answer.memberIfPresent("eciIndicator")?.string)
  }

  private static func cryptogram(_ field: JSONField) throws -> Cryptogram {
    guard try !field.string.isEmpty else { throw PaymentTokenError(.badPayload, "empty", field: field.path) }
    return Cryptogram(base64: try field.string)
  }

  private static func chip(_ answer: JSONField) throws -> EMVData {
    let data = try answer.member("emvData")
    guard let bytes = Base64.decode(try data.string), !bytes.isEmpty else {
      throw PaymentTokenError(.badPayload, "not base64, or empty", field: data.path)
    }
    let pin = try answer.memberIfPresent("encryptedPINData")
    guard try pin.map({ Hex.decode(try $0.string) != nil }) ?? true else {
      throw PaymentTokenError(.badPayload, "not hexadecimal", field: pin?.path)
    }
    return EMVData(answer: bytes, encryptedPIN: try pin?.string)
  }

  /// Present in a multi-token request (iOS 16), where one sheet paid several merchants.
  static func responses(_ fields: JSONField) throws -> [AuthenticationResponse] {
    guard let list = try fields.memberIfPresent("authenticationResponses") else { return [] }
    let elements = try list.array
    guard elements.count <= responseLimit else {
      throw PaymentTokenError(.badPayload, "more than \(responseLimit) answers", field: list.path)
    }
    return try elements.map { element in
      AuthenticationResponse(
        merchantIdentifier: try element.member("merchantIdentifier").string,
        cryptogram: try cryptogram(element.member("authenticationData")),
        transactionAmount: try element.member("transactionAmount").string)
    }
  }
}
