import Foundation
import Storage

/// The directory in which the sandbox keeps what must outlive a restart, as plain PEM and JSON files.
///
/// The directory is the owner's alone (0700) and so is every file that holds a key (0600).
package struct StateDirectory: Sendable {
  package let path: String

  package init(path: String) throws {
    self.path = path
    try PrivateFile.makeFolder(path)
  }

  /// A directory below this one, created when it is missing.
  package func subdirectory(_ name: String) throws -> StateDirectory { try StateDirectory(path: "\(path)/\(name)") }

  /// The file's text; nil when there is none. A file that is there and cannot be read is an error.
  package func text(_ name: String) throws -> String? {
    let file = "\(path)/\(name)"
    guard FileManager.default.fileExists(atPath: file) else { return nil }
    return try String(contentsOfFile: file, encoding: .utf8)
  }

  /// Replaces the file as a whole: a reader sees the old text or the new one, never a part.
  package func write(_ text: String, to name: String, isPrivate: Bool = false) throws {
    guard !isPrivate else { return try PrivateFile.write(text, to: "\(path)/\(name)") }
    let draft = "\(path)/.\(name).new"
    guard
      FileManager.default.createFile(atPath: draft, contents: Data(text.utf8), attributes: [.posixPermissions: 0o644])
    else { throw CocoaError(.fileWriteUnknown) }
    guard rename(draft, "\(path)/\(name)") == 0 else { throw CocoaError(.fileWriteUnknown) }
  }
}
