import Foundation
import Storage
import Testing

@Suite struct `A file with a key` {
  let folder = FileManager.default.temporaryDirectory.appending(path: "tender-private-\(UUID().uuidString)").path

  @Test func `and every folder created for it are accessible to the owner only`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try PrivateFile.write("key", to: folder + "/a/b/one.key")
    #expect(try ["", "/a", "/a/b"].map { try mode(folder + $0) } == [0o700, 0o700, 0o700])
    #expect(try mode(folder + "/a/b/one.key") == 0o600)
    #expect(try PrivateFile.text(folder + "/a/b/one.key") == "key")
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder + "/a/b") == ["one.key"])
  }

  @Test func `is replaced atomically with its mode`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/one.key"
    try PrivateFile.makeFolder(folder)
    for name in ["/one.key", "/.one.key.new"] {
      #expect(FileManager.default.createFile(atPath: folder + name, contents: Data("older and longer".utf8)))
      try FileManager.default.setAttributes([.posixPermissions: 0o666], ofItemAtPath: folder + name)
    }
    try PrivateFile.write("key", to: file)
    #expect(try mode(file) == 0o600)
    #expect(try PrivateFile.text(file) == "key")
  }

  @Test func `is moved to its place whole, and replaces nothing there`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let (draft, place) = (folder + "/draft", folder + "/place")
    try PrivateFile.write("new", to: draft)
    try PrivateFile.move(draft, to: place)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["place"])
    try PrivateFile.write("newer", to: draft)
    #expect(throws: PrivateFileError.self) { try PrivateFile.move(draft, to: place) }
    #expect(try PrivateFile.text(place) == "new" && PrivateFile.text(draft) == "newer")
  }

  @Test func `is made by one of many callers at once, and every caller finds it whole`() async throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/first.key"
    let texts = try await withThrowingTaskGroup(of: (isFirst: Bool, wrote: String, read: String).self) { group in
      for caller in 0..<32 {
        group.addTask {
          let text = String(repeating: "\(caller) ", count: 1000)
          return (try PrivateFile.writeFirst(text, to: file), text, try PrivateFile.text(file))
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    let first = texts.filter(\.isFirst)
    #expect(first.count == 1 && texts.allSatisfy { $0.read == first.first?.wrote })
    #expect(try mode(file) == 0o600)
    #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["first.key"])
  }

  @Test func `does not change an existing folder`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder)
    try PrivateFile.write("key", to: folder + "/one.key")
    #expect(try mode(folder) == 0o755)
  }

  @Test(arguments: [0o640, 0o604, 0o660, 0o610, 0o601, 0o777])
  func `is not read when others have permissions, and the error names the command that corrects them`(_ mode: Int)
    throws
  {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let file = folder + "/one.key"
    try PrivateFile.write("key", to: file)
    try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: file)
    let error = #expect(throws: PrivateFileError.self) { try PrivateFile.text(file) }
    #expect(error?.reason.contains("run: chmod 600 \(file)") == true)
    #expect(error?.description.contains("key can be read by others") == true)
  }

  @Test func `that is missing, too long or not text is refused`() throws {
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let missing = #expect(throws: PrivateFileError.self) { try PrivateFile.text(folder + "/none.key") }
    #expect(missing?.reason.contains("No such file") == true)
    try PrivateFile.write(String(repeating: "k", count: 1 << 16), to: folder + "/long.key")
    #expect(throws: PrivateFileError.self) { try PrivateFile.text(folder + "/long.key") }
    let mode = [FileAttributeKey.posixPermissions: 0o600]
    #expect(
      FileManager.default.createFile(atPath: folder + "/bytes.key", contents: Data([0xFF, 0xFE]), attributes: mode))
    #expect(throws: PrivateFileError.self) { try PrivateFile.text(folder + "/bytes.key") }
    let der = Data([0x30, 0x81, 0x87])
    #expect(FileManager.default.createFile(atPath: folder + "/der.key", contents: der, attributes: mode))
    let binary = #expect(throws: PrivateFileError.self) { try PrivateFile.text(folder + "/der.key") }
    #expect(binary?.reason.contains("openssl pkey -inform der -in \(folder)/der.key") == true)
  }

  private func mode(_ path: String) throws -> Int? {
    (try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? NSNumber)?.intValue
  }
}
