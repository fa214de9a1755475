#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a socket operation failed.
struct SocketError: Error {
  let reason: String
  /// Whether the peer had closed the connection before it could receive anything.
  let isStale: Bool

  init(_ reason: String, isStale: Bool = false) {
    self.reason = reason
    self.isStale = isStale
  }

  static func system(_ what: String) -> SocketError { SocketError("\(what): \(String(cString: strerror(errno)))") }
}

/// A deadline on the monotonic clock, independent of the time of day.
struct Deadline: Sendable {
  private let moment: ContinuousClock.Instant

  init(in patience: Duration) { moment = .now + patience }

  /// For `poll`: zero when it has passed.
  var milliseconds: Int32 {
    let left = ContinuousClock.now.duration(to: moment)
    guard left > .zero else { return 0 }
    return Int32(
      min(left.components.seconds * 1_000 + left.components.attoseconds / 1_000_000_000_000_000 + 1, 600_000))
  }
}

/// A Unix stream socket. It never blocks without a deadline, and a closed peer causes an error, not a signal.
final class UnixSocket: Sendable {
  let descriptor: Int32

  init(_ descriptor: Int32) throws(SocketError) {
    self.descriptor = descriptor
    guard fcntl(descriptor, F_SETFL, O_NONBLOCK) == 0, fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else {
      close(descriptor)
      throw .system("cannot prepare a socket")
    }
  }

  deinit { close(descriptor) }

  /// Wakes the threads that wait on the socket; nothing can be sent or received afterwards.
  func hangUp() { shutdown(descriptor, Int32(SHUT_RDWR)) }

  func write(_ bytes: [UInt8], by deadline: Deadline) throws(SocketError) {
    var sent = 0
    while sent < bytes.count {
      try wait(for: Int16(POLLOUT), by: deadline)
      let count = bytes[sent...].withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Self.noSignal) }
      guard count > 0 || errno == EAGAIN || errno == EINTR else {
        throw SocketError("the connection broke", isStale: sent == 0)
      }
      sent += max(count, 0)
    }
  }

  /// Reads exactly `count` bytes; nil when the peer closed before the first one.
  func read(_ count: Int, by deadline: Deadline) throws(SocketError) -> [UInt8]? {
    // Allocated in full at once: a growing buffer would leave copies of the bytes in memory.
    var (bytes, filled) = ([UInt8](repeating: 0, count: count), 0)
    while filled < count {
      try wait(for: Int16(POLLIN), by: deadline)
      let size = bytes.withUnsafeMutableBytes {
        recv(descriptor, $0.baseAddress?.advanced(by: filled), $0.count - filled, 0)
      }
      if size < 0 {
        guard errno == EAGAIN || errno == EINTR else {
          throw SocketError("the connection broke", isStale: filled == 0)
        }
        continue
      }
      guard size > 0 else {
        guard filled == 0 else { throw SocketError("the connection ended inside a message") }
        return nil
      }
      filled += size
    }
    return bytes
  }

  private func wait(for events: Int16, by deadline: Deadline) throws(SocketError) {
    while true {
      var entry = pollfd(fd: descriptor, events: events, revents: 0)
      let ready = poll(&entry, 1, deadline.milliseconds)
      if ready > 0 { return }
      guard ready == 0 || errno == EINTR else { throw .system("cannot wait on a socket") }
      guard deadline.milliseconds > 0 else { throw SocketError("no answer in time") }
    }
  }

  #if canImport(Darwin)
    private static let noSignal: Int32 = 0
  #else
    private static let noSignal = Int32(MSG_NOSIGNAL)
  #endif
}

extension UnixSocket {
  static func connected(to path: String) throws(SocketError) -> UnixSocket {
    let socket = try UnixSocket(try open())
    let result = try withAddress(path) { connect(socket.descriptor, $0, $1) }
    guard result == 0 else { throw .system(path) }
    return socket
  }

