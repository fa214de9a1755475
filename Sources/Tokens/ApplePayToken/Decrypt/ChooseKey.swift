import Synchronization
import TenderPayments

/// A key that may open the payment token, and why. Only the key ring creates it.
struct ChosenKey {
  let key: ProcessingKey
  let owner: ProcessingKeyRing.Owner
  let binding: OpenedPaymentToken.Binding
}

extension ProcessingKeyRing {
  /// Apple's step 2: the key that the token was encrypted to.
  ///
  /// Source: Apple, *Payment token format reference*, "Determine which merchant public key was used".
  ///
  /// - Parameters:
  ///   - token: verified, so that its application data is what the device signed.
  ///   - order: the hash of application data that names one order of this merchant alone; nil where there is none.
  /// - Throws: `unknown_key`; `retired_key`; `wrong_kind_of_key` when the merchant has only keys that no such token can
  ///   have; for a platform's key `application_data_missing` or `application_data_mismatch`.
  func choose(
    for verified: VerifiedPaymentToken, of merchant: MerchantID, paying order: [UInt8]? = nil
  ) throws(PaymentTokenError) -> ChosenKey {
    let token = verified.token
    let choice: Result<ChosenKey, PaymentTokenError> = slots.withLock { slots in
      guard let (owner, slot) = slots.find(token.publicKeyHash, for: merchant) else {
        return .failure(Self.unknownKeyError(token, slots.serving(merchant)))
      }
      guard let key = slot.key else { return .failure(Self.retiredKeyError(token)) }
      return Self.binding(of: token, to: owner, merchant, slots.domains[merchant] ?? [], order).map {
        ChosenKey(key: key, owner: owner, binding: $0)
      }
    }
    return try choice.get()
  }

  /// Chooses the key for encrypted data without a signature. A platform's key cannot be bound to the merchant without
  /// application data, so only a key of the merchant's own opens it.
  func choose(for data: UnsignedPaymentData, of merchant: MerchantID) throws(PaymentTokenError) -> ChosenKey {
    let found = slots.withLock { slots -> (Owner, ProcessingKey)? in
      guard let (owner, slot) = slots.find(data.publicKeyHash, for: merchant), owner != .platform, let key = slot.key
      else { return nil }
      return (owner, key)
    }
    guard let (owner, key) = found else {
      throw PaymentTokenError(
        .unknownKey, "no key of the merchant's own has the hash \(Base64.encode(data.publicKeyHash))",
        field: "publicKeyHash")
    }
    return ChosenKey(key: key, owner: owner, binding: .merchantKey)
  }

  /// Notes that the key opened a token.
  func used(_ chosen: ChosenKey, at now: Timestamp) {
    for entry in slots.withLock({ $0.use(chosen.key.publicKeyHash, of: chosen.owner, at: now) }) { record(entry) }
  }

  /// A merchant's own key binds the token to the merchant. A platform's key does not, so the application data must.
  private static func binding(
    of token: EncryptedPaymentToken, to owner: Owner, _ merchant: MerchantID,
    _ domains: @autoclosure () -> [PlatformDomain], _ order: [UInt8]?
  ) -> Result<OpenedPaymentToken.Binding, PaymentTokenError> {
    guard owner == .platform else { return .success(.merchantKey) }
    guard let hash = token.applicationDataHash else {
      return .failure(
        PaymentTokenError(
          .applicationDataMissing, "made for the platform's key, and no domain says for which merchant",
          field: "header.applicationData"))
    }
    if let order, order == hash { return .success(.order) }
    guard let domain = domains().first(where: { $0.hash == hash }) else {
      return .failure(
        PaymentTokenError(
          .applicationDataMismatch, "made for the platform's key, and the application data is no domain of \(merchant)",
          field: "header.applicationData"))
    }
    return .success(.platformDomain(domain.name))
  }

  private static func unknownKeyError(_ token: EncryptedPaymentToken, _ serving: [KeySlots.Slot]) -> PaymentTokenError {
    guard serving.isEmpty || serving.contains(where: { $0.version == token.version }) else {
      return PaymentTokenError(.wrongKindOfKey, "the token is \(token.version.rawValue) and no key is of its kind")
    }
    let hashes = serving.filter { $0.version == token.version }.prefix(8).map { Base64.encode($0.hash) }
    let here = hashes.isEmpty ? "there is none" : "the keys here have \(hashes.joined(separator: ", "))"
    return PaymentTokenError(
      .unknownKey, "no key here has the hash \(Base64.encode(token.publicKeyHash)); \(here)",
      field: "header.publicKeyHash")
  }

  private static func retiredKeyError(_ token: EncryptedPaymentToken) -> PaymentTokenError {
    PaymentTokenError(
      .retiredKey, "the key with the hash \(Base64.encode(token.publicKeyHash)) is retired",
      field: "header.publicKeyHash")
  }
}

extension ProcessingKeyRing {
  /// Whether the key answers without waiting. Also true for a token whose key is unknown.
  func answersAtOnce(_ publicKeyHash: [UInt8], for merchant: MerchantID) -> Bool {
    key(publicKeyHash, of: merchant)?.holder.answersAtOnce ?? true
  }
}
