import Foundation

/// The user whom a folder belongs to, such as the package's `tender`, where root works on it. Root would follow links that
/// a program of this user's puts there, and leave files that the user cannot read.
package struct FolderOwner: Sendable {
  package let user: UInt32
  package let group: UInt32

  /// The user as whom this process works at the moment.
  package static var current: FolderOwner { FolderOwner(user: geteuid(), group: getegid()) }

  fileprivate init(user: UInt32, group: UInt32) { (self.user, self.group) = (user, group) }

  /// Nil where this process is not root, or the folder is root's alone, and so is every one that leads to it.
  ///
  /// - Parameter folder: the one that a link leads to counts; where it is not there yet, the one in which it is made.
  /// - Throws: for a path with a link that is not root's, and for root's folder that another user owns one of, or may write
  ///   in: this user could lead root anywhere, also in the midst of its work.
  package init?(of folder: String) throws(PrivateFileError) {
    guard geteuid() == 0 else { return nil }
    let passed = try Self.passFolders(to: folder)
    guard let last = passed.last else { return nil }
    guard let other = passed.last(where: { $0.owner.user != 0 }) else {
      guard let shared = passed.last(where: \.isShared) else { return nil }
      throw PrivateFileError(
        path: shared.path,
        reason: "is root's, and others may write in it, who could lead root elsewhere: take that from them, "
          + "chmod go-w \(shared.path), or give it and what is in it to the user of the service, "
          + "chown -R USER:GROUP \(shared.path)")
    }
    guard last.owner.user != 0 else {
      throw PrivateFileError(
        path: last.path,
        reason: "is root's, in \(other.path) of user \(other.owner.user), who could exchange it: give it to this user, "
          + "chown \(other.owner.user):\(other.owner.group) \(last.path) and what is in it, or move it out of there")
    }
    self = last.owner
  }

  /// Works from here on as this user.
  package func become() throws(PrivateFileError) {
    guard setgroups(0, nil) == 0, setegid(group) == 0, seteuid(user) == 0 else {
      throw .system("a file", "cannot be written as the user \(user)")
    }
  }

  /// Makes or reads files in a folder as the user whose folder it is, also where this process is root's.
  ///
  /// - Parameter work: is told this user; nil where it works as the user who has called.
  package static func asOwner<R>(of folder: String, _ work: (FolderOwner?) throws -> R) throws -> R {
    try asCaller {
      let owner = try FolderOwner(of: folder)
      try owner?.become()
      defer { if owner != nil { becomeCaller() } }
      return try work(owner)
    }
  }

  /// Does what opens a file, such as a store, as the user whose folder it is in.
  ///
  /// - Parameter path: nil for a store that is no file.
  package static func asOwner<R>(besides path: String?, _ work: () async throws -> R) async throws -> R {
    let owner = try path.flatMap { try FolderOwner(of: URL(fileURLWithPath: $0).deletingLastPathComponent().path) }
    try owner?.become()
    // One that is the owner already goes on as the owner.
    defer { if owner != nil { becomeCaller() } }
    return try await work()
  }

  /// Does what concerns files elsewhere as the user who has called.
  package static func asCaller<R>(_ work: () throws -> R) rethrows -> R {
    let (user, group) = (geteuid(), getegid())
    becomeCaller()
    defer {
      setegid(group)
      seteuid(user)
    }
    return try work()
  }

  /// Refuses a folder in which something is another user's, where root is to read it: a link could lead root to what this
  /// user may not read.
  package static func requireWhole(_ folder: String) throws(PrivateFileError) {
    guard geteuid() == 0 else { return }
    for name in FileManager.default.subpaths(atPath: folder) ?? [] {
      var status = stat()
      guard lstat("\(folder)/\(name)", &status) == 0, status.st_uid != 0 else { continue }
      throw PrivateFileError(
        path: "\(folder)/\(name)",
        reason: "is of user \(status.st_uid) in root's folder; give both to one of them: chown -R root \(folder)")
    }
  }

  /// Works from here on as the user who has called.
  package static func becomeCaller() {
    seteuid(getuid())
    setegid(getgid())
  }

  /// Walks the path as the kernel does.
  ///
  /// - Returns: the folders that it passes, up to the last that is there.
  private static func passFolders(to path: String) throws(PrivateFileError) -> [Passed] {
    let start = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var rest = Array(start.split(separator: "/").map(String.init).reversed())
    var (place, links): ([String], Int) = ([], 0)
    let top = Passed(path: "/", owner: FolderOwner(user: 0, group: 0), isShared: false)
    // Those that lead to where it is now, and those that have led to a link.
    var (passed, led) = ([top], [Passed]())
    while let name = rest.popLast() {
      guard name != "." else { continue }
      guard name != ".." else {
        // Where a folder lies is no matter of its user's.
        if place.popLast() != nil { passed.removeLast() }
        continue
      }
      let current = "/" + (place + [name]).joined(separator: "/")
      var status = stat()
      guard lstat(current, &status) == 0 else { break }
      guard status.st_mode & S_IFMT == S_IFLNK else {
        place.append(name)
        passed.append(Passed(current, status))
        continue
      }
      links += 1
      guard status.st_uid == 0, links <= 40,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: current)
      else {
        throw PrivateFileError(path: current, reason: "is a link that is not root's; name the folder that it leads to")
      }
      rest += target.split(separator: "/").map(String.init).reversed()
      led += passed
      if target.hasPrefix("/") { (place, passed) = ([], [top]) }
    }
    return led + passed
  }

  fileprivate struct Passed {
    let path: String
    let owner: FolderOwner
    /// Whether others than its user may exchange what is in it. In a folder such as `/tmp` they may not.
    let isShared: Bool
  }
}

extension FolderOwner.Passed {
  fileprivate init(_ path: String, _ status: stat) {
    let (mode, group) = (status.st_mode, status.st_gid)
    self.init(
      path: path, owner: FolderOwner(user: status.st_uid, group: group),
      isShared: mode & 0o1000 == 0 && (mode & 0o002 != 0 || mode & 0o020 != 0 && group != 0))
  }
}
