import Foundation
import Storage

/// The database file of a store, looked at without opening it as one.
package enum StoreFile {
  /// What every SQLite file begins with, <https://www.sqlite.org/fileformat.html#the_database_header>.
  private static let header = Array("SQLite format 3\0".utf8)

  /// - Throws: ``ConfigurationError`` when the file cannot be read, or is no database. An empty file is a new store.
  package static func check(_ path: String) throws {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw ConfigurationError(path, "cannot be read: \(String(cString: strerror(errno)))") }
    defer { close(descriptor) }
    var bytes = [UInt8](repeating: 0, count: header.count)
    let count = read(descriptor, &bytes, bytes.count)
    guard count >= 0 else { throw ConfigurationError(path, "cannot be read: \(String(cString: strerror(errno)))") }
    guard count == 0 || bytes == header else {
      throw ConfigurationError(path, "is no store of Tender: the file is no SQLite database; name the server's store")
    }
  }
}
