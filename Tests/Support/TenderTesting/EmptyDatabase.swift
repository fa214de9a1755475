import Foundation
package import Storage
package import TenderPayments

/// The engines that a claim about stores has to hold on.
package enum StoreEngineUnderTest: String, Sendable, CaseIterable {
  case sqlite, postgres

  /// The engine that takes the place of files, from `ENGINE_UNDER_TEST`.
  package static let chosen =
    ProcessInfo.processInfo.environment["ENGINE_UNDER_TEST"].flatMap(StoreEngineUnderTest.init) ?? .sqlite

  /// Whether stores are files, whose bytes a test may read.
  package static let isFile = chosen == .sqlite

  /// Those that are here: PostgreSQL needs `scripts/with-postgres swift test`.
  package static let present: [StoreEngineUnderTest] = PostgresUnderTest.address == nil ? [.sqlite] : allCases
}

/// The PostgreSQL that `scripts/with-postgres` started.
package enum PostgresUnderTest {
  package static let address = ProcessInfo.processInfo.environment["POSTGRES_UNDER_TEST"]
  package static let isPresent = address != nil
}

/// An empty database of its own for one test, which opens it as often as it likes. A file is removed with the value.
package final class EmptyDatabase: Sendable {
  private enum Place {
    case file(TemporaryStore)
    case schema(address: String)
  }

  private let place: Place

  package init(_ engine: StoreEngineUnderTest) async throws {
    switch engine {
    case .sqlite: place = .file(try TemporaryStore())
    case .postgres: place = .schema(address: try await Self.makeSchema())
    }
  }

  /// The address of this database; only on PostgreSQL.
  package var address: String {
    get throws {
      guard case .schema(let address) = place else { throw StorageError.other("not on PostgreSQL") }
      return address
    }
  }

  /// How a node reaches this database, with limits that do not strike; only on PostgreSQL.
  package func settings(_ change: (inout PostgresSettings) -> Void = { _ in }) throws -> PostgresSettings {
    var settings = Self.unhurried(try address, connections: 4)
    change(&settings)
    return settings
  }

  private static func unhurried(_ address: String, connections: Int) -> PostgresSettings {
    var settings = PostgresSettings(address: address)
    settings.connections = connections
    (settings.timeout, settings.statementLimit, settings.lockLimit) = (TestRun.whole, TestRun.whole, TestRun.whole)
    (settings.idleLimit, settings.commitLimit) = (TestRun.whole, TestRun.whole)
    return settings
  }

  package func open(
    _ migrations: [Migration], clock: WallClock? = nil, contracts: Bool = false
  ) async throws -> Database {
    switch place {
    case .file(let file):
      try await .sqlite(path: file.path, migrations: migrations, clock: clock ?? .system, contracts: contracts)
    case .schema:
      try await .postgres(try settings(), migrations: migrations, clock: clock, contracts: contracts)
    }
  }

  /// Closes a database opened here, which exists until then.
  package func close(_ database: Database) async { await database.close() }

  /// A schema is quicker to make than a database.
  private static func makeSchema() async throws -> String {
    guard let address = PostgresUnderTest.address else { throw StorageError.connection("POSTGRES_UNDER_TEST") }
    let name = "test_\(UUID().uuidString.lowercased().filter { $0 != "-" })"
    let database = try await Database.postgres(unhurried(address, connections: 1), migrations: [])
    try await database.write { try $0.run("CREATE SCHEMA \(name)") }
    await database.close()
    return "\(address)?connect_timeout=0&options=-c%20search_path%3D\(name)"
  }
}
