import Foundation

/// What `docs/payment-path.md` says about calls, checked against the text of the code.
struct PaymentPath {
  /// One row of the page: a file, and the functions to read in it.
  struct Step {
    let path: String
    let functions: [String]
  }

  static let page = "docs/payment-path.md"
  /// What a payment runs through. The page names every file here that a step calls into.
  static let folders = [
    "Sources/Server/TenderServer/Checkout/", "Sources/Checkout/Orders/", "Sources/Payments/Gateway/",
    "Sources/Payments/Ledger/", "Sources/Payments/Acquiring/", "Sources/Payments/Connectors/",
    "Sources/Tokens/ApplePayToken/",
  ]

  let steps: [Step]
  /// Every file that the page names.
  let named: Set<String>
  private let files: [String: SourceFile]
  /// The files that declare a function which other files may call, by its name.
  private let declarations: [String: Set<String>]

  init(_ page: String, _ sources: [SourceFile]) {
    steps = page.split(separator: "\n").compactMap { Step(row: $0) }
    named = Set(page.matches(of: /`(Sources\/[\w\/.-]+\.swift)`/).map { String($0.output.1) })
    files = Dictionary(uniqueKeysWithValues: sources.map { ($0.path, $0) })
    declarations = sources.filter { Self.isOnPath($0.path) || $0.path.hasPrefix("Sources/Base/") }
      .reduce(into: [:]) { found, file in
        for name in file.sharedFunctions { found[name, default: []].insert(file.path) }
      }
  }

  private static func isOnPath(_ path: String) -> Bool { folders.contains { path.hasPrefix($0) } }

  var violations: [Violation] {
    var called: Set<String> = []
    var found: [Violation] = []
    for (number, step) in steps.enumerated() where !step.functions.isEmpty {
      let bodies = step.functions.map { ($0, files[step.path]?.body(of: $0) ?? []) }
      found += bodies.filter { $0.1.isEmpty }.map { violation(step, "there is no function \($0.0)") }
      let calls = Set(bodies.flatMap { $0.1 }.flatMap(Self.calls))
      let first = steps.firstIndex { !$0.functions.isEmpty }
      if number != first, called.isDisjoint(with: step.functions) {
        found.append(violation(step, "no step above calls \(step.functions.joined(separator: ", "))"))
      }
      found += calls.sorted().compactMap { call in unnamed(call, of: step) }
      called.formUnion(calls)
    }
    return found
  }

  /// A function of another file that the page does not name. One that several files declare is not known by its name.
  private func unnamed(_ call: String, of step: Step) -> Violation? {
    guard let declared = declarations[call], declared.count == 1, let path = declared.first, path != step.path,
      Self.isOnPath(path), !named.contains(path)
    else { return nil }
    return violation(step, "\(call) is in \(path), which the page does not name")
  }

  private func violation(_ step: Step, _ rule: String) -> Violation { Violation(path: step.path, line: 0, rule: rule) }

  /// The names that are called in a function's text, without its first line.
  private static func calls(_ body: [Substring]) -> [String] {
    body.dropFirst(body.count > 1 ? 1 : 0).flatMap { line in
      line.replacing(/\/\/.*/, with: "").matches(of: /(\w+)\(/).map { String($0.output.1) }
    }
  }
}

extension PaymentPath.Step {
  /// Nil for a line that is no row of a numbered table with functions.
  fileprivate init?(row: Substring) {
    let cells = row.split(separator: "|", omittingEmptySubsequences: false)
    guard cells.count == 7, row.prefixMatch(of: /\| \d+ \|/) != nil,
      let path = cells[2].firstMatch(of: /`([^`]+)`/)?.output.1
    else { return nil }
    self.init(path: String(path), functions: cells[3].matches(of: /`(\w+)`/).map { String($0.output.1) })
  }
}

extension SourceFile {
  /// The names of its functions that are not private.
  fileprivate var sharedFunctions: [String] {
    lines.compactMap { line in
      guard line.holds("func "), !line.holds("private"), let name = line.firstMatch(of: /\bfunc (\w+)[(<]/)?.output.1
      else { return nil }
      return String(name)
    }
  }

  /// The lines of each function of this name, from its first to the brace that ends it.
  fileprivate func body(of function: String) -> [[Substring]] {
    let lines = lines
    return lines.indices.compactMap { start in
      guard lines[start].holds("func "), let name = lines[start].firstMatch(of: /\bfunc (\w+)[(<]/)?.output.1,
        name == function
      else { return nil }
      if lines[start].hasSuffix("}") { return [lines[start]] }
      let indent = lines[start].prefix { $0 == " " }
      let end = lines[start...].firstIndex { $0 == indent + "}" } ?? start
      return Array(lines[start...end])
    }
  }
}
