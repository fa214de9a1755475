import Foundation
import Settings
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
    try await waitUntil("the socket") { FileManager.default.fileExists(atPath: path) }
    #expect(try mode(path) == 0o600)
  }

  /// Otherwise the system refuses to bind it after the server has begun to listen.
  @Test func `is refused before anything is made where its path is longer than can be bound`() throws {
    let (longest, place) = (103 - ".d/s".utf8.count, "/tmp/")
    let name = String(repeating: "n", count: longest - place.utf8.count)
    try PrivateSocket(place + name).check()
    let error = #expect(throws: ConfigurationError.self) { try PrivateSocket(place + name + "n").prepare() }
    #expect(error?.reason.contains("1 bytes too long") == true, "\(String(describing: error))")
  }

  private func mode(_ path: String) throws -> Int? {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
  }
}
