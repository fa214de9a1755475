#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

/// Why a socket did not do what it should.
struct SocketError: Error {
  let reason: String
  /// Whether the other side had gone before it could have seen anything.
  let isStale: Bool

  init(_ reason: String, isStale: Bool = false) {
    self.reason = reason
    self.isStale = isStale
  }

  static func system(_ what: String) -> SocketError { SocketError("\(what): \(String(cString: strerror(errno)))") }
}

/// A moment that does not move with the clock on the wall.
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

/// A stream socket of this machine. It never blocks without a deadline, and a reader that went away is an error and no
/// signal.
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

  /// Wakes whoever waits on it; nothing can be sent or received afterwards.
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

  /// Exactly so many bytes; nil when the other side closed before the first one.
  func read(_ count: Int, by deadline: Deadline) throws(SocketError) -> [UInt8]? {
    // Of its full length from the beginning: a buffer that grows leaves copies of what was read.
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

  /// A socket that only its owner can open, from the first moment on: it gets its place in the file system after its
  /// mode. One that a former process left there is replaced; one that somebody listens at is not.
  ///
  /// - Parameter owner: who may connect, if not the user that this process runs as; giving it away takes the right to.
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

  /// Whether anything may be put at `path`: nothing is there, or the socket of a process that has ended.
  private static func requireFree(_ path: String) throws(SocketError) {
    guard let place = SocketPlace(path) else { return }
    guard place.isSocket else { throw SocketError("\(path) is there, and is no socket") }
    let socket = try UnixSocket(try open())
    let result = try withAddress(path) { connect(socket.descriptor, $0, $1) }
    // Its queue is full, and so somebody has it.
    guard result != 0, errno != EAGAIN else { throw SocketError("another key agent listens at \(path)") }
    guard errno == ECONNREFUSED || errno == ENOENT else { throw .system("cannot look who listens at \(path)") }
  }

  /// The next connection; nil when this socket was hung up.
  func accepted() throws(SocketError) -> UnixSocket? {
    while true {
      var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      guard poll(&entry, 1, -1) > 0 || errno == EINTR else { return nil }
      // A socket that was hung up says so here, and only here: accepting from it would go on answering "not yet".
      guard entry.revents & Int16(POLLHUP | POLLERR | POLLNVAL) == 0 else { return nil }
      let connection = accept(descriptor, nil, nil)
      if connection >= 0 { return try UnixSocket(connection) }
      guard errno == EAGAIN || errno == EINTR || errno == ECONNABORTED || errno == EMFILE else { return nil }
    }
  }

  /// The user at the other end, as the kernel knows it.
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

/// What stands at a path, so that one socket can be told from another that took its place.
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
  /// The kernel's `struct ucred` of unix(7), which the C library shows only to those who ask for GNU's extensions.
  private struct PeerCredentials {
    var process: Int32 = 0
    var uid: UInt32 = 0
    var group: UInt32 = 0
  }
#endif
