import Foundation
import Storage
import TenderTesting
import Testing

@Suite struct `The keys of rows` {
  private let folder: TemporaryStore
  private let files: RowKeys.Files
  private let rows = (0..<300).map { "order \($0)" }

  init() throws {
    folder = try TemporaryStore()
    files = RowKeys.Files(folder.directory + "/contacts.keys", copy: folder.directory + "/copy/contacts.keys")
    try FileManager.default.createDirectory(atPath: folder.directory + "/copy", withIntermediateDirectories: true)
  }

  private func reopened() throws -> RowKeys { try #require(try RowKeys(existing: files)) }

  private func sealed(by keys: RowKeys) throws -> [String: [UInt8]] {
    try Dictionary(uniqueKeysWithValues: rows.map { ($0, try #require(try keys.seal("Aoife of \($0)", of: $0))) })
  }

  @Test func `open what they sealed, from the file and from its copy too`() throws {
    let keys = try RowKeys(files)
    let sealed = try sealed(by: keys)
    #expect(Set(sealed.values).count == rows.count)
    try FileManager.default.removeItem(atPath: files.path)
    for opening in [keys, try reopened(), try #require(try RowKeys(existing: RowKeys.Files(files.path)))] {
      for row in rows { #expect(try opening.open(#require(sealed[row]), of: row) == "Aoife of \(row)") }
      #expect(opening.mark(of: "aoife@example.com") == keys.mark(of: "aoife@example.com"))
      #expect(opening.name == keys.name)
    }
  }

  @Test func `open nothing of another row, and nothing of another store`() throws {
    let keys = try RowKeys(files)
    let sealed = try #require(try keys.seal("Aoife", of: "one"))
    #expect(throws: RowKeysError.otherKeys) { try keys.open(sealed, of: "two") }
    #expect(throws: RowKeysError.otherKeys) { try RowKeys().open(sealed, of: "one") }
    #expect(RowKeys().mark(of: "aoife") != keys.mark(of: "aoife"))
  }

  @Test func `are destroyed for good, one by one, and every other still opens`() throws {
    let keys = try RowKeys(files)
    let sealed = try sealed(by: keys)
    let erased = Set(rows.enumerated().filter { $0.offset.isMultiple(of: 7) }.map(\.element))
    for row in erased { try keys.destroy([row]) }
    for opening in [keys, try reopened()] {
      #expect(opening.destroyed == erased)
      for row in rows {
        let text = try opening.open(#require(sealed[row]), of: row)
        #expect(text == (erased.contains(row) ? nil : "Aoife of \(row)"))
        #expect(try (opening.seal("again", of: row) == nil) == erased.contains(row))
      }
    }
  }

  @Test func `stay destroyed when an older file comes back beside the copy, or an older copy beside the file`() throws {
    let keys = try RowKeys(files)
    let sealed = try #require(try keys.seal("Aoife", of: "one"))
    let before = try String(contentsOfFile: files.path, encoding: .utf8)
    try keys.destroy(["one"])
    for path in [files.path, try #require(files.copy)] {
      try PrivateFile.write(before, to: path)
      #expect(try reopened().open(sealed, of: "one") == nil)
      #expect(try String(contentsOfFile: path, encoding: .utf8) != before)
    }
  }

  @Test func `are read where the copy cannot be written, and none is destroyed meanwhile`() throws {
    let sealed = try #require(try RowKeys(files).seal("Aoife", of: "one"))
    try FileManager.default.removeItem(atPath: folder.directory + "/copy")
    try Data().write(to: URL(fileURLWithPath: folder.directory + "/copy"))
    let keys = try reopened()
    #expect(throws: PrivateFileError.self) { try keys.destroy(["one"]) }
    for opening in [keys, try reopened()] { #expect(try opening.open(sealed, of: "one") == "Aoife") }
  }

  @Test func `are all there where the file cannot be written, and the copy is as it was`() throws {
    let keys = try RowKeys(files)
    let sealed = try #require(try keys.seal("Aoife", of: "one"))
    let copy = try #require(files.copy)
    let before = try String(contentsOfFile: copy, encoding: .utf8)
    // Where the draft of the file would be.
    try FileManager.default.createDirectory(
      atPath: folder.directory + "/.contacts.keys.new/full", withIntermediateDirectories: true)
    #expect(throws: PrivateFileError.self) { try keys.destroy(["one"]) }
    #expect(try String(contentsOfFile: copy, encoding: .utf8) == before)
    try FileManager.default.removeItem(atPath: folder.directory + "/.contacts.keys.new")
    for opening in [keys, try reopened()] {
      #expect(opening.destroyed == [])
      #expect(try opening.open(sealed, of: "one") == "Aoife")
    }
    try keys.destroy(["one"])
    #expect(try reopened().open(sealed, of: "one") == nil)
  }

  @Test func `are all there where the copy cannot be written, and the file is as it was`() throws {
    let keys = try RowKeys(files)
    let before = try String(contentsOfFile: files.path, encoding: .utf8)
    try FileManager.default.createDirectory(
      atPath: folder.directory + "/copy/.contacts.keys.new/full", withIntermediateDirectories: true)
    #expect(throws: PrivateFileError.self) { try keys.destroy(["one"]) }
    #expect(try String(contentsOfFile: files.path, encoding: .utf8) == before)
    #expect(try reopened().destroyed == [])
  }

  @Test func `are destroyed in the copy at the next start, where the process ended between the two files`() throws {
    let keys = try RowKeys(files)
    let copy = try #require(files.copy)
    let before = try String(contentsOfFile: copy, encoding: .utf8)
    try keys.destroy(["one"])
    try PrivateFile.write(before, to: copy)
    #expect(try reopened().destroyed == ["one"])
    #expect(try String(contentsOfFile: copy, encoding: .utf8) == String(contentsOfFile: files.path, encoding: .utf8))
  }

  @Test func `are locked by a file of their owner, and by none that a link leads to`() throws {
    let lock = files.path + ".lock"
    try FileManager.default.createSymbolicLink(atPath: lock, withDestinationPath: folder.directory + "/elsewhere")
    #expect(throws: PrivateFileError.self) { try RowKeys(files) }
    #expect(!FileManager.default.fileExists(atPath: folder.directory + "/elsewhere"))
    try FileManager.default.removeItem(atPath: lock)
    guard geteuid() == 0 else { return }
    _ = try RowKeys(files)
    #expect(chown(files.path, 12345, 12345) == 0)
    try FileManager.default.removeItem(atPath: lock)
    #expect(try RowKeys(existing: files) != nil)
    var status = stat()
    #expect(stat(lock, &status) == 0 && status.st_uid == 12345)
  }

  @Test func `that another process destroys are not written again by this one`() throws {
    let (here, there) = (try RowKeys(files), try reopened())
    let sealed = try sealed(by: here)
    try here.destroy(["order 1"])
    try there.destroy(["order 2"])
    try here.destroy(["order 3"])
    let keys = try reopened()
    #expect(keys.destroyed == ["order 1", "order 2", "order 3"])
    for row in rows {
      #expect(try (keys.open(#require(sealed[row]), of: row) == nil) == keys.destroyed.contains(row))
    }
  }

  @Test func `are refused from a file that was cut short, or of another store`() throws {
    let text = try {
      _ = try RowKeys(files); return try String(contentsOfFile: files.path, encoding: .utf8)
    }()
    for broken in [String(text.dropLast(5)), String(text.prefix(60)), "", "other\nlines\nof\nend\n"] {
      try PrivateFile.write(broken, to: files.path)
      #expect(throws: RowKeysError.unreadable(files.path)) { try RowKeys(existing: files) }
    }
    try FileManager.default.removeItem(atPath: files.path)
    _ = try RowKeys(RowKeys.Files(files.path))
    #expect(throws: RowKeysError.otherKeys) { try RowKeys(existing: files) }
    #expect(PrivateFile.isPrivate(files.path) == true)
  }

  @Test func `leave nothing of a former secret in the file that had it`() throws {
    let keys = try RowKeys(files)
    let (path, former) = (files.path, folder.directory + "/former")
    try FileManager.default.linkItem(atPath: path, toPath: former)
    try keys.destroy(["one"])
    #expect(try Data(contentsOf: URL(filePath: former)).allSatisfy { $0 == 0 })
  }
}
