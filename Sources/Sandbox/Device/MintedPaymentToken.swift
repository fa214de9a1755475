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

  /// `paymentData` alone, as an app finds it in `PKPaymentToken.paymentData`.
  public var paymentData: String {
    let applicationData = applicationDataHash.map { #","applicationData":"\#(Hex.encode($0))""# } ?? ""
    return #"{"version":"EC_v1","data":"\#(Base64.encode(data))","signature":"\#(Base64.encode(signature))","header":{"#
      + #""ephemeralPublicKey":"\#(Base64.encode(ephemeralPublicKey))","publicKeyHash":"\#(Base64.encode(publicKeyHash))","#
      + #""transactionId":"\#(Hex.encode(transactionID))"\#(applicationData)}}"#
  }

  /// The whole `ApplePayPaymentToken`, as a page finds it in `event.payment.token`. The transaction identifier has
  /// capitals here and none in the header, as Apple has it.
  public var json: String {
    #"{"paymentMethod":{"displayName":"\#(card.displayName)","network":"\#(card.networkName)","#
      + #""type":"\#(card.type.rawValue)"},"transactionIdentifier":"\#(Hex.encode(transactionID).uppercased())","#
      + #""paymentData":\#(paymentData)}"#
  }

  public var description: String { "MintedPaymentToken(\(card.id))" }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
