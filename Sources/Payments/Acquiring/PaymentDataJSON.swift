package import StrictJSON
package import TenderPayments

extension EncryptedPaymentToken {
  /// Apple's `paymentData` with its own names, for a provider that decrypts it.
  package var paymentData: JSONObject {
    var header: JSONObject = [
      "publicKeyHash": .string(Base64.encode(publicKeyHash)), "transactionId": .string(Hex.encode(transactionID)),
    ]
    header["applicationData"] = applicationDataHash.map { .string(Hex.encode($0)) }
    switch keyMaterial {
    case .ephemeralPublicKey(let bytes): header["ephemeralPublicKey"] = .string(Base64.encode(bytes))
    case .wrappedKey(let bytes): header["wrappedKey"] = .string(Base64.encode(bytes))
    }
    return [
      "version": .string(version.rawValue), "data": .string(Base64.encode(data)),
      "signature": .string(Base64.encode(signature)), "header": .object(header),
    ]
  }
}
