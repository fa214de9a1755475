import Foundation
import GRDB

extension SQLiteEngine {
  /// Copies all pages as they are at one moment, into a new private file.
  static func copy(_ source: DatabaseQueue, to path: String) throws {
    let descriptor = Foundation.open(path, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StorageError.connection("cannot make \(path): errno \(errno)") }
    close(descriptor)
    try StorageError.translating {
      let target = try DatabaseQueue(path: path)
      try source.backup(to: target)
      try target.close()
    }
  }

  /// A file that another process may use, for reading alone.
  static func openReadOnly(_ path: String) throws -> DatabaseQueue {
    var configuration = Configuration()
    configuration.readonly = true
    configuration.busyMode = .timeout(5)
    return try StorageError.translating { try DatabaseQueue(path: path, configuration: configuration) }
  }
}

extension Database {
  /// Copies an SQLite file as it is at one moment into a new one. A server may use it meanwhile.
  package static func copy(file path: String, to target: String) throws {
    let source = try SQLiteEngine.openReadOnly(path)
    defer { try? source.close() }
    try SQLiteEngine.copy(source, to: target)
  }

  /// What SQLite finds wrong in the pages of a file; empty for a sound one.
  package static func damage(inFile path: String) throws -> [String] {
    let source = try SQLiteEngine.openReadOnly(path)
    defer { try? source.close() }
    return try StorageError.translating {
      try source.read { try String.fetchAll($0, sql: "PRAGMA integrity_check(10)") }.filter { $0 != "ok" }
    }
  }
}
