package import StrictJSON
import TenderPayments

/// A payment token as it leaves the device. It prints masked, like any other.
public struct MintedPaymentToken: Sendable, CustomStringConvertible, CustomReflectable {
  let card: SandboxCard
  package var data: [UInt8]
  package var signature: [UInt8]
  package var ephemeralPublicKey: [UInt8]
  package var publicKeyHash: [UInt8]
  package var transactionID: [UInt8]
  package var applicationDataHash: [UInt8]?

  /// What the signature covers, without separators.
  package var signedContent: [UInt8] { ephemeralPublicKey + data + transactionID + (applicationDataHash ?? []) }

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
      "version": "EC_v1", "data": .string(Base64.encode(data)), "signature": .string(Base64.encode(signature)),
      "header": JSONObject.of([
        "ephemeralPublicKey": .string(Base64.encode(ephemeralPublicKey)),
        "publicKeyHash": .string(Base64.encode(publicKeyHash)), "transactionId": .string(Hex.encode(transactionID)),
        "applicationData": applicationDataHash.map { .string(Hex.encode($0)) },
      ]),
    ]
  }

  /// ``json`` as text.
  public var text: String { String(decoding: json.serialized(), as: UTF8.self) }

  public var description: String { "MintedPaymentToken(\(card.id))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
