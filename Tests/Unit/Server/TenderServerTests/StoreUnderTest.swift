import Foundation
import Settings
import TenderServer
import TenderTesting

extension ServerConfiguration {
  /// Puts the store on PostgreSQL where `ENGINE_UNDER_TEST=postgres` is set. A directory that has served before keeps its
  /// database. The administration's socket stays where tests look for it.
  mutating func useEngineUnderTest() async throws {
    guard StoreEngineUnderTest.chosen == .postgres else { return }
    let note = URL(fileURLWithPath: storePath + ".address")
    if !FileManager.default.fileExists(atPath: note.path) {
      try Data(try await EmptyDatabase(.postgres).address.utf8).write(to: note)
    }
    adminSocket = storePath + ".sock"
    storeURL = try String(contentsOf: note, encoding: .utf8)
  }
}
