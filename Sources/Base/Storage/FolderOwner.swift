import Foundation

/// The user whom a folder belongs to, such as the package's `tender`, where root works on it. Root would follow links that
/// a program of this user's puts there, and leave files that the user cannot read.
package struct FolderOwner: Sendable {
  package let user: UInt32
  package let group: UInt32

  /// Nil where this process is not root's, or the folder is.
  ///
  /// - Parameter folder: the one that a link leads to counts; where it is not there yet, the one in which it is made.
  /// - Throws: for a path with a link that is not root's: its user could lead root anywhere.
  package init?(of folder: String) throws(PrivateFileError) {
    guard geteuid() == 0 else { return nil }
    try Self.requireLinksOfRoot(folder)
    var place = URL(fileURLWithPath: folder).resolvingSymlinksInPath()
    while place.path != "/", !FileManager.default.fileExists(atPath: place.path) { place.deleteLastPathComponent() }
    var status = stat()
    guard stat(place.path, &status) == 0, status.st_uid != 0 else { return nil }
    (user, group) = (status.st_uid, status.st_gid)
  }

  /// Works from here on as this user.
  package func become() throws(PrivateFileError) {
    guard setgroups(0, nil) == 0, setegid(group) == 0, seteuid(user) == 0 else {
      throw .system("a file", "cannot be written as the user \(user)")
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

  /// Works from here on as the user who has called.
  package static func becomeCaller() {
    seteuid(getuid())
    setegid(getgid())
  }

  /// Walks the path as the kernel does.
  private static func requireLinksOfRoot(_ path: String) throws(PrivateFileError) {
    let start = path.hasPrefix("/") ? path : FileManager.default.currentDirectoryPath + "/" + path
    var rest = Array(start.split(separator: "/").map(String.init).reversed())
    var (place, links): ([String], Int) = ([], 0)
    while let name = rest.popLast() {
      guard name != "." else { continue }
      guard name != ".." else {
        _ = place.popLast()
        continue
      }
      let current = "/" + (place + [name]).joined(separator: "/")
      var status = stat()
      guard lstat(current, &status) == 0, status.st_mode & S_IFMT == S_IFLNK else {
        place.append(name)
        continue
      }
      links += 1
      guard status.st_uid == 0, links <= 40,
        let target = try? FileManager.default.destinationOfSymbolicLink(atPath: current)
      else {
        throw PrivateFileError(path: current, reason: "is a link that is not root's; name the folder that it leads to")
      }
      if target.hasPrefix("/") { place = [] }
      rest += target.split(separator: "/").map(String.init).reversed()
    }
  }
}
