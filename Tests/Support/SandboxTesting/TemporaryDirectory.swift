import Foundation

/// A directory that is removed with the value.
package final class TemporaryDirectory: Sendable {
  package let path: String

  package init() throws {
    path = FileManager.default.temporaryDirectory.appending(path: "tender-sandbox-\(UUID().uuidString)").path
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
  }

  deinit { try? FileManager.default.removeItem(atPath: path) }

  /// Writes a file and returns its path.
  package func file(_ name: String, _ bytes: [UInt8]) throws -> String {
    try Data(bytes).write(to: URL(filePath: "\(path)/\(name)"))
    return "\(path)/\(name)"
  }

  package func file(_ name: String, _ text: String) throws -> String { try file(name, Array(text.utf8)) }
}

extension TemporaryDirectory {
  /// The permissions of the files of a directory whose names have this ending.
  package static func fileModes(in directory: String, ending: String) throws -> [Int] {
    try FileManager.default.contentsOfDirectory(atPath: directory).filter { $0.hasSuffix(ending) }.map { name in
      let attributes = try FileManager.default.attributesOfItem(atPath: "\(directory)/\(name)")
      return (attributes[.posixPermissions] as? NSNumber)?.intValue ?? -1
    }
  }
}
