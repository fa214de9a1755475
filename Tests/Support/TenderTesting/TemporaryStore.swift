import Foundation
package import Storage
import Synchronization
package import TenderPayments

/// A store in its own temporary directory, which is removed with the value.
package final class TemporaryStore: Sendable {
  package let directory: String
  package var path: String { directory + "/store.db" }
  private let substitute = Mutex<EmptyDatabase?>(nil)

  package init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  /// Opens the file, or a database on PostgreSQL in its place where `ENGINE_UNDER_TEST=postgres` is set.
  package func open(_ migrations: [Migration], clock: WallClock = .system) async throws -> Database {
    if StoreEngineUnderTest.chosen == .postgres {
      return try await onPostgres().open(migrations, clock: clock)
    }
    return try await Database.sqlite(path: path, migrations: migrations, clock: clock)
  }

  /// Opens the file itself, which another part has made, such as a provider's ledger.
  package func openFile() async throws -> Database { try await Database.sqlite(path: path, migrations: []) }

  /// The database that takes the place of the file.
  private func onPostgres() async throws -> EmptyDatabase {
    if let known = substitute.withLock({ $0 }) { return known }
    let made = try await EmptyDatabase(.postgres)
    substitute.withLock { $0 = made }
    return made
  }

  /// Every byte that the store has on disk, its write-ahead log included.
  package func bytesOnDisk() throws -> [[UInt8]] {
    try FileManager.default.contentsOfDirectory(atPath: directory).map {
      Array(try Data(contentsOf: URL(filePath: "\(directory)/\($0)")))
    }
  }
}
