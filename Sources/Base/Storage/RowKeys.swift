import Crypto
import Foundation
import Synchronization
package import TenderPayments

/// Keys that seal texts in the database: one for each row, which can be destroyed for good.
///
/// No row's key is stored. A file beside the database has the secret of a tree's root. A secret gives those of its
/// sixteen children, and twelve digits of the hash of a row's name lead to its leaf. To destroy a key, the file is
/// written anew: in place of a secret on the path to the leaf it has the secrets beside the path. Every other key still
/// follows from the file, and this one from nothing, whatever backup of the database still has the row.
///
/// The file also lists the rows whose keys are destroyed, so that what else a restored database has of them is found.
package final class RowKeys: Sendable {
  /// Where the secrets are.
  package struct Files: Sendable, Hashable {
    package let path: String
    /// A second file on another disk or machine, written at every change; nil for no copy.
    package let copy: String?

    package init(_ path: String, copy: String? = nil) { (self.path, self.copy) = (path, copy) }

    /// Whether there is the file, or its copy.
    package var isThere: Bool { [path, copy].compactMap(\.self).contains(where: FileManager.default.fileExists) }
  }

  /// Nil for keys that end with the process.
  private let files: Files?
  private let tree: Mutex<KeyTree>
  /// Held by the one change that is under way; who seals meanwhile does not wait for the disk.
  private let changing = Mutex(())

  /// Keys without a file, for a store that ends with the process.
  package init(random: RandomBytes = .system) {
    files = nil
    tree = Mutex(KeyTree(random: random))
  }

  /// Reads the file, or its copy where there is no file. Where both are, what either of them has destroyed is
  /// destroyed.
  ///
  /// - Returns: nil when there is neither.
  /// - Throws: ``RowKeysError``, or `PrivateFileError`.
  package convenience init?(existing files: Files) throws {
    guard let tree = try KeyTree(merging: files) else { return nil }
    try self.init(tree, files)
  }

  /// Makes the file where there is neither file nor copy.
  package convenience init(_ files: Files, random: RandomBytes = .system) throws {
    if try KeyTree(merging: files) == nil {
      try PrivateFile.writeFirst(KeyTree(random: random).text, to: files.path)
    }
    guard let tree = try KeyTree(merging: files) else { throw RowKeysError.unreadable(files.path) }
    try self.init(tree, files)
  }

  /// The rows whose keys are destroyed in one file, which stays as it is; nil where there is none.
  package static func destroyed(inFile path: String) throws -> Set<String>? { try KeyTree(file: path)?.destroyed }

  private init(_ tree: KeyTree, _ files: Files) throws {
    self.files = files
    self.tree = Mutex(tree)
    try change(needsCopy: false) { _ in }
  }

  /// Every file that was made from the first has this name, whatever was destroyed. It is no secret.
  package var name: [UInt8] { Array(tree.withLock(\.name).utf8) }

  /// The rows whose keys are destroyed.
  package var destroyed: Set<String> { tree.withLock(\.destroyed) }

  /// Seals a text. The same text of the same row is the same bytes.
  ///
  /// - Returns: nil when the row's key is destroyed.
  package func seal(_ text: String, of row: String) throws -> [UInt8]? {
    guard let leaf = tree.withLock({ $0.leaf(of: row) }) else { return nil }
    var code = HMAC<SHA256>(key: leaf.key(for: "nonce"))
    code.update(data: Array(text.utf8))
    let nonce = try AES.GCM.Nonce(data: Array(code.finalize().prefix(12)))
    let sealed = try AES.GCM.seal(
      Array(text.utf8), using: leaf.key(for: "seal"), nonce: nonce, authenticating: Array(row.utf8))
    return sealed.combined.map { [UInt8]($0) }
  }

  /// - Returns: nil when the row's key is destroyed.
  /// - Throws: ``RowKeysError/otherKeys`` for what these keys have not sealed.
  package func open(_ sealed: [UInt8], of row: String) throws -> String? {
    guard let leaf = tree.withLock({ $0.leaf(of: row) }) else { return nil }
    guard let box = try? AES.GCM.SealedBox(combined: sealed),
      let bytes = try? AES.GCM.open(box, using: leaf.key(for: "seal"), authenticating: Array(row.utf8))
    else { throw RowKeysError.otherKeys }
    return String(decoding: bytes, as: UTF8.self)
  }

  /// What stands in a column in the place of a text by which rows are found. Without the file the text does not follow
  /// from it.
  package func mark(of text: String) -> String {
    let key = SymmetricKey(data: tree.withLock(\.search))
    return "#" + Hex.encode(HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key).prefix(16))
  }

  /// Destroys the keys of rows. They are destroyed when it returns, in the file and its copy.
  ///
  /// - Throws: when a file cannot be written. Then every key is there still; or it is
  ///   ``RowKeysError/partlyDestroyed(_:)``.
  package func destroy(_ rows: some Sequence<String>) throws { try destroy(Set(rows), needsCopy: true) }

  /// Destroys the keys of rows that are erased already. Where the copy cannot be written, it has them until it can.
  ///
  /// - Throws: when the file cannot be written.
  package func destroyAgain(_ rows: Set<String>) throws { try destroy(rows, needsCopy: false) }

  private func destroy(_ rows: Set<String>, needsCopy: Bool) throws {
    guard !rows.isSubset(of: destroyed) else { return }
    try change(needsCopy: needsCopy) { tree in rows.forEach { tree.destroy($0) } }
  }

  /// Another process on this machine may have changed the files.
  ///
  /// - Parameter needsCopy: whether nothing may change without the copy. Who reads the files goes on without it.
  private func change(needsCopy: Bool = true, _ work: (inout KeyTree) -> Void) throws {
    try changing.withLock { _ in
      var now = tree.withLock(\.self)
      if let files {
        let lock = StoreLock.openFile(beside: files.path)
        guard lock >= 0, flock(lock, LOCK_EX) == 0 else {
          throw PrivateFileError.system(files.path, "cannot be locked")
        }
        defer { close(lock) }
        if let written = try KeyTree(merging: files) { try now.adopt(written) }
        work(&now)
        try Self.write(now.text, to: files, needsCopy: needsCopy)
      } else {
        work(&now)
      }
      tree.withLock { [now] in $0 = now }
    }
  }

  /// Writes both files, or neither: a copy alone would destroy keys at the next start. Where the process ends between the
  /// two, the next start completes the copy.
  private static func write(_ text: String, to files: Files, needsCopy: Bool) throws {
    let former = try [files.path, files.copy].compactMap(\.self).map { path in
      (path, try FileManager.default.fileExists(atPath: path) ? PrivateFile.text(path, atMost: KeyTree.longest) : nil)
    }
    do {
      try write(text, to: files.path)
      do { if let copy = files.copy { try writeCopy(text, to: copy) } } catch  where !needsCopy {
        // `tender doctor` compares the two.
      }
    } catch {
      for (path, text) in former { try putBack(text, at: path) }
      throw error
    }
  }

  /// - Parameter former: nil where there was no file.
  private static func putBack(_ former: String?, at path: String) throws {
    do {
      if let former { try write(former, to: path) } else { unlink(path) }
    } catch {
      // A write can fail although the file is as it was.
      guard let former, (try? PrivateFile.text(path, atMost: KeyTree.longest)) == former else {
        throw RowKeysError.partlyDestroyed(path)
      }
    }
  }

  /// The folder is not made: a disk that is not mounted would go unnoticed.
  private static func writeCopy(_ text: String, to path: String) throws {
    let folder = URL(fileURLWithPath: path).deletingLastPathComponent().path
    guard FileManager.default.fileExists(atPath: folder) else {
      throw PrivateFileError(path: path, reason: "cannot be written: there is no folder \(folder)")
    }
    try write(text, to: path)
  }

  /// Writes a file that has another text, and zeros over the bytes that the name had before.
  private static func write(_ text: String, to path: String) throws {
    let former = Foundation.open(path, O_RDWR | O_CLOEXEC)
    defer { close(former) }
    if former >= 0, try PrivateFile.text(path, atMost: KeyTree.longest) == text { return }
    try PrivateFile.write(text, to: path)
    var status = stat()
    guard former >= 0, fstat(former, &status) == 0 else { return }
    let zeros = [UInt8](repeating: 0, count: Int(status.st_size))
    _ = zeros.withUnsafeBytes { pwrite(former, $0.baseAddress, $0.count, 0) }
    fsync(former)
  }
}

