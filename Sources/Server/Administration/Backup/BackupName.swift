import Foundation
import TenderPayments

/// The names of a backup's two files: `tender-20261129T160000Z-5f3a91c2.store.age` and, of the same backup, `….keys.age`.
/// They sort by time.
package struct BackupName: Sendable, Hashable, Comparable {
  package let id: String

  /// - Parameters:
  ///   - time: when the backup begins.
  ///   - random: tells two backups of one second apart.
  init(at time: Timestamp, random: RandomBytes) {
    id = "tender-\(Self.time(time))-\(random.hex(4))"
  }

  /// A moment as names have it.
  static func time(_ time: Timestamp) -> String {
    time.description.prefix(19).filter { $0 != "-" && $0 != ":" } + "Z"
  }

  /// When the backup began, by its name.
  var time: String { String(id.dropFirst("tender-".count).prefix(16)) }

  /// Nil for the name of another file.
  init?(file: String) {
    let name = file.split(separator: "/").last.map(String.init) ?? ""
    guard let match = name.wholeMatch(of: #/(tender-\d{8}T\d{6}Z-[0-9a-f]{8})\.(?:store|keys)\.age/#) else {
      return nil
    }
    id = String(match.output.1)
  }

  var store: String { id + ".store.age" }
  var keys: String { id + ".keys.age" }

  package static func < (one: BackupName, other: BackupName) -> Bool { one.id < other.id }

  /// The backups of a folder, oldest first.
  static func all(in folder: String) throws -> [BackupName] {
    Set(try FileManager.default.contentsOfDirectory(atPath: folder).compactMap { BackupName(file: $0) }).sorted()
  }
}
