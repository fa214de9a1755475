import Foundation
import TenderPayments

/// Files that hold private keys and secrets. Only their owner can read them from their creation on, whatever the umask.
package enum PrivateFile {
  /// Writes a file atomically, with mode 0600, and flushes it to disk. Creates missing folders with mode 0700.
  ///
  /// - Parameter owner: whose file it becomes, where root writes it; nil for the one who writes.
  package static func write(_ text: String, to path: String, of owner: FolderOwner? = nil) throws(PrivateFileError) {
    let (folder, name) = split(path)
    try makeFolder(folder)
    let draft = "\(folder)/.\(name).new"
    // A killed process may have left one.
    unlink(draft)
    let descriptor = open(draft, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .system(path, "cannot be made") }
    defer { close(descriptor) }
    try give(descriptor, to: owner, path)
    try fill(descriptor, with: text, of: path)
    guard rename(draft, path) == 0 else { throw .system(path, "cannot be written") }
    try flush(folder)
  }

  /// Writes a file as ``write(_:to:)`` does, unless there is one of this name. Of several callers at once, in this
  /// process and others, one writes, and every caller finds the file whole afterwards.
  ///
  /// - Returns: whether this call has written it.
  @discardableResult
  package static func writeFirst(
    _ text: String, to path: String, of owner: FolderOwner? = nil
  ) throws(PrivateFileError) -> Bool {
    let (folder, name) = split(path)
    try makeFolder(folder)
    var draft = Array("\(folder)/.\(name).XXXXXX".utf8CString)
    // Its mode is 0600.
    let descriptor = mkstemp(&draft)
    guard descriptor >= 0 else { throw .system(path, "cannot be made") }
    defer {
      close(descriptor)
      unlink(draft)
    }
    try give(descriptor, to: owner, path)
    try fill(descriptor, with: text, of: path)
    let isFirst = link(draft, path) == 0
    guard isFirst || errno == EEXIST else { throw .system(path, "cannot be written") }
    try flush(folder)
    return isFirst
  }

  /// Creates a folder and its missing parents with mode 0700. An existing folder is not changed.
  package static func makeFolder(_ path: String) throws(PrivateFileError) {
    guard !path.isEmpty, !isFolder(path) else { return }
    let parent = split(path).folder
    if parent != path { try makeFolder(parent) }
    // The umask can remove permissions, so they are set again; it cannot add any.
    if mkdir(path, 0o700) == 0, chmod(path, 0o700) == 0 { return }
    guard errno == EEXIST, isFolder(path) else { throw .system(path, "cannot be made") }
  }

  /// Makes the first of a path's folders that is missing, for another user, who makes the others. The folder in which it is
  /// made is root's, as is every one that leads there.
  package static func makeFirstFolder(of path: String, for owner: FolderOwner) throws(PrivateFileError) {
    guard !isFolder(path) else { return }
    let parent = split(path).folder
    guard isFolder(parent) else { return try makeFirstFolder(of: parent, for: owner) }
    guard mkdir(path, 0o700) == 0 else { throw .system(path, "cannot be made") }
    let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path, "cannot be opened") }
    defer { close(descriptor) }
    try give(descriptor, to: owner, path)
  }

  /// By the descriptor: its user could exchange what a path names.
  private static func give(
    _ descriptor: Int32, to owner: FolderOwner?, _ path: String
  ) throws(PrivateFileError) {
    guard let owner, fchown(descriptor, owner.user, owner.group) != 0 else { return }
    throw .system(path, "cannot be given to the user \(owner.user)")
  }

  /// Moves a file within a file system, durably: it has its new name whole or not at all. Another file of this name is not
  /// replaced.
  package static func move(_ path: String, to target: String) throws(PrivateFileError) {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path, "cannot be read") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0, link(path, target) == 0 else { throw .system(target, "cannot be written") }
    unlink(path)
    try flush(split(target).folder)
  }

  /// A new folder with mode 0700 for files that are not whole yet, on the file system of their place.
  package static func makeWorkFolder(in folder: String) throws(PrivateFileError) -> String {
    try makeFolder(folder)
    var name = Array("\(folder)/.work.XXXXXX".utf8CString)
    guard mkdtemp(&name) != nil else { throw .system(folder, "cannot hold a new folder") }
    return String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
  }

  /// Reads a file that only its owner may read. Permissions and text come from the same open file.
  ///
  /// A file of root may be readable by its group, because a service that is not root receives its keys that way.
  ///
  /// - Parameter maximum: how many bytes it may have; by default more than a key has.
  /// - Throws: ``PrivateFileError``; with the command that corrects the permissions when others may read the file.
  package static func text(_ path: String, atMost maximum: Int = maximumBytes) throws(PrivateFileError) -> String {
    let descriptor = open(path, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(path, "cannot be read") }
    defer { close(descriptor) }
    var status = stat()
    guard fstat(descriptor, &status) == 0 else { throw .system(path, "cannot be read") }
    guard isPrivate(status) else {
      throw PrivateFileError(path: path, reason: "can be read by others than its owner; run: chmod 600 \(path)")
    }
    return try text(of: descriptor, path, atMost: max(maximumBytes, min(maximum, Int(status.st_size) + 1)))
  }

  /// Whether ``text(_:)`` takes the file's permissions; nil where there is no file.
  package static func isPrivate(_ path: String) -> Bool? {
    var status = stat()
    return stat(path, &status) == 0 ? isPrivate(status) : nil
  }

  private static func isPrivate(_ status: stat) -> Bool {
    status.st_mode & (status.st_uid == 0 && geteuid() != 0 ? 0o027 : 0o077) == 0
  }

  private static func fill(_ descriptor: Int32, with text: String, of path: String) throws(PrivateFileError) {
    var bytes = Array(text.utf8)
    defer { bytes.wipe() }
    try write(bytes, to: descriptor, of: path)
    guard fsync(descriptor) == 0 else { throw .system(path, "cannot be written") }
  }

  private static func write(_ bytes: [UInt8], to descriptor: Int32, of path: String) throws(PrivateFileError) {
    var rest = bytes[...]
    while !rest.isEmpty {
      let count = rest.withUnsafeBytes { Foundation.write(descriptor, $0.baseAddress, $0.count) }
      guard count > 0 || errno == EINTR else { throw .system(path, "cannot be written") }
      rest = rest.dropFirst(max(count, 0))
    }
  }

  /// A longer file cannot be a key.
  package static let maximumBytes = 1 << 16

  private static func text(
    of descriptor: Int32, _ path: String, atMost maximumBytes: Int
  ) throws(PrivateFileError) -> String {
    var (bytes, count) = ([UInt8](repeating: 0, count: maximumBytes), 0)
    defer { bytes.wipe() }
    while count < maximumBytes {
      // Not through a slice, which would copy the secret.
      let size = bytes.withUnsafeMutableBytes {
        Foundation.read(descriptor, $0.baseAddress?.advanced(by: count), $0.count - count)
      }
      guard size >= 0 || errno == EINTR else { throw .system(path, "cannot be read") }
      guard size != 0 else { return try text(bytes[..<count], of: path) }
      count += max(size, 0)
    }
    throw PrivateFileError(path: path, reason: "is longer than a key can be")
  }

  private static func text(_ bytes: ArraySlice<UInt8>, of path: String) throws(PrivateFileError) -> String {
    guard let text = String(validating: bytes, as: UTF8.self) else {
      let advice =
        bytes.first == 0x30 ? "; if it is a key in DER: openssl pkey -inform der -in \(path) -out key.pem" : ""
      throw PrivateFileError(path: path, reason: "is no text in UTF-8\(advice)")
    }
    return text
  }

  /// Makes the file's name durable.
  private static func flush(_ folder: String) throws(PrivateFileError) {
    let descriptor = open(folder, O_RDONLY | O_CLOEXEC)
    guard descriptor >= 0 else { throw .system(folder, "cannot be opened") }
    defer { close(descriptor) }
    guard fsync(descriptor) == 0 else { throw .system(folder, "cannot be written") }
  }

  private static func isFolder(_ path: String) -> Bool {
    var status = stat()
    return stat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private static func split(_ path: String) -> (folder: String, name: String) {
    guard let slash = path.lastIndex(of: "/") else { return (".", path) }
    let folder = slash == path.startIndex ? "/" : String(path[..<slash])
    return (folder, String(path[path.index(after: slash)...]))
  }
}

/// Why a file with a key or a secret cannot be used, and what to do.
package struct PrivateFileError: Error, Sendable, CustomStringConvertible {
  package let path: String
  package let reason: String
  package var description: String { "\(path) \(reason)" }

  static func system(_ path: String, _ what: String) -> PrivateFileError {
    PrivateFileError(path: path, reason: "\(what): \(String(cString: strerror(errno)))")
  }
}
