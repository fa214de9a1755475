/// Why a backup is not restored. Nothing has changed then.
package enum BackupRefusal: Error, Sendable, Hashable, CustomStringConvertible {
  /// It cannot be decrypted or read whole, or its audit chain is broken.
  case damaged(String)
  /// It is no backup of Tender's, or one of another installation.
  case foreign(String)
  /// An older version has written it: these migrations are missing.
  case older([String])
  /// A newer version has written it: these migrations are not known here.
  case newer([String])

  package var code: String {
    switch self {
    case .damaged: "backup_damaged"
    case .foreign: "backup_foreign"
    case .older: "backup_older"
    case .newer: "backup_newer"
    }
  }

  package var description: String {
    switch self {
    case .damaged(let reason): "\(code): \(reason). Take another backup."
    case .foreign(let reason): "\(code): \(reason)"
    case .older(let names):
      "\(code): an older version of Tender has written it, without \(names.joined(separator: ", ")). "
        + "Restore it with that version, or bring it to this one's tables with --migrate."
    case .newer(let names):
      "\(code): a newer version of Tender has written it, which this one does not know "
        + "(\(names.joined(separator: ", "))). Install that version."
    }
  }
}
