import Foundation
import HTTPTransport
import Storage

/// A file that the user who has called names, such as a backup or a key of age. It is read as this user also where the
/// command works as the owner of a folder.
enum CallersFile {
  /// Reads the beginning of a file.
  ///
  /// - Parameter limit: how many bytes at most.
  /// - Throws: `CallFailure` where there is none, for anything but a file, and for one that cannot be read.
  static func start(of path: String, atMost limit: Int) throws -> [UInt8] {
    try FolderOwner.asCaller {
      // What is no file is not opened: a pipe could be read once alone, and age reads it again.
      var status = stat()
      guard stat(path, &status) == 0 else {
        throw errno == ENOENT ? CallFailure("there is no file \(path)") : unreadable(path)
      }
      guard status.st_mode & S_IFMT == S_IFREG else {
        let isFolder = status.st_mode & S_IFMT == S_IFDIR
        throw CallFailure("\(path) is \(isFolder ? "a folder" : "no regular file"): name a file")
      }
      let file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
      guard file >= 0 else { throw unreadable(path) }
      defer { close(file) }
      var (bytes, count) = ([UInt8](repeating: 0, count: limit), 0)
      while count < limit {
        let size = bytes.withUnsafeMutableBytes { read(file, $0.baseAddress?.advanced(by: count), $0.count - count) }
        guard size >= 0 || errno == EINTR else { throw unreadable(path) }
        guard size != 0 else { break }
        count += max(size, 0)
      }
      return Array(bytes.prefix(count))
    }
  }

  private static func unreadable(_ path: String) -> CallFailure {
    CallFailure("\(path) cannot be read: \(String(cString: strerror(errno)))")
  }
}
