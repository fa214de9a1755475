import Foundation
package import Storage
package import TenderPayments

/// A store in its own temporary directory, which is removed with the value.
package final class TemporaryStore: Sendable {
  package let directory: String
  package var path: String { directory + "/store.db" }

  package init() throws {
    directory = FileManager.default.temporaryDirectory.appending(path: "tender-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: directory) }

  package func open(_ migrations: [Migration], clock: WallClock = .system) async throws -> Database {
    try await Database.sqlite(path: path, migrations: migrations, clock: clock)
  }

  /// Every byte that the store has on disk, its write-ahead log included.
  package func bytesOnDisk() throws -> [[UInt8]] {
    try FileManager.default.contentsOfDirectory(atPath: directory).map {
      Array(try Data(contentsOf: URL(filePath: "\(directory)/\($0)")))
    }
  }
}
