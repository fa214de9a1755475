import Foundation

/// Keeps a second process away from the same file: the group commit and the guards count on being alone.
///
/// The kernel drops the lock when the process ends, however it ends.
final class StoreLock: Sendable {
  private let descriptor: Int32

  init(path: String) throws {
    let descriptor = open(path + ".lock", O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw StorageError.connection("cannot open \(path).lock: errno \(errno)") }
    guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
      close(descriptor)
      throw StorageError.busy
    }
    self.descriptor = descriptor
  }

  /// Lets the next process in, although the value may live on in a copy of the database that nobody uses any more.
  func release() { flock(descriptor, LOCK_UN) }

  deinit { close(descriptor) }
}
