import Foundation
import NIOCore
import NIOPosix

/// The socket that an agent listens at. Only its owner can open it.
struct AgentSocket: Sendable {
  private let channel: any Channel
  private let path: String
  /// The file that this agent made; nil if it was removed since.
  private let file: SocketFile?

  /// Listens at `path`. The socket is bound in a folder that only this user can enter, and moved to `path` after its mode
  /// and owner are set. It replaces a socket that a former process left, but not one that a process listens at.
  ///
  /// - Parameter owner: the user who may connect, if not the user that this process runs as; changing the owner needs the
  ///   privilege.
  init(listeningAt path: String, owner: UInt32?, _ bootstrap: ServerBootstrap) throws(SocketError) {
    try Self.requireFree(path)
    let draft = try SocketDraft(for: path)
    defer { draft.remove() }
    do { channel = try draft.bind(bootstrap) } catch { throw SocketError("cannot listen at \(path)", error) }
    do throws(SocketError) { try draft.publish(to: path, owner: owner) } catch {
      channel.close(promise: nil)
      throw error
    }
    self.path = path
    file = SocketFile(path)
  }

  /// Returns when the socket is closed.
  func untilClosed() async { try? await channel.closeFuture.get() }

  /// Removes the file, unless another agent has replaced it, and accepts no more connections.
  func close() {
    guard channel.isActive else { return }
    if let file, SocketFile(path) == file { unlink(path) }
    try? channel.close().wait()
  }

  /// Checks that `path` is free: nothing is there, or the socket of a process that has ended.
  private static func requireFree(_ path: String) throws(SocketError) {
    guard let file = SocketFile(path) else { return }
    guard file.isSocket else { throw SocketError("\(path) is there, and is no socket") }
    guard try !isListening(path) else { throw SocketError("another key agent listens at \(path)") }
  }

  private static func isListening(_ path: String) throws(SocketError) -> Bool {
    do {
      let bootstrap = ClientBootstrap(group: MultiThreadedEventLoopGroup.singleton)
      try bootstrap.connect(unixDomainSocketPath: path).wait().close(promise: nil)
      return true
    } catch {
      switch (error as? IOError)?.errnoCode {
      case ECONNREFUSED, ENOENT: return false
      // The queue of a process that listens there is full.
      case EAGAIN: return true
      default: throw SocketError("cannot connect to \(path)", error)
      }
    }
  }
}

/// A socket that is bound but not yet at its path: in a folder beside it, which only this user can enter.
///
/// The folder lies in one that may be another user's, who can exchange it at any moment. So what is in it is reached through
/// its descriptor, and never by its path.
private struct SocketDraft {
  private static let name = "s"

  private let folder: String
  private let descriptor: Int32

  /// Makes the folder. Removes what a killed process left of it.
  init(for path: String) throws(SocketError) {
    folder = path + ".d"
    if let left = Self.enter(folder) { Self.remove(left, folder) } else { rmdir(folder) }
    guard mkdir(folder, 0o700) == 0, let descriptor = Self.enter(folder) else {
      throw .system("cannot listen at \(path)")
    }
    self.descriptor = descriptor
  }

  /// Nil for what is no folder that only this user can enter.
  private static func enter(_ folder: String) -> Int32? {
    let descriptor = open(folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    var status = stat()
    guard fstat(descriptor, &status) == 0, status.st_uid == geteuid(), status.st_mode & 0o077 == 0 else {
      close(descriptor)
      return nil
    }
    return descriptor
  }

  func bind(_ bootstrap: ServerBootstrap) throws -> any Channel {
    try bootstrap.bind(unixDomainSocketPath: "\(folder)/\(Self.name)").wait()
  }

  /// Moves the socket to its path, when it has mode 0600. In this folder nobody else can have put a link in its place.
  func publish(to path: String, owner: UInt32?) throws(SocketError) {
    guard fchmodat(descriptor, Self.name, 0o600, 0) == 0 else { throw .system("cannot set the mode of \(path)") }
    if let owner, fchownat(descriptor, Self.name, owner, gid_t.max, AT_SYMLINK_NOFOLLOW) != 0 {
      throw .system("cannot give \(path) to user \(owner)")
    }
    guard renameat(descriptor, Self.name, AT_FDCWD, path) == 0 else { throw .system("cannot put \(path) in its place") }
  }

  func remove() { Self.remove(descriptor, folder) }

  private static func remove(_ descriptor: Int32, _ folder: String) {
    unlinkat(descriptor, name, 0)
    close(descriptor)
    rmdir(folder)
  }
}

/// Identifies the file at a path, to detect that another socket has replaced it.
private struct SocketFile: Equatable {
  private let device: UInt64
  private let inode: UInt64
  let isSocket: Bool

  /// Nil when nothing is there.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(truncatingIfNeeded: status.st_ino))
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
  }
}

extension SocketError {
  /// The error of the system call that has just failed.
  fileprivate static func system(_ what: String) -> SocketError { SocketError(what, errno) }

  /// An error of swift-nio.
  init(_ what: String, _ error: any Error) {
    switch error {
    case let error as IOError: self.init(what, error.errnoCode)
    case SocketAddressError.unixDomainSocketPathTooLong: self.init("\(what): its path is too long for a socket")
    case ChannelError.connectTimeout: self = .late
    default: self.init("\(what): \(error)")
    }
  }

  private init(_ what: String, _ number: Int32) { self.init("\(what): \(String(cString: strerror(number)))") }
}
