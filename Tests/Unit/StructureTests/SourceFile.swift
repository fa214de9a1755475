import Foundation
import TenderTesting

#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif

/// A file of the repository, by its path from the root.
struct SourceFile: Sendable {
  let path: String
  let text: String
  let lines: [Substring]

  init(path: String, text: String) {
    self.path = path
    self.text = text
    // Over bytes, because a debug build needs most of a minute to split all sources by characters.
    lines = text.utf8.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false).map(Substring.init)
  }

  /// The module whose file this is: the folder below an area of `Sources`.
  var module: String { path.split(separator: "/").dropFirst(2).first.map(String.init) ?? "" }

  /// The modules that are imported, with the number of the line.
  var imports: [(module: String, line: Int)] {
    lines.enumerated().compactMap { number, line in
      guard line.holds("import "), let match = line.prefixMatch(of: Self.importLine) else { return nil }
      return (String(match.output.1), number + 1)
    }
  }

  /// The places in `lines` of those that hold one of `words`, wherever in the line. It looks at the whole text at once,
  /// because most lines hold none.
  func places(of words: [String]) -> Set<Int> {
    let starts = lines.reduce(into: [0]) { starts, line in starts.append(starts[starts.count - 1] + line.utf8.count + 1)
    }
    var places: Set<Int> = []
    text.withCString { text in
      for word in words {
        var rest = text
        while let found = strstr(rest, word) {
          places.insert(starts.count(while: { $0 <= UnsafePointer(found) - text }) - 1)
          rest = UnsafePointer(found) + 1
        }
      }
    }
    return places
  }

  /// The lines that hold one of `words` outside comments and string literals, so that a word in a sentence is no call.
  func code(with words: [String]) -> [(line: Int, text: String)] {
    guard words.contains(where: { text[...].holds($0) }) else { return [] }
    return lines.enumerated().compactMap { number, line in
      guard words.contains(where: { line.holds($0) }) else { return nil }
      let text = String(line).replacing(/#*"(\\.|[^"\\])*"#*/, with: "\"\"").replacing(/\/\/.*/, with: "")
      return words.contains { text[...].holds($0) } ? (number + 1, text) : nil
    }
  }

  private static var importLine: Regex<(Substring, Substring)> {
    /\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w+).*/
  }
}

extension Substring {
  /// Whether the bytes of `word` occur in it.
  func holds(_ word: String) -> Bool {
    let found = utf8.withContiguousStorageIfAvailable { text in
      Array(word.utf8).withUnsafeBytes { Self.isFound($0, in: UnsafeRawBufferPointer(text)) }
    }
    return found ?? contains(word)
  }

  private static func isFound(_ word: UnsafeRawBufferPointer, in text: UnsafeRawBufferPointer) -> Bool {
    var rest = text[...]
    while rest.count >= word.count,
      let first = memchr(UnsafeRawBufferPointer(rebasing: rest).baseAddress!, Int32(word[0]), rest.count)
    {
      rest = rest[(UnsafeRawPointer(first) - text.baseAddress!)...]
      if rest.starts(with: word) { return true }
      rest = rest.dropFirst()
    }
    return false
  }
}

extension [Int] {
  /// How many stand before the first that the condition does not hold for.
  fileprivate func count(while holds: (Int) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if holds(self[middle]) { low = middle + 1 } else { high = middle }
    }
    return low
  }
}

extension Repository {
  static func has(_ path: String) -> Bool { FileManager.default.fileExists(atPath: url(path).path) }

  /// Files of a folder, none of those below it.
  static func names(in folder: String, ending: String) -> [String] {
    let names = try? FileManager.default.contentsOfDirectory(atPath: url(folder).path)
    return (names ?? []).filter { $0.hasSuffix(ending) }.sorted().map { "\(folder)/\($0)" }
  }

  /// All Swift files below a folder, except what a build left there.
  static func swiftFiles(under folder: String) throws -> [SourceFile] {
    let names = try FileManager.default.subpathsOfDirectory(atPath: url(folder).path)
    return try names.filter { $0.hasSuffix(".swift") && !$0.contains(".build") }.sorted().map { name in
      SourceFile(path: "\(folder)/\(name)", text: try text("\(folder)/\(name)"))
    }
  }
}

/// A rule that is broken, and where.
struct Violation: Hashable, CustomStringConvertible {
  let path: String
  let line: Int
  let rule: String

  var description: String { "\(path):\(line): \(rule)" }
}
