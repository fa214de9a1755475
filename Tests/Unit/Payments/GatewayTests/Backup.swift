import Acquiring
import Gateway
import Ledger
import Storage
import TenderPayments
import TenderTesting
import Testing

/// A copy of a shop's store, and what becomes of it when the store is lost and the copy restored.
struct Backup: Sendable {
  private let shop: Shop
  private let files: TemporaryStore
  private let database: Database

  /// Copies the store as it is now.
  init(of shop: Shop) async throws {
    self.shop = shop
    files = try TemporaryStore()
    let clock = shop.clock.wall
    database = try await Database.targetOfCopy(Journal.migrations) { [files] in try await files.open($0, clock: clock) }
    let copy = try await StoreCopy(from: shop.journal.database, to: database)
    try await copy.run()
    try await copy.finish()
    try await database.write { try RestoredStore.mark(backup: "backup", begunAt: $0.now, in: $0) }
  }

  /// Marks the copy as restored now.
  func restore() async throws -> Journal {
    try await database.write { store in
      let backup = try #require(try RestoredStore.newestBackup(in: store))
      _ = try RestoredStore.begin(backup.id, lostFrom: backup.begunAt, routes: [], in: store)
    }
    return try await Journal(database).readingRestore()
  }

  /// A server on the restored store, with all routes of the one before.
  func gateway(
    _ journal: Journal, _ routes: [ConfiguredRoute], merchants: [MerchantID] = ["shop"]
  ) -> PaymentGateway {
    PaymentGateway(
      opener: shop.opener, journal: journal,
      routes: RouteTable(routes, routing: { _ in MerchantRouting() }, merchants: { merchants }),
      clock: shop.clock.wall, scheduler: shop.clock.scheduler)
  }
}
