import Storage
import TenderServer
import TenderTesting
import Testing

@Suite struct `The tables of a server` {
  @Test(arguments: StoreEngineUnderTest.present) func `can be made on every engine, and are kept when it starts again`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let place = try await EmptyDatabase(engine)
    for _ in 0..<2 {
      let database = try await place.open(PaymentAdministration.migrations)
      let names = try await database.read { try $0.rows("SELECT name FROM migrations") }
      #expect(names.count == PaymentAdministration.migrations.count)
      await place.close(database)
    }
  }

  @Test func `are made by migrations that the version before can live with, or that are said to remove`() {
    let broken = PaymentAdministration.migrations.filter { !$0.keepsItsPromise }
    #expect(broken.map(\.name) == [])
  }
}
