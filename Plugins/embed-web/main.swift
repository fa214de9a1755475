import Foundation

// embed-web [--compressed] OUTPUT FILES PAGES FILE…: writes `enum WebFiles` with the text of each file below FILES, which is
// one folder or several with commas between them, under its path there, and of each template below PAGES under its path without `.mustache`. With `--compressed` the files
// are also there in each coding of HTTP that makes them smaller.

let isCompressed = CommandLine.arguments.contains("--compressed")
let arguments = CommandLine.arguments.filter { $0 != "--compressed" }
guard arguments.count >= 4 else {
  FileHandle.standardError.write(Data("usage: embed-web [--compressed] OUTPUT FILES PAGES FILE…\n".utf8))
  exit(2)
}

/// A raw string literal whose delimiter is longer than any run of `#` in the text.
func literal(_ text: String) -> String {
  var longest = 0
  var run = 0
  for character in text {
    run = character == "#" ? run + 1 : 0
    longest = max(longest, run)
  }
  let fence = String(repeating: "#", count: longest + 1)
  return "\(fence)\"\"\"\n\(text)\n\"\"\"\(fence)"
}

/// A file's text. A line of a stylesheet that imports another, by its path from there, gives way to that one's text.
func contents(of path: String) throws -> String {
  let text = try String(contentsOfFile: path, encoding: .utf8)
  guard path.hasSuffix(".css") else { return text }
  return try text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
    guard line.hasPrefix("@import \""), line.hasSuffix("\";") else { return String(line) }
    let imported = URL(filePath: path).deletingLastPathComponent().appending(path: line.dropFirst(9).dropLast(2))
    return try String(contentsOfFile: imported.path, encoding: .utf8)
  }.joined(separator: "\n")
}

/// The files below the folders, each with its path there.
func named(_ paths: [String], below roots: String) -> [(path: String, name: Substring)] {
  roots.split(separator: ",").flatMap { root in
    paths.filter { $0.hasPrefix(root + "/") }.map { ($0, $0.dropFirst(root.count + 1)) }
  }
}

/// The files below the folders, as the literal of a dictionary by name.
func dictionary(of paths: [String], below roots: String, dropping suffix: String = "") throws -> String {
  let entries = try named(paths, below: roots).map { path, name in
    let key = name.hasSuffix(suffix) ? name.dropLast(suffix.count) : name
    return "\"\(key)\": \(literal(try contents(of: path)))"
  }
  return literal(of: entries)
}

/// The entries as the literal of a dictionary.
func literal(of entries: [String]) -> String {
  "[\n" + (entries.isEmpty ? ":" : entries.joined(separator: ",\n")) + "\n  ]"
}

/// The files below the folders in one coding, in Base64, without those that it does not make smaller.
func compressed(
  _ paths: [String], below roots: String, by coding: ([UInt8]) throws -> [UInt8]
) throws -> String {
  let entries = try named(paths, below: roots).compactMap { path, name -> String? in
    let text = Array(try contents(of: path).utf8)
    let coded = try coding(text)
    return coded.count < text.count ? "\"\(name)\": \"\(Data(coded).base64EncodedString())\"" : nil
  }
  return literal(of: entries)
}

/// By coding and name.
func compressions() throws -> String {
  let codings = isCompressed ? Compression.codings.sorted { $0.key < $1.key } : []
  return literal(
    of: try codings.map { "\"\($0.key)\": \(try compressed(files, below: arguments[2], by: $0.value))" })
}

let files = Array(arguments.dropFirst(4))
let source = """
  /// The files that this module was built with. Generated from `Web/`.
  enum WebFiles {
    /// By path. What is public is listed where it is served.
    static let all: [String: String] = \(try dictionary(of: files, below: arguments[2]))
    /// By coding of HTTP and path, in Base64.
    static let compressed: [String: [String: String]] = \(try compressions())
    /// Templates of HTML pages, by name.
    static let pages: [String: String] = \(try dictionary(of: files, below: arguments[3], dropping: ".mustache"))
  }

  """
// A file that is not touched is not compiled again, nor are the modules that serve it.
if (try? String(contentsOfFile: arguments[1], encoding: .utf8)) != source {
  try source.write(toFile: arguments[1], atomically: true, encoding: .utf8)
}