  /// Listens at `path`. Only the owner can open the socket: its mode is set before it is moved to `path`. A socket that
  /// a former process left is replaced; one that a process listens at is not.
  ///
  /// - Parameter owner: the user who may connect, if not the user that this process runs as; changing the owner needs
  ///   the privilege.
  static func listening(at path: String, owner: UInt32?) throws(SocketError) -> UnixSocket {
    try requireFree(path)
    let socket = try UnixSocket(try open())
    let draft = path + ".new"
    unlink(draft)
    let mask = umask(0o177)
    let bound = try withAddress(draft) { bind(socket.descriptor, $0, $1) }
    umask(mask)
    guard bound == 0 else { throw .system("cannot make \(path)") }
    guard chmod(draft, 0o600) == 0, listen(socket.descriptor, 128) == 0 else {
      throw .system("cannot listen at \(path)")
    }
    if let owner, chown(draft, owner, gid_t.max) != 0 { throw .system("cannot give \(path) to user \(owner)") }
    guard rename(draft, path) == 0 else { throw .system("cannot put \(path) in its place") }
    return socket
  }

  /// Checks that `path` is free: nothing is there, or the socket of a process that has ended.
  private static func requireFree(_ path: String) throws(SocketError) {
    guard let place = SocketPlace(path) else { return }
    guard place.isSocket else { throw SocketError("\(path) is there, and is no socket") }
    let socket = try UnixSocket(try open())
    let result = try withAddress(path) { connect(socket.descriptor, $0, $1) }
    // EAGAIN means that its queue is full, so a process listens there.
    guard result != 0, errno != EAGAIN else { throw SocketError("another key agent listens at \(path)") }
    guard errno == ECONNREFUSED || errno == ENOENT else { throw .system("cannot look who listens at \(path)") }
  }

  /// The next connection; nil when this socket was closed by `hangUp()`.
  func accepted() throws(SocketError) -> UnixSocket? {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, -1) > 0 || errno == EINTR else { return nil }
      // Only `poll` reports that the socket was closed; `accept` would keep returning EAGAIN.
      guard entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return nil }
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 { return try UnixSocket(connection) }
      guard errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EMFILE else { return nil }
    }
  }

  /// The user id of the peer, from the kernel.
  var peer: UInt32? {
    #if canImport(Darwin)
      var (user, group) = (uid_t(), gid_t())
      return getpeereid(descriptor, &user, &group) == 0 ? user : nil
    #else
      var credentials = PeerCredentials()
      var size = socklen_t(MemoryLayout<PeerCredentials>.size)
      guard getsockopt(descriptor, SOL_SOCKET, SO_PEERCRED, &credentials, &size) == 0 else { return nil }
      return credentials.uid
    #endif
  }

  private static func open() throws(SocketError) -> Int32 {
    #if canImport(Darwin)
      let descriptor = socket(AF_UNIX, SOCK_STREAM, 0)
    #else
      let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
    #endif
    guard descriptor >= 0 else { throw .system("cannot make a socket") }
    return descriptor
  }

  private static func withAddress(
    _ path: String, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
  ) throws(SocketError) -> Int32 {
    var address = sockaddr_un()
    address.sun_family = sa_family_t(AF_UNIX)
    let capacity = MemoryLayout.size(ofValue: address.sun_path)
    guard path.utf8.count < capacity else {
      throw SocketError("\(path) is too long for a socket's path: at most \(capacity - 1) bytes")
    }
    withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.utf8)) }
    return withUnsafePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_un>.size)) }
    }
  }
}

/// Identifies the file at a path, to detect that another socket has replaced it.
struct SocketPlace: Equatable {
  private let device: UInt64
  private let inode: UInt64
  let isSocket: Bool

  /// Nil when nothing is there.
  init?(_ path: String) {
    var status = stat()
    guard lstat(path, &status) == 0 else { return nil }
    (device, inode) = (UInt64(truncatingIfNeeded: status.st_dev), UInt64(status.st_ino))
    isSocket = status.st_mode & S_IFMT == S_IFSOCK
  }
}

#if !canImport(Darwin)
  /// The kernel's `struct ucred` of unix(7), which the C library declares only with GNU extensions.
  private struct PeerCredentials {
    var process: Int32 = 0
    var uid: UInt32 = 0
    var group: UInt32 = 0
  }
#endif
