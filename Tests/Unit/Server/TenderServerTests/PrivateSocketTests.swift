import Foundation
import TenderServer
import TenderTesting
import Testing

@Suite struct `A private socket` {
  @Test func `is in a private folder until its own mode is private`() throws {
    let place = try TemporaryStore()
    let socket = PrivateSocket(place.directory + "/tender.db.sock")
    try Data().write(to: URL(filePath: socket.path))
    try socket.prepare()
    #expect(!FileManager.default.fileExists(atPath: socket.path), "what was left behind is gone")
    let folder = URL(filePath: socket.boundPath).deletingLastPathComponent().path
    #expect(try mode(folder) == 0o700)
    // The mode of a bound socket depends on the umask.
    try Data().write(to: URL(filePath: socket.boundPath))
    try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: socket.boundPath)
    try socket.open()
    #expect(try mode(socket.path) == 0o600)
    #expect(!FileManager.default.fileExists(atPath: folder))
  }

  @Test func `is what the server's own user asks at`() async throws {
    let system = try await TestSystem.shared.value
    let path = system.directory + "/tender.db.sock"
    for _ in 0..<2_000 where !FileManager.default.fileExists(atPath: path) {
      try await Task.sleep(for: .milliseconds(10))
    }
    #expect(try mode(path) == 0o600)
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
