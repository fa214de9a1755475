/// The folders of a module, by which of them names types of which other.
///
/// A folder below another one counts with it: `Device/Pages` is a part of `Device`. The files beside the folders count as
/// one more folder.
struct Folders {
  /// By folder, the folders whose types it names.
  private let named: [String: Set<String>]

  init(_ files: [SourceFile]) {
    var owners: [String: String] = [:]
    for file in files { for type in Self.types(of: file) { owners[type] = Self.folder(of: file) } }
    named = files.reduce(into: [:]) { named, file in
      let folder = Self.folder(of: file)
      let others = Set(Self.names(in: file.text).compactMap { owners[$0] }).subtracting([folder])
      named[folder, default: []].formUnion(others)
    }
  }

  /// A rule broken by each module of which one folder leads back to itself.
  static func cycles(_ files: [SourceFile]) -> [Violation] {
    Dictionary(grouping: files, by: \.module).sorted { $0.key < $1.key }.compactMap { module, files in
      let folders = Folders(files).circle
      return folders.isEmpty
        ? nil : Violation(path: module, line: 0, rule: "its folders form a circle: \(folders.joined(separator: ", "))")
    }
  }

  private var circle: [String] { named.keys.filter { reached(from: $0).contains($0) }.sorted() }

  private func reached(from folder: String) -> Set<String> {
    var (reached, next) = (Set<String>(), named[folder] ?? [])
    while let folder = next.popFirst() {
      if reached.insert(folder).inserted { next.formUnion(named[folder] ?? []) }
    }
    return reached
  }

  private static func folder(of file: SourceFile) -> String {
    let parts = file.path.split(separator: "/").dropFirst(3)
    return parts.count > 1 ? String(parts[parts.startIndex]) : ""
  }

  /// Types that other files can name.
  private static func types(of file: SourceFile) -> [String] {
    file.lines.compactMap { line in
      guard let match = line.prefixMatch(of: declaration), !match.output.1.contains("private") else { return nil }
      return String(match.output.2)
    }
  }

  private static var declaration: Regex<(Substring, Substring, Substring)> {
    /((?:(?:package|public|private|fileprivate|final|indirect)\s+)*)(?:struct|class|enum|actor|protocol|typealias)\s+(\w+)/
  }

  /// The words that begin with a capital, outside comments and string literals, and not as a member of something.
  private static func names(in text: String) -> Set<String> {
    var (names, word, before) = (Set<String>(), [UInt8](), UInt8(ascii: " "))
    var (isComment, isString) = (false, false)
    for byte in text.utf8 {
      let isLetter = byte == 0x5F || (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte | 0x20)
      if isLetter, !isComment, !isString {
        word.append(byte)
        continue
      }
      if let first = word.first, (0x41...0x5A).contains(first), before != UInt8(ascii: ".") {
        names.insert(String(decoding: word, as: UTF8.self))
      }
      if byte == UInt8(ascii: "/"), before == byte, word.isEmpty { isComment = true }
      if byte == UInt8(ascii: "\""), before != UInt8(ascii: "\\"), !isComment { isString.toggle() }
      if byte == UInt8(ascii: "\n") { isComment = false }
      before = byte
      word = []
    }
    return names
  }
}
