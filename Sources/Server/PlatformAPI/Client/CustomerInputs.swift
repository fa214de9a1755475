package import DirectWire
package import Ledger

/// Opens `encryptedCustomerInput` for the merchant whose client session it was made in.
package struct CustomerInputs: Sendable {
  private let sessions: ClientSessions
  private let keys: CustomerInputKeys

  package init(sessions: ClientSessions, keys: CustomerInputKeys) {
    (self.sessions, self.keys) = (sessions, keys)
  }

  /// The input of a payment with the Apple Pay token that was encrypted.
  ///
  /// - Parameters:
  ///   - text: the JWE.
  ///   - input: the rest of the payment's input as the merchant's server sent it; nil where it sent none.
  ///   - call: the signed call. The JWE is used up by it: a repeat of the same call may bring it again, no other.
  /// - Throws: ``CustomerInputRefusal``.
  package func open(
    _ text: String, completing input: MobilePaymentInput?, for call: IdempotentCall
  ) async throws -> MobilePaymentInput {
    let message = try EncryptedMessage(text)
    guard let key = try await keys.key(message.keyID) else { throw CustomerInputRefusal.keyUnknown }
    let content = try CustomerInput(try message.opened(by: key))
    let complete = try content.completing(input)
    guard try await sessions.find(content.clientSessionID)?.merchant == call.merchant else {
      throw CustomerInputRefusal.sessionUnknown
    }
    guard try await sessions.use(content, for: call) else { throw CustomerInputRefusal.used }
    return complete
  }
}
