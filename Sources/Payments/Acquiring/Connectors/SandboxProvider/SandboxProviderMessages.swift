import StrictJSON
import TenderPayments

/// What goes to the sandbox's provider beside what its acquirer takes too.
enum SandboxProviderMessages {
  /// The payment token as the device gave it, under the names of Apple's format.
  static func authorization(_ request: AuthorizationRequest, _ verified: VerifiedPaymentToken) -> [UInt8] {
    let message: JSONValue = [
      "reference": .string(request.reference.rawValue), "merchantReference": .string(request.merchantReference),
      "amount": .integer(request.amount.minorUnits), "currency": .string(request.amount.currency.code),
      "paymentData": .object(paymentData(verified.token)),
    ]
    return message.serialized()
  }

  private static func paymentData(_ token: EncryptedPaymentToken) -> JSONObject {
    var header: JSONObject = [
      "publicKeyHash": .string(Base64.encode(token.publicKeyHash)),
      "transactionId": .string(Hex.encode(token.transactionID)),
    ]
    header["applicationData"] = token.applicationDataHash.map { .string(Hex.encode($0)) }
    switch token.keyMaterial {
    case .ephemeralPublicKey(let bytes): header["ephemeralPublicKey"] = .string(Base64.encode(bytes))
    case .wrappedKey(let bytes): header["wrappedKey"] = .string(Base64.encode(bytes))
    }
    return [
      "version": .string(token.version.rawValue), "data": .string(Base64.encode(token.data)),
      "signature": .string(Base64.encode(token.signature)), "header": .object(header),
    ]
  }
}
