import Acquiring
import Logging
import MerchantIdentity
import Settings
import Storage
import TenderPayments

/// Reads all merchants from their folders and the store. What it reads changes nothing yet.
struct MerchantsReader: Sendable {
  let configuration: ServerConfiguration
  let database: Database
  /// Whose accounts the merchants name.
  let routes: RouteTable
  /// Asks Apple's gateway with this certificate, in the region of this merchant.
  let validator: @Sendable (MerchantIdentityCertificate, MerchantFolder) throws -> MerchantValidator
  let clock: WallClock
  let logger: Logger

  /// - Parameters:
  ///   - former: what goes on where a folder cannot be read, or where all declared merchants are gone at once.
  ///   - requiresFolders: throws in such a case.
  func read(after former: MerchantsSnapshot? = nil, requiresFolders: Bool) async throws -> MerchantsSnapshot {
    // Before the merchants, so that a change between the two is read again.
    let fingerprint = try await fingerprint()
    let now = clock.now()
    let served = try await ServedMerchants(configuration, database, routes, after: former?.served, at: now)
    if requiresFolders { try served.requireDeclared() }
    return try MerchantsSnapshot(
      served, try platform(served.folders, former: requiresFolders ? nil : former?.platform, at: now), fingerprint,
      in: configuration.environment, validator)
  }

  /// Tells whether the merchants in the store have changed.
  func fingerprint() async throws -> MerchantStore.Fingerprint {
    try await MerchantStore(database, keys: nil).fingerprint(at: clock.now())
  }

  private func platform(
    _ folders: [MerchantFolder], former: ServedPlatform?, at now: Timestamp
  ) throws -> ServedPlatform {
    do { return try ServedPlatform(configuration, for: folders, at: now) } catch {
      guard let former else { throw error }
      logger.error(
        "the platform's folder cannot be read; it goes on as it was read before",
        metadata: ["reason": .string(ErrorWords.of(error))])
      return former
    }
  }
}
