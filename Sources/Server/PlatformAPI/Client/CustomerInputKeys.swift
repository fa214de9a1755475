package import MerchantIdentity
package import TenderPayments

/// The keys that open `encryptedCustomerInput`: the newest is handed out, older ones open what is under way.
///
/// They are in the store, sealed, so that every node opens what a kit encrypted to the key of another.
package actor CustomerInputKeys {
  /// How long kits get the same key.
  package static let rotation = Duration.seconds(86_400)
  /// How long a key opens: beyond its last client session.
  package static let lifetime = Duration.seconds(2 * 86_400)

  private let store: @Sendable () async throws -> MerchantStore
  private let clock: WallClock
  private let random: RandomBytes
  /// As they were read last, oldest first.
  private var known: [CustomerInputKey] = []
  private var making: Task<CustomerInputKey, any Error>?
  /// A reading of the store: callers at one time share it, because the keys that seal may be a program's to print.
  private var reading: Task<Void, any Error>?

  /// - Parameter store: the merchants' store with the keys that seal, made at the first secret.
  package init(
    _ store: @escaping @Sendable () async throws -> MerchantStore, clock: WallClock, random: RandomBytes
  ) {
    (self.store, self.clock, self.random) = (store, clock, random)
  }

  /// The key that kits encrypt to.
  package func current() async throws -> CustomerInputKey {
    if let fresh { return fresh }
    try await read()
    if let fresh { return fresh }
    if let making { return try await making.value }
    let task = Task { try await self.make() }
    making = task
    defer { making = nil }
    return try await task.value
  }

  /// - Returns: nil when there is no such key any more.
  package func key(_ id: String) async throws -> CustomerInputKey? {
    if let key = find(id) { return key }
    // What is being read may have begun before the key was made.
    if let reading { try await reading.value }
    if let key = find(id) { return key }
    try await read()
    return find(id)
  }

  private var fresh: CustomerInputKey? {
    known.last.flatMap { clock.now().since($0.createdAt) < Self.rotation ? $0 : nil }
  }

  private func find(_ id: String) -> CustomerInputKey? {
    known.first { $0.id.utf8.elementsEqual(id.utf8) && clock.now().since($0.createdAt) < Self.lifetime }
  }

  private func read() async throws {
    if let reading { return try await reading.value }
    let task = Task { try await self.readStore() }
    reading = task
    defer { reading = nil }
    try await task.value
  }

  private func readStore() async throws {
    let now = clock.now()
    let rows = try await store().read { try $0.secrets(of: SecretName.platform, at: now) }
    known = try rows.filter { $0.name.kind == .customerInputKey }.map {
      try CustomerInputKey(id: $0.name.name, createdAt: $0.createdAt, privateKeyPEM: $0.text)
    }
  }

  private func make() async throws -> CustomerInputKey {
    let (name, now) = (SecretName(SecretName.platform, .customerInputKey, random.hex(8)), clock.now())
    let key = try CustomerInputKey.made(id: name.name, at: now)
    try await store().note { tables in
      try tables.keep(key.privateKeyPEM, as: name, within: APIKeyLimits(expiresAt: now.adding(Self.lifetime)))
    }
    known.append(key)
    return key
  }
}
