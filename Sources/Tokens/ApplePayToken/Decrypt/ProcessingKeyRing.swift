import Synchronization
public import TenderPayments

/// The processing keys of every merchant, or of a platform and its merchants: any number, found by `publicKeyHash`.
///
/// A payment token names its key by hash. Only the keys of the authenticated merchant are searched, so a token made for
/// one merchant does not open for another. A platform has one certificate for many merchants, so the hash does not
/// identify the merchant; such a token must name the merchant's domain in its application data.
///
/// The ring is shared: adding or retiring a key takes effect at once for every opener that uses it.
public final class ProcessingKeyRing: Sendable {
  /// A key that was used within this time cannot be retired: tokens for it may still arrive.
  public static let drainingTime: Duration = .seconds(86_400)
  /// The shortest time between two records of the use of one key.
  public static let recordingInterval: Duration = .seconds(60)

  let slots: Mutex<KeySlots>
  let record: @Sendable (Entry) -> Void

  /// - Parameters:
  ///   - keys: the active key of each merchant, then those before it whose tokens may still arrive.
  ///   - record: called when a key changes its state and when it is used, so that a store can keep both. Called while a
  ///     payment is processed, so it must not block.
  public init(_ keys: [MerchantID: [ProcessingKey]] = [:], record: @escaping @Sendable (Entry) -> Void = { _ in }) {
    var slots = KeySlots()
    for (merchant, keys) in keys {
      for key in keys { slots.add(key, of: .merchant(merchant), state: nil, orElse: .draining) }
    }
    self.slots = Mutex(slots)
    self.record = record
  }

  /// Whose key it is.
  public enum Owner: Sendable, Hashable {
    case merchant(MerchantID)
    /// The platform's key, for every enrolled merchant.
    case platform

    /// The text form: the merchant's id, which is never empty, or an empty text for the platform.
    public var name: String {
      switch self {
      case .platform: ""
      case .merchant(let id): id.rawValue
      }
    }

    /// The owner with this ``name``.
    public init(name: String) { self = name.isEmpty ? .platform : .merchant(MerchantID(name)) }
  }

  /// The state of a key's rotation. Keys in every state but `retired` open payment tokens.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Created, and not known to be activated at Apple. Its first payment token makes it active.
    case next
    /// Apple encrypts to it.
    case active
    /// Another key is active, and tokens for this one may still arrive.
    case draining
    /// Removed; its tokens are refused with `retired_key`.
    case retired
  }

  /// The public facts about a key.
  public struct Entry: Sendable, Hashable {
    public let owner: Owner
    public let publicKeyHash: [UInt8]
    /// Which payment tokens it opens.
    public let version: EncryptedPaymentToken.Version
    public let state: State
    /// When the state began; nil when it was not recorded.
    public let since: Timestamp?
    /// When a payment token was last opened with it; nil when none was.
    public let lastUsed: Timestamp?
  }

  /// Adds a key, or updates one that the ring has.
  ///
  /// - Parameters:
  ///   - key: whose private key may be held elsewhere.
  ///   - owner: whose it is.
  ///   - state: nil to derive it: the first key of its kind is active, any other is next.
  ///   - since: when the state began, as recorded, possibly by another process.
  ///   - lastUsed: when it last opened a payment token, as recorded.
  public func add(
    _ key: ProcessingKey, of owner: Owner, state: State? = nil, since: Timestamp? = nil, lastUsed: Timestamp? = nil
  ) {
    slots.withLock { $0.add(key, of: owner, state: state, orElse: .next, since: since, lastUsed: lastUsed) }
  }

  /// Enrolls a merchant: the platform's keys open its payment tokens if they name one of these domains.
  ///
  /// - Parameters:
  ///   - merchant: the merchant to enroll.
  ///   - domains: as in the browser's address, `shop.example.com`; the payment request's `applicationData` is one of
  ///     them.
  public func enroll(_ merchant: MerchantID, domains: [String]) {
    let domains = domains.map(PlatformDomain.init)
    slots.withLock { $0.domains[merchant] = domains }
  }

  /// Every key, including retired ones, by owner and then in the order of addition.
  public var entries: [Entry] { slots.withLock { $0.entries } }

  /// The key with that hash which may serve the merchant; nil when there is none or it is retired.
  public func key(_ publicKeyHash: [UInt8], of merchant: MerchantID) -> ProcessingKey? {
    slots.withLock { $0.find(publicKeyHash, for: merchant)?.slot.key }
  }

  /// Sets the state of a key that an operator has set elsewhere, and records it. Nothing happens without such a key.
  public func set(_ state: State, _ publicKeyHash: [UInt8], of owner: Owner, since: Timestamp) {
    if let entry = slots.withLock({ $0.set(state, publicKeyHash, of: owner, since: since) }) { record(entry) }
  }

  /// Retires a key that is no longer needed.
  ///
  /// - Throws: why it is still needed.
  public func retire(_ publicKeyHash: [UInt8], of owner: Owner, at now: Timestamp) throws(KeyRetirementRefusal) {
    let outcome: Result<Entry, KeyRetirementRefusal> = slots.withLock { slots in
      slots.retire(publicKeyHash, of: owner, at: now)
    }
    record(try outcome.get())
  }
}

/// Why a key is not retired.
public enum KeyRetirementRefusal: String, Error, Sendable, Hashable, CaseIterable {
  case noSuchKey = "no_such_key"
  /// Apple encrypts to it; there would be no key for the next payment token.
  case keyActive = "key_active"
  /// A payment token for it came within the last 24 hours, or it was active within them.
  case keyInUse = "key_in_use"
}

extension KeyRetirementRefusal {
  /// For the operator.
  public var reason: String {
    switch self {
    case .noSuchKey: "there is no such key, or it is retired"
    case .keyActive:
      "the key is the active one: activate another in Apple's portal, and wait for its first payment token"
    case .keyInUse: "the key was in use within the last 24 hours: payment tokens for it may still be on their way"
    }
  }
}
