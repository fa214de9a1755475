import Foundation
import NIOCore
import Storage

/// An argument names something that does not exist or has the wrong type: exit code 2.
package struct MistakenCall: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// An error as one line on the terminal. Errors of this package describe themselves.
package enum ErrorLine {
  package static func text(for error: any Error) -> String {
    switch error {
    case let error as StorageError: store(error)
    case let error as IOError: "the network failed: \(String(cString: strerror(error.errnoCode)))"
    case let error as CocoaError: file(error)
    default: "\(error)".replacingOccurrences(of: "\n", with: " ")
    }
  }

  private static func store(_ error: StorageError) -> String {
    switch error {
    case .busy: "another process holds the store: is a server running there already?"
    case .full: "the disk is full"
    case .outcomeUnknown: "the store did not say whether this was done: look at the payment before you repeat it"
    case .connection(let reason): "the store cannot be opened: \(reason)"
    case .other("file is not a database"): "this is no store of Tender: the file is no SQLite database"
    case .other(let reason): "the store refused: \(reason)"
    case .copyUnfinished: "a copy into this store is unfinished: run `tender store copy` again"
    case .migrationChanged(let name):
      "the store was made by another version of Tender (its migration \(name) has another text): run that version, "
        + "or begin with an empty store (for a demo: delete its folder, .tender)"
    case .migrationUnknown(let name):
      "this store was written by a newer version of Tender (this version does not know its migration \(name)): "
        + "run that version, or restore a backup that this version has written"
    case .otherVersions(let count):
      "\(count) \(count == 1 ? "connection is" : "connections are") of another version of Tender: "
        + "end the server or command first, or start this version there"
    default: "the store refused: \(error)"
    }
  }

  private static func file(_ error: CocoaError) -> String {
    (error.filePath.map { "\($0): " } ?? "") + reason(error)
  }

  /// The system's message, which is shorter than Foundation's.
  private static func reason(_ error: CocoaError) -> String {
    let number: Int32? =
      switch error.code {
      case .fileReadNoSuchFile, .fileNoSuchFile: ENOENT
      case .fileReadNoPermission, .fileWriteNoPermission: EACCES
      case .fileWriteOutOfSpace: ENOSPC
      case .fileWriteFileExists: EEXIST
      default: error.underlying.map { Int32(clamping: $0.code) }
      }
    return number.map { String(cString: strerror($0)) } ?? error.localizedDescription
  }
}

extension CocoaError {
  fileprivate var underlying: NSError? {
    (userInfo[NSUnderlyingErrorKey] as? NSError).flatMap { $0.domain == NSPOSIXErrorDomain ? $0 : nil }
  }
}
