import Foundation

/// Locks the file against a second process: the group commit requires exclusive access.
///
/// The kernel drops the lock when the process ends, however it ends.
package final class StoreLock: Sendable {
  private let descriptor: Int32

  package init(path: String) throws {
    let descriptor = Self.openFile(beside: path)
    guard descriptor >= 0 else { throw StorageError.connection("cannot open \(path).lock: errno \(errno)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw StorageError.busy
    }
    self.descriptor = descriptor
  }

  /// Whether a process holds the file; false where no process has locked it yet.
  package static func isHeld(path: String) -> Bool {
    let descriptor = open(path + ".lock", O_RDONLY | O_CLOEXEC | O_NOFOLLOW)
    // What another user's process has locked may not be opened.
    guard descriptor >= 0 else { return errno == EACCES }
    defer { close(descriptor) }
    guard flock(descriptor, LOCK_SH | LOCK_NB) == 0 else { return true }
    flock(descriptor, LOCK_UN)
    return false
  }

  /// Opens the file that is locked in the place of another one, and makes it where it is not there.
  ///
  /// - Returns: the descriptor, or -1 with `errno`.
  static func openFile(beside path: String) -> Int32 {
    // No link: one of another user's would have root make a file where it leads.
    let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    if descriptor >= 0 { giveToOwner(descriptor, of: path) }
    return descriptor
  }

  /// As SQLite does with the files that root makes beside a database: the server could not open its own lock. Where there
  /// is no such file yet, the folder's owner gets it.
  private static func giveToOwner(_ descriptor: Int32, of path: String) {
    var (file, owned) = (stat(), stat())
    guard geteuid() == 0, fstat(descriptor, &file) == 0, file.st_uid == 0, file.st_size == 0, file.st_nlink == 1,
      lstat(path, &owned) == 0 || stat(URL(fileURLWithPath: path).deletingLastPathComponent().path, &owned) == 0
    else { return }
    fchown(descriptor, owned.st_uid, owned.st_gid)
  }

  /// Releases the lock, although an unused copy of the database may keep this value alive.
  package func release() { flock(descriptor, LOCK_UN) }

  /// To close the descriptor is not enough: a child process holds a copy of it between `fork` and `exec`.
  deinit {
    release()
    close(descriptor)
  }
}
