package import TenderPayments

extension TokenOpener {
  /// Decrypts what no signature vouches for.
  ///
  /// - Parameters: as of ``open(_:for:at:within:)``.
  package func open(
    _ data: UnsignedPaymentData, for merchant: MerchantID, at time: Timestamp, within timeout: Duration = .seconds(2)
  ) throws(PaymentTokenError) -> PaymentData {
    let chosen = try keys.choose(for: data, of: merchant)
    let contentKey = try chosen.key.holder.contentKey(
      from: .ephemeralPublicKey(data.ephemeralPublicKey), within: timeout)
    var plaintext = try contentKey.open(data.data)
    defer { plaintext.wipe() }
    let payment = try PaymentData(plaintext: plaintext)
    keys.used(chosen, at: time)
    return payment
  }
}
