import AcquirerSandbox
import Crypto
import Storage
import StrictJSON
import TenderPayments

// Events of the workflow: one a call, signed over the body's bytes.
extension CheckoutComStore {
  func write(_ type: String, _ data: JSONObject, of channel: String, in transaction: Transaction) throws {
    let event: JSONValue = [
      "id": .string(newName("evt")), "type": .string(type), "version": "1.0.1",
      "created_on": .string(transaction.now.description), "data": .object(data),
    ]
    try addEvent(event.serialized(), of: channel, in: transaction)
  }
}

extension CheckoutComAccount {
  /// The header `Cko-Signature` of an event with this body.
  func signature(_ body: [UInt8]) -> String {
    Hex.encode(HMAC<SHA256>.authenticationCode(for: body, using: SymmetricKey(data: Array(signatureKey.utf8))))
  }
}
