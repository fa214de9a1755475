import Synchronization
public import TenderPayments

/// The processing keys of every merchant, or of a platform and its merchants: any number, chosen by `publicKeyHash`.
///
/// A payment token chooses its key by hash, but only among the keys that may serve the merchant who was authenticated:
/// a token made for one merchant does not open for another. A platform has one certificate for many merchants, so there
/// the hash says nothing about the merchant; such a token must name the merchant's domain in its application data.
///
/// The ring is shared: a key that is added or retired is so for every opener that has the ring, at once.
public final class ProcessingKeyRing: Sendable {
  /// A key that was in use this lately is not retired: tokens for it may still be on their way.
  public static let drainingTime: Duration = .seconds(86_400)
  /// How often, at most, the recorder hears of a key that is used all the time.
  public static let recordingInterval: Duration = .seconds(60)

  let slots: Mutex<KeySlots>
  let record: @Sendable (Entry) -> Void

  /// - Parameters:
  ///   - keys: the active key of each merchant, then those before it whose tokens may still arrive.
  ///   - record: hears when a key changed its state, and when it was used, so that both outlive the process. Called on
  ///     the path of a payment, so it must not wait.
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
    /// Of a platform, for every merchant that is enrolled.
    case platform

    /// As it is written down and sent: a merchant's id, which is never empty, or nothing for the platform.
    public var name: String {
      switch self {
      case .platform: ""
      case .merchant(let id): id.rawValue
      }
    }

    /// The owner with this ``name``.
    public init(name: String) { self = name.isEmpty ? .platform : .merchant(MerchantID(name)) }
  }

  /// How far a key is on its way. Every state but `retired` opens payment tokens.
  public enum State: String, Sendable, Hashable, CaseIterable {
    /// Made, and not yet activated at Apple as far as anybody knows. Its first token makes it active.
    case next
    /// Apple encrypts to it.
    case active
    /// Another one is active, and tokens for this one may still arrive.
    case draining
    /// Forgotten: its tokens are refused by name.
    case retired
  }

  /// What is known of a key; nothing of it is secret.
  public struct Entry: Sendable, Hashable {
    public let owner: Owner
    public let publicKeyHash: [UInt8]
    /// Which payment tokens it opens.
    public let version: EncryptedPaymentToken.Version
    public let state: State
    /// When the state began; nil when that was before anybody wrote it down.
    public let since: Timestamp?
    /// When a payment token was last opened with it; nil when none was.
    public let lastUsed: Timestamp?
  }

  /// Adds a key, or says more about one that is there.
  ///
  /// - Parameters:
  ///   - key: wherever its private half is held.
  ///   - owner: whose it is.
  ///   - state: nil for what follows from the others: the first of its kind is active, any other is next.
  ///   - since: when the state began, as the recorder was told, in another process perhaps.
  ///   - lastUsed: the same of the last payment token that it opened.
  public func add(
    _ key: ProcessingKey, of owner: Owner, state: State? = nil, since: Timestamp? = nil, lastUsed: Timestamp? = nil
  ) {
    slots.withLock { $0.add(key, of: owner, state: state, orElse: .next, since: since, lastUsed: lastUsed) }
  }

  /// Lets the platform's keys serve this merchant, whose payment tokens must name one of these domains.
  ///
  /// - Parameters:
  ///   - merchant: who may be served.
  ///   - domains: as they stand in the browser's address, `shop.example.com`; the payment request's
  ///     `applicationData` is one of them.
  public func enroll(_ merchant: MerchantID, domains: [String]) {
    let domains = domains.map(PlatformDomain.init)
    slots.withLock { $0.domains[merchant] = domains }
  }

  /// Every key, retired ones too; by owner, the ones added first before the others.
  public var entries: [Entry] { slots.withLock { $0.entries } }

  /// The key with that hash which may serve the merchant; nil when there is none or it is retired.
  public func key(_ publicKeyHash: [UInt8], of merchant: MerchantID) -> ProcessingKey? {
    slots.withLock { slots in
      slots.find(publicKeyHash, for: merchant).flatMap { slots.owned[$0]?[$1].key }
    }
  }

  /// Forgets a key, when nobody can need it any more.
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
