import Foundation
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite(.enabled(if: StoreEngineUnderTest.isFile)) struct `What is deleted from a file` {
  private static let schema = [
    Migration(
      "people-1",
      """
      CREATE TABLE people (id TEXT PRIMARY KEY NOT NULL, name TEXT NOT NULL, email TEXT);
      CREATE INDEX people_of_email ON people (email);
      """)
  ]

  /// Rows of many lengths in an order that splits and merges pages; every third is of the person.
  private func fill(_ database: Database, _ person: String) async throws {
    for block in 0..<30 {
      try await database.write { store in
        for row in 0..<60 {
          let (number, isPerson) = (row * 7_919 % 60 * 30 + block, row % 3 == 0)
          let name = isPerson ? person : "somebody else"
          try store.run(
            "INSERT INTO people (id, name, email) VALUES ($1, $2, $3)", .text("\(number % 97) \(number)"),
            .text(String(repeating: name + " ", count: 1 + number % 40)), .text("\(name)@\(number).example"))
        }
      }
    }
  }

  private func found(_ person: String, _ file: TemporaryStore) throws -> Int {
    try file.bytesOnDisk().count { Data($0).range(of: Data(person.utf8)) != nil }
  }

  @Test func `is out of the log once that is emptied, and in none of its files once they are written anew`()
    async throws
  {
    let file = try TemporaryStore()
    let database = try await Database.sqlite(path: file.path, migrations: Self.schema)
    try await fill(database, "Wilhelmina")
    #expect(try found("Wilhelmina", file) > 0)
    try await database.write { store in
      try store.run("UPDATE people SET name = 'erased', email = NULL WHERE name LIKE 'Wilhelmina%' AND id < '4'")
    }
    let erased = try await database.write { store in
      try store.run("DELETE FROM people WHERE name LIKE 'Wilhelmina%'")
      return try store.rows("SELECT id FROM people WHERE name = 'erased'").count
    }
    #expect(await database.emptyLog())
    #expect(FileManager.default.contents(atPath: file.path + "-wal")?.isEmpty == true)
    await #expect(throws: StorageError.busy) { try await Database.vacuum(path: file.path) }
    await database.close()
    try await Database.vacuum(path: file.path)
    #expect(try found("Wilhelmina", file) == 0)
    #expect(try found("somebody else", file) > 0)
    let again = try await Database.sqlite(path: file.path, migrations: Self.schema)
    #expect(try await again.read { try $0.rows("SELECT * FROM people") }.count == 1_200 + erased)
    await again.close()
  }

  @Test func `stays in the log without that`() async throws {
    let file = try TemporaryStore()
    let database = try await Database.sqlite(path: file.path, migrations: Self.schema)
    try await fill(database, "Wilhelmina")
    try await database.write { try $0.run("DELETE FROM people WHERE name LIKE 'Wilhelmina%'") }
    #expect(try found("Wilhelmina", file) > 0)
    await database.close()
  }
}
