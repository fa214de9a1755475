import Foundation

// embed-web OUTPUT FILES PAGES FILE…: writes `enum WebFiles` with the text of each file below FILES under its path
// there, and of each template below PAGES under its path without `.mustache`.

let arguments = CommandLine.arguments
guard arguments.count >= 4 else {
  FileHandle.standardError.write(Data("usage: embed-web OUTPUT FILES PAGES FILE…\n".utf8))
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

/// The files below a folder, as the literal of a dictionary by name.
func dictionary(of paths: [String], below root: String, dropping suffix: String = "") throws -> String {
  let entries = try paths.filter { $0.hasPrefix(root + "/") }.map { path in
    let name = path.dropFirst(root.count + 1)
    let key = name.hasSuffix(suffix) ? name.dropLast(suffix.count) : name
    return "\"\(key)\": \(literal(try String(contentsOfFile: path, encoding: .utf8)))"
  }
  return "[\n" + (entries.isEmpty ? ":" : entries.joined(separator: ",\n")) + "\n  ]"
}

let files = Array(arguments.dropFirst(4))
let source = """
  /// The files that this module was built with. Generated from `Web/`.
  enum WebFiles {
    /// By path. What is public is listed where it is served.
    static let all: [String: String] = \(try dictionary(of: files, below: arguments[2]))
    /// Templates of HTML pages, by name.
    static let pages: [String: String] = \(try dictionary(of: files, below: arguments[3], dropping: ".mustache"))
  }

  """
// A file that is not touched is not compiled again, nor are the modules that serve it.
if (try? String(contentsOfFile: arguments[1], encoding: .utf8)) != source {
  try source.write(toFile: arguments[1], atomically: true, encoding: .utf8)
}
