import Foundation

// embed-web OUTPUT ROOT FILE…: writes `enum WebFiles` with each file's text under its path below ROOT.

let arguments = CommandLine.arguments
guard arguments.count >= 3 else {
  FileHandle.standardError.write(Data("usage: embed-web OUTPUT ROOT FILE…\n".utf8))
  exit(2)
}
let root = arguments[2].hasSuffix("/") ? arguments[2] : arguments[2] + "/"

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

var source =
  "/// The files this module serves, by path. Generated from `Web/`.\nenum WebFiles {\n  static let all: [String: String] = [\n"
var entries: [String] = []
for path in arguments.dropFirst(3) {
  let text = try String(contentsOfFile: path, encoding: .utf8)
  let name = path.hasPrefix(root) ? String(path.dropFirst(root.count)) : path
  entries.append("\"\(name)\": \(literal(text))")
}
source += entries.isEmpty ? ":" : entries.joined(separator: ",\n")
source += "\n  ]\n}\n"
// A file that is not touched is not compiled again, nor are the modules that serve it.
if (try? String(contentsOfFile: arguments[1], encoding: .utf8)) != source {
  try source.write(toFile: arguments[1], atomically: true, encoding: .utf8)
}
