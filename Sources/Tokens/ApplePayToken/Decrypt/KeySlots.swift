import Crypto
import TenderPayments

/// The contents of the key ring, protected by its lock.
struct KeySlots: Sendable {
  struct Slot: Sendable {
    let hash: [UInt8]
    let version: EncryptedPaymentToken.Version
    /// Nil when the slot is retired.
    var key: ProcessingKey?
    var state: ProcessingKeyRing.State
    var since: Timestamp?
    var lastUsed: Timestamp?
    var lastRecorded: Timestamp?
  }

  private(set) var owned: [ProcessingKeyRing.Owner: [Slot]] = [:]
  var domains: [MerchantID: [PlatformDomain]] = [:]

  mutating func add(
    _ key: ProcessingKey, of owner: ProcessingKeyRing.Owner, state: ProcessingKeyRing.State?,
    orElse other: ProcessingKeyRing.State, since: Timestamp? = nil, lastUsed: Timestamp? = nil
  ) {
    if let index = owned[owner]?.firstIndex(where: { $0.hash == key.publicKeyHash }) {
      owned[owner]?[index].update(key, state, since, lastUsed)
      return
    }
    let isFirst = !(owned[owner] ?? []).contains { $0.version == key.version && $0.state == .active }
    let state = state ?? (isFirst ? .active : other)
    owned[owner, default: []].append(
      Slot(
        hash: key.publicKeyHash, version: key.version, key: state == .retired ? nil : key, state: state, since: since,
        lastUsed: lastUsed, lastRecorded: lastUsed))
  }

  var entries: [ProcessingKeyRing.Entry] {
    owned.sorted { $0.key < $1.key }.flatMap { owner, slots in slots.map { $0.entry(of: owner) } }
  }

  /// The merchant's own keys come first, then the platform's if the merchant is enrolled.
  func find(_ hash: [UInt8], for merchant: MerchantID) -> (owner: ProcessingKeyRing.Owner, slot: Slot)? {
    let own = ProcessingKeyRing.Owner.merchant(merchant)
    if let slot = slot(hash, of: own) { return (own, slot) }
    guard domains[merchant] != nil else { return nil }
    return slot(hash, of: .platform).map { (.platform, $0) }
  }

  private func slot(_ hash: [UInt8], of owner: ProcessingKeyRing.Owner) -> Slot? {
    guard let slots = owned[owner] else { return nil }
    return slots.firstIndex { $0.hash == hash }.map { slots[$0] }
  }

  func owners(of merchant: MerchantID) -> [ProcessingKeyRing.Owner] {
    domains[merchant] == nil ? [.merchant(merchant)] : [.merchant(merchant), .platform]
  }

  /// Every key that may serve the merchant, without retired ones.
  func serving(_ merchant: MerchantID) -> [Slot] {
    owners(of: merchant).flatMap { owned[$0] ?? [] }.filter { $0.state != .retired }
  }

  /// Notes that a payment token was opened with the key.
  ///
  /// - Returns: the entries to record; empty within the recording interval.
  mutating func use(_ hash: [UInt8], of owner: ProcessingKeyRing.Owner, at now: Timestamp) -> [ProcessingKeyRing.Entry]
  {
    guard let place = owned.index(forKey: owner),
      let index = owned.values[place].firstIndex(where: { $0.hash == hash })
    else { return [] }
    var slot = owned.values[place][index]
    if slot.lastUsed.map({ $0 < now }) ?? true { slot.lastUsed = now }
    let demoted = slot.state == .next ? promote(&slot, of: owner, at: now) : []
    let isDue = slot.lastRecorded.map { now.since($0) >= ProcessingKeyRing.recordingInterval } ?? true
    if isDue || !demoted.isEmpty { slot.lastRecorded = now }
    owned.values[place][index] = slot
    return isDue || !demoted.isEmpty ? [slot.entry(of: owner)] + demoted : []
  }

  /// Makes the key active and the one before it draining, because Apple now encrypts to this key.
  private mutating func promote(
    _ slot: inout Slot, of owner: ProcessingKeyRing.Owner, at now: Timestamp
  ) -> [ProcessingKeyRing.Entry] {
    (slot.state, slot.since, slot.lastRecorded) = (.active, now, nil)
    var demoted: [ProcessingKeyRing.Entry] = []
    for (index, other) in (owned[owner] ?? []).enumerated()
    where other.state == .active && other.version == slot.version && other.hash != slot.hash {
      owned[owner]?[index].state = .draining
      owned[owner]?[index].since = now
      owned[owner].map { demoted.append($0[index].entry(of: owner)) }
    }
    return demoted
  }

  /// - Returns: the entry to record; nil when there is no such key.
  mutating func set(
    _ state: ProcessingKeyRing.State, _ hash: [UInt8], of owner: ProcessingKeyRing.Owner, since: Timestamp
  ) -> ProcessingKeyRing.Entry? {
    guard let index = owned[owner]?.firstIndex(where: { $0.hash == hash }) else { return nil }
    owned[owner]?[index].state = state
    owned[owner]?[index].since = since
    if state == .retired { owned[owner]?[index].key = nil }
    return owned[owner]?[index].entry(of: owner)
  }

  mutating func retire(
    _ hash: [UInt8], of owner: ProcessingKeyRing.Owner, at now: Timestamp
  ) -> Result<ProcessingKeyRing.Entry, KeyRetirementRefusal> {
    guard let index = owned[owner]?.firstIndex(where: { $0.hash == hash && $0.state != .retired }),
      var slot = owned[owner]?[index]
    else { return .failure(.noSuchKey) }
    guard slot.state != .active else { return .failure(.keyActive) }
    let lastSeen = slot.state == .draining ? [slot.lastUsed, slot.since].compactMap(\.self).max() : slot.lastUsed
    guard lastSeen.map({ now.since($0) >= ProcessingKeyRing.drainingTime }) ?? true else { return .failure(.keyInUse) }
    (slot.state, slot.since, slot.key) = (.retired, now, nil)
    owned[owner]?[index] = slot
    return .success(slot.entry(of: owner))
  }
}

extension KeySlots.Slot {
  fileprivate mutating func update(
    _ key: ProcessingKey, _ state: ProcessingKeyRing.State?, _ since: Timestamp?, _ lastUsed: Timestamp?
  ) {
    self.state = state ?? self.state
    self.key = self.state == .retired ? nil : key
    self.since = since ?? self.since
    self.lastUsed = lastUsed ?? self.lastUsed
  }

  fileprivate func entry(of owner: ProcessingKeyRing.Owner) -> ProcessingKeyRing.Entry {
    ProcessingKeyRing.Entry(
      owner: owner, publicKeyHash: hash, version: version, state: state, since: since, lastUsed: lastUsed)
  }
}

extension ProcessingKeyRing.Owner: Comparable {
  /// The platform first, then merchants by name.
  public static func < (left: Self, right: Self) -> Bool {
    switch (left, right) {
    case (.platform, .merchant): true
    case (.merchant(let left), .merchant(let right)): left.rawValue < right.rawValue
    default: false
    }
  }
}

/// A domain of a platform's merchant, with its hash as a payment token carries it.
struct PlatformDomain: Sendable {
  let name: String
  /// SHA-256 of the domain's bytes, as Apple puts it into `header.applicationData`.
  let hash: [UInt8]

  init(_ name: String) {
    self.name = name
    hash = Array(SHA256.hash(data: Array(name.utf8)))
  }
}
