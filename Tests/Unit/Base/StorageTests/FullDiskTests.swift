import Foundation
import Storage
import TenderPayments
import TenderTesting
import Testing

private let schema = [
  Migration("test-1", "CREATE TABLE lines (id BIGINT PRIMARY KEY NOT NULL, text TEXT NOT NULL);\n")
]

/// SQLite's page limit simulates the full disk: it fails at the same places. `scripts/attack disk` tests a whole process.
@Suite struct `A full disk` {
  private let file: TemporaryStore
  private var path: String { file.path }

  init() throws { file = try TemporaryStore() }

  private func count(_ database: Database) async throws -> Int64? {
    try await database.read { try $0.row("SELECT count(*) AS n FROM lines")?.integer("n") }
  }

  /// So many writes at once, each of about a quarter of a page; how many were acknowledged.
  private func write(_ numbers: Range<Int64>, _ database: Database) async throws -> (kept: Int64, refused: Int) {
    let text = String(repeating: "x", count: 1_000)
    return try await withThrowingTaskGroup(of: Bool.self) { group in
      for number in numbers {
        group.addTask {
          do {
            try await database.write {
              try $0.run("INSERT INTO lines (id, text) VALUES ($1, $2)", .integer(number), .text(text))
            }
            return true
          } catch StorageError.full { return false }
        }
      }
      return try await group.reduce(into: (0, 0)) { if $1 { $0.0 += 1 } else { $0.1 += 1 } }
    }
  }

  private func limit(_ pages: Int64, _ database: Database) async throws {
    try await database.write { try $0.run("PRAGMA max_page_count = \(pages)") }
  }

  @Test func `loses no acknowledged write, keeps no refused one, and recovers when there is space`()
    async throws
  {
    let database = try await Database.sqlite(path: path, migrations: schema)
    var (next, kept): (Int64, Int64) = (0, 0)
    for _ in 0..<20 {
      let pages = try await database.read { try $0.row("PRAGMA page_count")?.integer("page_count") }
      try await limit(try #require(pages) + 12, database)
      let full = try await write(next..<next + 200, database)
      #expect(full.refused > 0)
      kept += full.kept
      #expect(try await count(database) == kept)
      #expect(database.failure == nil)
      try await limit(1_000_000, database)
      let healed = try await write(next + 200..<next + 210, database)
      #expect(healed == (10, 0))
      kept += 10
      next += 210
    }
    let verdict = try await database.read { try $0.row("PRAGMA integrity_check")?.text("integrity_check") }
    #expect(verdict == "ok")
    await database.close()
    let again = try await Database.sqlite(path: path, migrations: schema)
    #expect(try await count(again) == kept)
    await again.close()
  }
}
