package import DirectWire
import StrictJSON

/// Why an `encryptedCustomerInput` does not pay.
package enum CustomerInputRefusal: String, Error, Sendable, Hashable, CaseIterable {
  case malformed = "customer_input_malformed"
  case keyUnknown = "customer_input_key_unknown"
  case notOpened = "customer_input_not_opened"
  case incomplete = "customer_input_incomplete"
  case sessionUnknown = "client_session_unknown"
  case used = "customer_input_used"
  case ambiguous = "customer_input_ambiguous"

  /// Stable; what callers compare.
  package var code: String { rawValue }
}

extension CustomerInputRefusal {
  package var reason: String {
    switch self {
    case .malformed:
      "It is no JWE in compact form with RSA-OAEP and A256CBC-HS512. Pass on unchanged what the kit made."
    case .keyUnknown: "It is encrypted to a key that is not in use any more. Let the kit fetch the public key again."
    case .notOpened: "It does not open. Pass on unchanged what the kit made."
    case .incomplete: "Its content lacks clientSessionId, nonce, paymentProductId or encryptedPaymentData."
    case .sessionUnknown: "Its client session is unknown, ended or another merchant's. Create a session again."
    case .used: "It was used in another call. Encrypt the payment data again."
    case .ambiguous: "The request has payment data beside it. Send one of the two."
    }
  }
}

/// What a kit has encrypted in an app or a page: Worldline's `PaymentRequest` of its client SDKs.
package struct CustomerInput: Sendable {
  package let clientSessionID: String
  /// Chosen at random by the kit: an input is used once.
  package let nonce: String
  package let paymentProductID: Int64
  package let encryptedPaymentData: EncryptedPaymentData
  package let ephemeralKey: String?
  package let publicKeyHash: String?
  package let transactionID: String?

  /// - Parameter plaintext: JSON in UTF-8.
  package init(_ plaintext: [UInt8]) throws(CustomerInputRefusal) {
    guard let content = try? StrictJSONDecoder().decode(Content.self, from: plaintext),
      (1...64).contains(content.nonce.utf8.count), let data = content.value("encryptedPaymentData"),
      let encrypted = try? EncryptedPaymentData(text: data)
    else { throw .incomplete }
    (clientSessionID, nonce) = (content.clientSessionId, content.nonce)
    (paymentProductID, encryptedPaymentData) = (content.paymentProductId, encrypted)
    transactionID = content.value("transactionId")
    (ephemeralKey, publicKeyHash) = (content.value("ephemeralKey"), content.value("publicKeyHash"))
  }

  private struct Content: Decodable {
    let clientSessionId: String
    let nonce: String
    let paymentProductId: Int64
    let paymentValues: [Value]

    struct Value: Decodable {
      let key: String
      let value: String
    }

    func value(_ key: String) -> String? { paymentValues.first { $0.key.utf8.elementsEqual(key.utf8) }?.value }
  }

  /// The payment's input with what was encrypted, as if the merchant's server had sent it in the open.
  ///
  /// - Throws: ``CustomerInputRefusal/ambiguous`` where the request has payment data too.
  package func completing(_ input: MobilePaymentInput?) throws(CustomerInputRefusal) -> MobilePaymentInput {
    guard input?.decryptedPaymentData == nil, input?.encryptedPaymentData == nil else { throw .ambiguous }
    var complete = input ?? MobilePaymentInput()
    complete.paymentProductId = paymentProductID
    complete.encryptedPaymentData = encryptedPaymentData
    complete.transactionId = transactionID ?? complete.transactionId
    (complete.ephemeralKey, complete.publicKeyHash) = (ephemeralKey, publicKeyHash)
    return complete
  }
}

extension CustomerInput: CustomStringConvertible, CustomReflectable {
  package var description: String { "CustomerInput(•••)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension EncryptedPaymentData {
  fileprivate init(text: String) throws {
    self = try StrictJSONDecoder().decode(EncryptedPaymentData.self, from: JSONValue.string(text).serialized())
  }
}
