import Acquiring
import StrictJSON
import TenderPayments

/// What goes to the sandbox's provider beside what its acquirer takes too.
enum SandboxProviderMessages {
  /// The payment token as the device gave it, under the names of Apple's format.
  static func authorization(_ request: AuthorizationRequest, _ verified: VerifiedPaymentToken) -> [UInt8] {
    let message: JSONValue = [
      "reference": .string(request.reference.rawValue), "merchantReference": .string(request.merchantReference),
      "amount": .integer(request.amount.minorUnits), "currency": .string(request.amount.currency.code),
      "paymentData": .object(verified.token.paymentData),
    ]
    return message.serialized()
  }
}
