/// The stable codes of errors, as the sources spell them and as `docs/errors.md` explains them.
enum ErrorCodes {
  /// A code that the page does not explain, and one that it explains although nobody uses it any more.
  static func violations(_ files: [SourceFile], page: SourceFile) -> [Violation] {
    let spelled = files.filter { !ownCatalogue.contains($0.module) }.flatMap { file in
      (listed(in: file) + switched(in: file) + thrown(in: file)).map { (code: $0, path: file.path) }
    }
    let explained = Set(page.text.matches(of: /\*\*`(\w+)`\*\*/).map { String($0.output.1) })
    let missing = spelled.filter { !explained.contains($0.code) }.map {
      Violation(path: $0.path, line: 0, rule: "\($0.code) is not in \(page.path)")
    }
    let stale = explained.subtracting(spelled.map(\.code)).sorted().map {
      Violation(path: page.path, line: 0, rule: "nobody uses \($0)")
    }
    return missing + stale
  }

  /// Modules that explain their codes themselves: the sandbox on its front page.
  private static let ownCatalogue: Set<String> = [
    "TokenIssuer", "AppleSandbox", "AcquirerSandbox", "DemoShop", "ProviderEmulators",
  ]

  /// `enum Code: String` with its cases.
  private static func listed(in file: SourceFile) -> [String] {
    blocks(of: file, with: "enum ", after: /enum (Code|\w+Refusal|DeclineReason|AlarmReason): String/).flatMap {
      block in
      block.flatMap { line in
        line.prefixMatch(of: /\s*case (.*)/).map { $0.output.1.split(separator: ",").compactMap(rawValue) } ?? []
      }
    }
  }

  /// `name`, or `name = "raw_value"`.
  private static func rawValue(_ text: Substring) -> String? {
    text.firstMatch(of: /"(\w+)"/).map { String($0.output.1) } ?? text.firstMatch(of: /\w+/).map { String($0.output) }
  }

  /// `var code: String` that switches over an error's cases.
  private static func switched(in file: SourceFile) -> [String] {
    blocks(of: file, with: "var code", after: /var code: String \{$/).flatMap { block in
      block.flatMap { $0.matches(of: /: "(\w+)"/).map { String($0.output.1) } }
    }
  }

  /// `Problem(.notFound, "not_found", …)`, on one line or on several.
  private static func thrown(in file: SourceFile) -> [String] {
    guard file.text[...].holds("Problem(") else { return [] }
    return file.text.matches(of: /Problem\(\s*(?:\.init\([^)]*\)|[\w.]+),\s*"(\w+)"/).map { String($0.output.1) }
  }

  /// The lines between an opening line and the brace that closes it, which stands below its first letter.
  ///
  /// - Parameter words: are in every opening line; looked for first, because a regular expression is slow.
  private static func blocks<Output>(
    of file: SourceFile, with words: String, after opening: Regex<Output>
  ) -> [[Substring]] {
    file.lines.indices.filter { file.lines[$0].holds(words) && file.lines[$0].contains(opening) }.map { start in
      let end = file.lines[start].prefix { $0 == " " } + "}"
      return Array(file.lines[(start + 1)...].prefix { $0 != end })
    }
  }
}
