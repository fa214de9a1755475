import Foundation

/// Locks the file against a second process: the group commit requires exclusive access.
///
/// The kernel drops the lock when the process ends, however it ends.
package final class StoreLock: Sendable {
  private let descriptor: Int32

  package init(path: String) throws {
    // No link: one of another user's would have root make a file where it leads.
    let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0o600)
    guard descriptor >= 0 else { throw StorageError.connection("cannot open \(path).lock: errno \(errno)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw StorageError.busy
    }
    self.descriptor = descriptor
  }

  /// Releases the lock, although an unused copy of the database may keep this value alive.
  package func release() { flock(descriptor, LOCK_UN) }

  /// To close the descriptor is not enough: a child process holds a copy of it between `fork` and `exec`.
  deinit {
    release()
    close(descriptor)
  }
}
