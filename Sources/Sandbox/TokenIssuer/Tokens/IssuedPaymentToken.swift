package import StrictJSON
import TenderPayments

/// A payment token as it leaves the device. It prints masked, like any other.
package struct IssuedPaymentToken: Sendable, CustomStringConvertible, CustomReflectable {
  let card: SandboxCard
  /// `EC_v1` or `RSA_v1`.
  package var version: String
  package var data: [UInt8]
  package var signature: [UInt8]
  /// The device's public key, or the wrapped key of RSA_v1.
  package var keyMaterial: [UInt8]
  package var publicKeyHash: [UInt8]
  package var transactionID: [UInt8]
  package var applicationDataHash: [UInt8]?

  /// What the signature covers, without separators.
  package var signedContent: [UInt8] { keyMaterial + data + transactionID + (applicationDataHash ?? []) }

  /// The whole `ApplePayPaymentToken`, as a page finds it in `event.payment.token`. The transaction identifier has
  /// capitals here and none in the header, as Apple has it.
  package var json: JSONValue {
    [
      "paymentMethod": [
        "displayName": .string(card.displayName), "network": .string(card.networkName),
        "type": .string(card.type.rawValue),
      ], "transactionIdentifier": .string(Hex.encode(transactionID).uppercased()), "paymentData": paymentData,
    ]
  }

  /// `paymentData` alone, as an app finds it in `PKPaymentToken.paymentData`.
  package var paymentData: JSONValue {
    [
      "version": .string(version), "data": .string(Base64.encode(data)), "signature": .string(Base64.encode(signature)),
      "header": JSONObject.of([
        (version == "RSA_v1" ? "wrappedKey" : "ephemeralPublicKey"): .string(Base64.encode(keyMaterial)),
        "publicKeyHash": .string(Base64.encode(publicKeyHash)), "transactionId": .string(Hex.encode(transactionID)),
        "applicationData": applicationDataHash.map { .string(Hex.encode($0)) },
      ]),
    ]
  }

  /// ``json`` as text.
  package var text: String { String(decoding: json.serialized(), as: UTF8.self) }

  package var description: String { "IssuedPaymentToken(\(card.id))" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