extension RowKeys: CustomStringConvertible, CustomReflectable {
  package var description: String { "RowKeys(•••)" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// Why the keys of rows cannot be used.
package enum RowKeysError: Error, Sendable, Hashable, CustomStringConvertible {
  case unreadable(String)
  /// Two files, or a file and what it should open, belong to different stores.
  case otherKeys
  /// Only one of the two files could be written, and not be put back. The next start destroys the keys in both.
  case partlyDestroyed(String)

  package var description: String {
    switch self {
    case .unreadable(let path): "\(path) is no file of contact keys, or was cut short; take its copy"
    case .otherKeys: "the contact keys are those of another store; take the file that belongs to this one"
    case .partlyDestroyed(let path): "some keys may be destroyed in \(path) and not in the other file"
    }
  }
}

/// The secrets that are left of a tree.
private struct KeyTree {
  /// Levels below the root, one for each hexadecimal digit.
  static let depth = 12
  /// The most bytes of a file: some hundred thousand destroyed keys.
  static let longest = 1 << 30
  private static let heading = "tender contact keys 1"

  let name: String
  let search: [UInt8]
  /// By the digits that lead there; none of them leads to another.
  private var secrets: [String: [UInt8]]
  private(set) var destroyed: Set<String>

  init(random: RandomBytes) {
    (name, search) = (random.hex(16), random.next(32))
    (secrets, destroyed) = (["": random.next(Secret.size)], [])
  }

  struct Secret {
    static let size = 16
    let bytes: [UInt8]

    func child(_ digit: UInt8) -> Secret {
      var hash = SHA256()
      hash.update(data: bytes)
      hash.update(data: [UInt8(ascii: "/"), digit])
      return Secret(bytes: Array(hash.finalize().prefix(Self.size)))
    }

    func key(for use: String) -> SymmetricKey {
      var hash = SHA256()
      hash.update(data: bytes)
      hash.update(data: Array(use.utf8))
      return SymmetricKey(data: hash.finalize())
    }
  }

  /// - Returns: nil when it is destroyed.
  func leaf(of row: String) -> Secret? {
    let path = Self.path(to: row)
    guard let (depth, secret) = above(path) else { return nil }
    return path.dropFirst(depth).reduce(secret) { $0.child($1) }
  }

  mutating func destroy(_ row: String) {
    destroyed.insert(row)
    let path = Self.path(to: row)
    guard let (depth, found) = above(path) else { return }
    var secret = found
    secrets[Self.digits(path.prefix(depth))] = nil
    for place in depth..<Self.depth {
      for digit in UInt8(0)..<16 where digit != path[place] {
        secrets[Self.digits(path.prefix(place) + [digit])] = secret.child(digit).bytes
      }
      secret = secret.child(path[place])
    }
  }

  /// Destroys what the other has destroyed.
  mutating func adopt(_ other: KeyTree) throws {
    guard other.name == name, other.search == search else { throw RowKeysError.otherKeys }
    for row in other.destroyed.subtracting(destroyed) { destroy(row) }
  }

  private func above(_ path: [UInt8]) -> (Int, Secret)? {
    for depth in 0...Self.depth {
      if let bytes = secrets[Self.digits(path.prefix(depth))] { return (depth, Secret(bytes: bytes)) }
    }
    return nil
  }

  private static func path(to row: String) -> [UInt8] {
    SHA256.hash(data: Array(row.utf8)).prefix(depth / 2).flatMap { [$0 >> 4, $0 & 15] }
  }

  private static func digits(_ path: some Sequence<UInt8>) -> String {
    String(decoding: path.map { $0 < 10 ? $0 + 0x30 : $0 + 0x57 }, as: UTF8.self)
  }
}

// As a file: a line for each part, and a last line, without which the file was cut short.
extension KeyTree {
  var text: String {
    let lines =
      [Self.heading, "name \(name)", "search \(Hex.encode(search))"]
      + secrets.sorted { $0.key < $1.key }.map { "secret \($0.isEmpty ? "-" : $0) \(Hex.encode($1))" }
      + destroyed.sorted().map { "destroyed \($0)" } + ["end\n"]
    return lines.joined(separator: "\n")
  }

  /// - Returns: nil when there is no such file.
  init?(file path: String) throws {
    guard FileManager.default.fileExists(atPath: path) else { return nil }
    let lines = try PrivateFile.text(path, atMost: Self.longest).split(separator: "\n")
    guard lines.count > 3, lines[0] == Self.heading, lines.last == "end" else { throw RowKeysError.unreadable(path) }
    var values: [String: Substring] = [:]
    var (secrets, destroyed) = ([String: [UInt8]](), Set<String>())
    for line in lines.dropFirst().dropLast() {
      let words = line.split(separator: " ", maxSplits: line.hasPrefix("secret ") ? 2 : 1)
      switch (words.first, words.count) {
      case ("secret", 3):
        guard let bytes = Hex.decode(String(words[2])) else { throw RowKeysError.unreadable(path) }
        secrets[words[1] == "-" ? "" : String(words[1])] = bytes
      case ("destroyed", 2): destroyed.insert(String(words[1]))
      case (let key?, 2): values[String(key)] = words[1]
      default: throw RowKeysError.unreadable(path)
      }
    }
    guard let name = values["name"], let search = values["search"].flatMap({ Hex.decode(String($0)) }),
      search.count == 32, secrets.values.allSatisfy({ $0.count == Secret.size })
    else { throw RowKeysError.unreadable(path) }
    (self.name, self.search, self.secrets, self.destroyed) = (String(name), search, secrets, destroyed)
  }

  /// What is destroyed in one of the files is destroyed.
  ///
  /// - Returns: nil when there is none.
  init?(merging files: RowKeys.Files) throws {
    let copy = try files.copy.flatMap { try KeyTree(file: $0) }
    guard var tree = try KeyTree(file: files.path) ?? copy else { return nil }
    if let copy { try tree.adopt(copy) }
    self = tree
  }
}
