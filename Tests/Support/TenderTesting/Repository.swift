package import Foundation

/// The tree that the tests were built from.
package enum Repository {
  /// The folder of `Package.swift`.
  package static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../..")
    .standardized

  /// - Parameter path: from the root.
  package static func url(_ path: String) -> URL { root.appending(path: path) }

  /// - Parameter path: of a file, from the root.
  package static func text(_ path: String) throws -> String { try String(contentsOf: url(path), encoding: .utf8) }
}
