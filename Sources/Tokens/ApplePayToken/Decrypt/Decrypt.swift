import TenderPayments

extension ChosenKey {
  /// Apple's step 4. If the tag is invalid although the key's hash matches, tries the known mistakes of token
  /// generators, to name one in the error; it discards what they decrypt.
  ///
  /// - Throws: stage `decrypt`.
  func decrypt(
    _ token: EncryptedPaymentToken, with contentKey: ContentKey, within timeout: Duration
  ) throws(PaymentTokenError) -> [UInt8] {
    do {
      return try contentKey.open(token.data)
    } catch {
      guard error.code == .tagMismatch, let mistake = mistake(in: token, within: timeout) else { throw error }
      throw PaymentTokenError(.wrongKeyDerivation, mistake.reason, field: "data")
    }
  }

  private func mistake(in token: EncryptedPaymentToken, within timeout: Duration) -> KeyDerivationMistake? {
    let candidates = (try? key.holder.keysOfMistakes(in: token.keyMaterial, within: timeout)) ?? []
    return candidates.first { $0.key.opens(token.data) }?.mistake
  }
}

extension ContentKey {
  fileprivate func opens(_ data: [UInt8]) -> Bool {
    guard var plaintext = try? open(data) else { return false }
    plaintext.wipe()
    return true
  }
}
