import ApplePayToken
import Foundation
import KeyAgent
import Ledger
import Logging
import MerchantIdentity
import Settings
import Storage
import TenderPayments

/// The processing keys of a running server: a ring in memory, and a store that keeps their states and last uses across
/// restarts. The store is written in order, beside the payments; no payment waits for it.
struct ProcessingKeys: Sendable {
  let ring: ProcessingKeyRing
  private let store: ProcessingKeyStore
  private let logger: Logger
  private let agent: KeyAgentClient?
  private let changes: AsyncStream<ProcessingKeyStore.Record>.Continuation
  private let writing: Task<Void, Never>

  /// - Parameter agent: holds keys whose certificates alone are here; nil where there is none.
  init(_ store: ProcessingKeyStore, _ database: Database, agent: KeyAgentClient?, logger: Logger) {
    let (stream, changes) = AsyncStream.makeStream(of: ProcessingKeyStore.Record.self)
    (self.store, self.logger) = (store, logger)
    (self.agent, self.changes) = (agent, changes)
    ring = ProcessingKeyRing { changes.yield(ProcessingKeyStore.Record($0)) }
    writing = Task {
      for await record in stream {
        do {
          try await store.write(record)
          try await MerchantStore(database, keys: nil).follow(record)
        } catch {
          logger.error("the state of a processing key was not written", metadata: ["reason": .string("\(error)")])
        }
      }
    }
  }

  /// Adds the keys of every folder and of the platform: those with a file here, and those whose certificate is here and
  /// whose key an agent holds, with the states that the store has of them. What is there already stays as it is, and a
  /// key whose row in the store cannot be read is left out: it may have been retired.
  ///
  /// - Returns: how many are new.
  /// - Throws: before anything has changed.
  @discardableResult
  func add(_ folders: [MerchantFolder], _ platform: PlatformFolder) async throws -> Int {
    let keys = try keys(folders, platform)
    let rows = try await store.rows()
    let known = Dictionary(uniqueKeysWithValues: rows.map { ([$0.owner, $0.publicKeyHash], $0.record) })
    for row in rows where row.record == nil {
      logger.error(
        "a processing key is left out: its row in processing_keys cannot be read",
        metadata: ["merchant": .string(row.owner), "publicKeyHash": .string(row.publicKeyHash)])
    }
    let before = Set(ring.entries.map { [$0.owner.name, Hex.encode($0.publicKeyHash)] })
    for folder in folders where folder.profile.encryptsToPlatform {
      ring.enroll(folder.merchant.id, domains: folder.platformDomains)
    }
    for (owner, key) in keys
    where !before.contains([owner.name, Hex.encode(key.publicKeyHash)]) {
      let row = known[[owner.name, Hex.encode(key.publicKeyHash)]]
      if case .some(nil) = row { continue }
      let record = row ?? nil
      ring.add(
        key, of: owner, state: record.flatMap { ProcessingKeyRing.State(rawValue: $0.state) }, since: record?.since,
        lastUsed: record?.lastUsed)
    }
    for folder in folders { followStore(folder) }
    follow(rows.compactMap(\.record))
    let added = ring.entries.filter { !before.contains([$0.owner.name, Hex.encode($0.publicKeyHash)]) }
    for entry in added { changes.yield(ProcessingKeyStore.Record(entry)) }
    return added.count
  }

  /// Takes over what other nodes have recorded of the keys.
  func follow() async throws { follow(try await store.records()) }

  private func follow(_ records: [ProcessingKeyStore.Record]) {
    let entries = Dictionary(
      uniqueKeysWithValues: ring.entries.map { ([$0.owner.name, Hex.encode($0.publicKeyHash)], $0) })
    for record in records {
      guard let entry = entries[[record.owner, record.publicKeyHash]], let since = record.since,
        let state = ProcessingKeyRing.State(rawValue: record.state), state != entry.state,
        entry.since.map({ $0 < since }) ?? true
      else { continue }
      ring.set(state, entry.publicKeyHash, of: entry.owner, since: since)
    }
  }

  /// Takes over what an operator has set in the store since the ring learned of a key: activated, or retired.
  private func followStore(_ folder: MerchantFolder) {
    guard case .stored(let certificates) = folder.origin else { return }
    let owner = ProcessingKeyRing.Owner.merchant(folder.merchant.id)
    let entries = Dictionary(
      ring.entries.filter { $0.owner == owner }.map { ($0.publicKeyHash, $0) }, uniquingKeysWith: { $1 })
    for certificate in certificates where certificate.kind == .processing {
      guard let entry = entries[certificate.publicKeyHash], entry.state.rawValue != certificate.state.rawValue,
        let state = ProcessingKeyRing.State(rawValue: certificate.state.rawValue),
        entry.since.map({ $0 < certificate.stateSince }) ?? true
      else { continue }
      ring.set(state, certificate.publicKeyHash, of: owner, since: certificate.stateSince)
    }
  }

  /// Writes every change before it returns.
  func close() async {
    changes.finish()
    await writing.value
  }

  private func keys(
    _ folders: [MerchantFolder], _ platform: PlatformFolder
  ) throws -> [(ProcessingKeyRing.Owner, ProcessingKey)] {
    let ofPlatform = platform.keys + asked(platform.certificatesOfKeysElsewhere)
    let ofMerchants = try folders.flatMap { folder in
      let here = try folder.merchant.processing.map {
        try ProcessingKey(privateKeyPEM: $0.privateKeyPEM, certificatePEM: $0.certificatePEM)
      }
      return (here + asked(folder.certificatesOfKeysElsewhere)).map {
        (ProcessingKeyRing.Owner.merchant(folder.merchant.id), $0)
      }
    }
    return ofPlatform.map { (.platform, $0) } + ofMerchants
  }

  /// The keys of these certificates, which the agent holds.
  private func asked(_ certificates: [ProcessingCertificate]) -> [ProcessingKey] {
    certificates.compactMap { agent?.key($0.publicKeyHash, $0.version) }
  }
}

extension MerchantStore {
  /// Notes in the store what payment tokens have proved of a key.
  fileprivate func follow(_ record: ProcessingKeyStore.Record) async throws {
    guard let state = CertificateState(rawValue: record.state), let hash = Hex.decode(record.publicKeyHash),
      !record.owner.isEmpty
    else { return }
    let (merchant, since) = (MerchantID(record.owner), record.since)
    // A key that is deleted must leave the memory of every node.
    guard state == .retired else {
      return try await note { try $0.follow(state, since: since, of: hash, merchant: merchant) }
    }
    try await write { try $0.follow(state, since: since, of: hash, merchant: merchant) }
  }
}

extension ProcessingKeyStore.Record {
  init(_ entry: ProcessingKeyRing.Entry) {
    self.init(
      owner: entry.owner.name, publicKeyHash: Hex.encode(entry.publicKeyHash), version: entry.version,
      state: entry.state.rawValue, since: entry.since, lastUsed: entry.lastUsed)
  }
}
