import TenderTesting

/// The rules of the structure, each a function over text, so that a test can show that a violation is found.
extension Architecture {
  /// Imports go down to what the manifest declares. A ◆ module imports no other package.
  func importsThatPointUp(_ files: [SourceFile], manifest: Manifest) -> [Violation] {
    files.flatMap { file in
      file.imports.compactMap { module, line in
        importRule(file.module, module, manifest).map { Violation(path: file.path, line: line, rule: $0) }
      }
    }
  }

  private func importRule(_ module: String, _ other: String, _ manifest: Manifest) -> String? {
    guard modules[module] != nil else { return "\(module) is not in Package.swift" }
    guard modules[other] != nil else { return foreignRule(module, other) }
    if !allows(module, other) { return "\(module) may not import \(other)" }
    if manifest.dependencies[module]?.contains(other) != true {
      return "\(module) imports \(other) but does not declare it"
    }
    return nil
  }

  private func foreignRule(_ module: String, _ other: String) -> String? {
    let allowed = (Self.frameworks[module] ?? []).union(["Foundation", "FoundationEssentials", "FoundationNetworking"])
    return Self.portable.contains(module) && !allowed.contains(other)
      ? "\(module) goes into apps and imports \(other)" : nil
  }

  /// What the manifest declares points down too, and every module lies in an area.
  func targetsThatPointUp(_ manifest: Manifest) -> [Violation] {
    let homeless = modules.filter { !Self.areas.contains($0.value) }.map { "there is no area \($0.value)" }
    let wrong = modules.keys.sorted().flatMap { module in
      (manifest.dependencies[module] ?? []).filter { modules[$0] != nil && !allows(module, $0) }
        .map { "\(module) may not depend on \($0)" }
    }
    return (homeless + wrong).sorted().map { Violation(path: "Package.swift", line: 0, rule: $0) }
  }

  /// Every module has exactly one row in `docs/architecture.md`, with a sentence in it.
  func modulesWithoutSentence(_ page: String) -> [Violation] {
    let rows = page.split(separator: "\n").compactMap { $0.wholeMatch(of: /\| `(\w+)`( ◆)? \| (.+\..*) \|/) }
    return modules.keys.sorted().compactMap { module in
      let own = rows.filter { $0.output.1 == module }
      let marked = own.first.map { ($0.output.2 != nil) == Self.portable.contains(module) } ?? true
      guard own.count != 1 || !marked else { return nil }
      let rule = marked ? "\(module) has \(own.count) sentences" : "the mark ◆ of \(module) is wrong"
      return Violation(path: "docs/architecture.md", line: 0, rule: rule)
    }
  }

  /// API newer than iOS 16, which a build on Linux does not notice.
  func newAPIInPortableModules(_ files: [SourceFile]) -> [Violation] {
    let words = [
      "Synchronization", "Mutex", "Atomic", "InlineArray", "Span", "RawSpan", "MutableSpan", "OutputSpan", "UTF8Span",
      "Observable", "Observation",
    ]
    return files.filter { Self.portable.contains($0.module) }.flatMap { file in
      file.code(with: words).flatMap { line, text in
        text.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter(words.contains).map {
          Violation(path: file.path, line: line, rule: "\($0) is newer than iOS 16")
        }
      }
    }
  }

  /// A connector says *not sent* where the network, the time or its provider's limit kept a request from being done. What
  /// it refuses by itself is `notTaken`, and only the network notes that it was used: otherwise one merchant's requests
  /// open the circuit breaker of all.
  func localRefusals(_ files: [SourceFile]) -> [Violation] {
    let reasons = ["no time was left", "there is no token yet", "there is no payment method yet", "limits the rate"]
    let users = ["HTTPTransport/HTTPSender.swift", "WorldlineAcquiring/WorldlineAcquiringAccess.swift"]
    let rule = "a refusal without a call counts as one of the network"
    return files.flatMap { file -> [Violation] in
      let isConnector = file.path.hasPrefix("Sources/Payments/Connectors/")
      return file.lines.enumerated().compactMap { number, line -> Violation? in
        let says = isConnector && line.holds(".notSent(\"") && !reasons.contains { line.holds($0) }
        let notes = line.holds("NetworkUse.note()") && !users.contains { file.path.hasSuffix($0) }
        return says || notes ? Violation(path: file.path, line: number + 1, rule: rule) : nil
      }
    }
  }

  /// What takes the compiler's word against data races away: everybody would have to believe ours instead.
  ///
  /// - Parameter trusted: the lines that may, word for word; each has its reason beside it.
  func escapes(_ files: [SourceFile], trusted: [String: [String]] = Architecture.trusted) -> [Violation] {
    let words = [
      "@unchecked", "nonisolated(unsafe)", "@preconcurrency", "assumeIsolated", "unsafeBitCast", "Unmanaged",
      "UnsafeContinuation", "withUnsafeContinuation", "withUnsafeThrowingContinuation",
    ]
    // Of these an app would have to believe us too.
    let queues = ["DispatchQueue", "pthread"]
    return files.flatMap { file in
      file.code(with: modules[file.module] == nil || Self.portable.contains(file.module) ? words + queues : words)
        .filter { _, text in
          !(trusted[file.path] ?? []).contains { text.contains($0) }
        }.map { line, _ in
          Violation(path: file.path, line: line, rule: "the compiler is told not to check for data races")
        }
    }
  }

  static let trusted = [
    // SQLite hands its update hook a pointer, and nothing else.
    "Sources/Base/Storage/SQLite/MemoryTables.swift": ["Unmanaged"],
    // A C caller keeps a result by its pointer, and gives it back once.
    "Sources/Tokens/ApplePayTokenC/Answer.swift": ["Unmanaged<Handle>", "Unmanaged.passRetained(Handle("],
    // swift-crypto does not say that the key may be shared, and BoringSSL allows it.
    "Sources/Tokens/ApplePayToken/Decrypt/KeyHolderInMemory.swift": ["struct RSADecryptionKey: @unchecked Sendable"],
  ]
}

/// Rules of style that hold in every file of `Sources`.
enum Tidiness {
  static let maximumLines = 400

  static func violations(_ files: [SourceFile]) -> [Violation] {
    files.flatMap { forgottenNotes($0) + dependentComments($0) + rashCalls($0) + length($0) }
  }

  /// A note to oneself belongs into an issue.
  private static func forgottenNotes(_ file: SourceFile) -> [Violation] {
    file.lines.enumerated().compactMap { number, line in
      ["TODO", "FIXME", "HACK"].first { line.holds($0) }.map {
        Violation(path: file.path, line: number + 1, rule: "a stray \($0)")
      }
    }
  }

  /// A comment is read alone in a hover: it does not begin where the declaration above it ended.
  private static func dependentComments(_ file: SourceFile) -> [Violation] {
    file.lines.enumerated().compactMap { number, line in
      guard line.contains(/^ *\/\/\/? (?:The same|Of)\b/) else { return nil }
      let isContinued = number > 0 && file.lines[number - 1].contains(/^ *\/\//)
      return isContinued ? nil : Violation(path: file.path, line: number + 1, rule: "a comment that leans on another")
    }
  }

  /// What ends the process, or writes where nobody asked for it. The command line too has its own way to write.
  private static func rashCalls(_ file: SourceFile) -> [Violation] {
    let words = ["fatalError", "preconditionFailure", "try!", "as! ", "print(", "dump("]
    return file.code(with: words).compactMap { line, text in
      guard
        let word = text.firstMatch(of: /(?:^|[^\w.])(fatalError|preconditionFailure|try!|as! |print\(|dump\()/)?.output
          .1
      else { return nil }
      return Violation(path: file.path, line: line, rule: "\(word) has no place here")
    }
  }

  private static func length(_ file: SourceFile) -> [Violation] {
    let lines = file.lines.count - (file.text.hasSuffix("\n") ? 1 : 0)
    guard lines > maximumLines else { return [] }
    return [
      Violation(path: file.path, line: lines, rule: "a file has at most \(maximumLines) lines: split it by concept")
    ]
  }
}

/// How functions are named.
enum Names {
  /// Functions named by a past participle, such as `sorted`, that have effects: they are `async`, `mutating`, or take a
  /// transaction. A verb names what they do.
  static func violations(_ files: [SourceFile]) -> [Violation] {
    files.flatMap { file in
      file.lines.indices.compactMap { index in
        guard file.lines[index].holds("func "),
          let name = file.lines[index].firstMatch(of: /^[^\/"]*\bfunc ([a-z]+)[(<]/)?.output.1, isParticiple(name),
          hasEffects(declaration(file.lines[index...]))
        else { return nil }
        return Violation(path: file.path, line: index + 1, rule: "\(name) has effects: name it by a verb")
      }
    }
  }

  private static func hasEffects(_ declaration: (parameters: String, rest: String)) -> Bool {
    declaration.rest.contains(/\b(?:async|mutating)\b/)
      || declaration.parameters.contains(/: Transaction\b|\bin (?:store|transaction):/)
  }

  /// The text up to the body: what stands in parentheses, and the rest.
  private static func declaration(_ lines: ArraySlice<Substring>) -> (parameters: String, rest: String) {
    var (parameters, rest, depth) = ("", "", 0)
    for line in lines {
      for character in line {
        if character == "{", depth == 0 { return (parameters, rest) }
        if character == ")" { depth -= 1 }
        if depth == 0 { rest.append(character) } else { parameters.append(character) }
        if character == "(" { depth += 1 }
      }
      if depth == 0 { break }
      parameters += " "
    }
    return (parameters, rest)
  }

  /// Not those that are verbs too, as `read` and `put` are.
  private static func isParticiple(_ name: Substring) -> Bool {
    irregular.contains(name) || name.hasSuffix("ed") && (!name.hasSuffix("eed") || name == "agreed") && name != "embed"
  }

  private static let irregular: Set<Substring> = [
    "begun", "bound", "broken", "brought", "built", "chosen", "done", "drawn", "found", "given", "heard", "held",
    "hidden", "kept", "known", "left", "lost", "made", "paid", "seen", "sent", "shown", "sold", "spent", "taken",
    "told", "withdrawn", "written",
  ]
}

/// What makes a test depend on the machine's speed.
enum TimeLimits {
  /// A limit of time, a rest of seconds, and a loop that looks a number of times.
  static func violations(_ tests: [SourceFile]) -> [Violation] {
    tests.flatMap { file in
      file.code(with: ["timeLimit(", "SO_RCVTIMEO", "sleep("]).compactMap { line, text in
        text.contains(/\.timeLimit\(|SO_RCVTIMEO|sleep\(for: \.seconds|for _ in 0\.\.<.*sleep\(/)
          ? Violation(path: file.path, line: line, rule: "a test waits for a condition: waitFor, waitUntil") : nil
      }
    }
  }
}

/// What makes every start of the program slow.
enum Starts {
  /// A command without a name of its own: the runtime is asked for the name of its type, a quarter of a millisecond for
  /// each of a hundred commands.
  static func unnamedCommands(_ files: [SourceFile]) -> [String] {
    files.flatMap { file in
      file.text.matches(of: /CommandConfiguration\(\s*(\w+)/).filter { $0.output.1 != "commandName" }
        .map { _ in file.path }
    }
  }

  /// A service without a name of its own: a service group makes one by printing all that the service holds.
  static func unnamedServices(_ files: [SourceFile]) -> [String] {
    files.flatMap { file in
      file.text.matches(of: /\.init\(service: [^\n]*|\.init\(\s*services: \[(?!\s*\.init\()[^\n]*/)
        .filter { !$0.output.contains("serviceName: ") }.map { "\(file.path): \($0.output)" }
    }
  }
}

/// How the servers read what comes from outside.
enum Reading {
  /// A listener that does not read heads as all do, a body or a query that is not read by the one reader, and a router
  /// that has no answer to HEAD.
  static func violations(_ files: [SourceFile]) -> [Violation] {
    files.filter { $0.module != "HTTPServing" }.flatMap { file in
      file.code(with: Self.places).filter { line, code in
        if code.contains(/\bRouter\(/) { return !code.contains("autoGenerateHeadEndpoints") }
        guard code.contains(/\bApplication\(/) else {
          return !code.contains("Application(") && !code.contains("Router(")
        }
        return !file.lines[(line - 1)...].prefix(3).joined().contains("server: ")
      }.map { Violation(path: file.path, line: $0.line, rule: "reads HTTP in a way of its own") }
    }
  }

  private static let places = ["Application(", ".http1(", "request.body.collect(", "queryParameters", "Router("]
}

enum Queries {
  /// The lines of the command line that put a text into a query as it is: with `&` in it, it would be another call.
  static func unquoted(_ files: [SourceFile]) -> [String] {
    files.filter { $0.path.hasPrefix("Sources/CommandLine/") }.flatMap { file in
      file.lines.enumerated().compactMap { number, line in
        guard line.holds("=\\(") else { return nil }
        let values = line.matches(of: /[?&"][A-Za-z]+=\\\((?!limit\))/).count
        return values > line.ranges(of: "inQuery").count ? "\(file.path):\(number + 1)" : nil
      }
    }
  }
}

/// What the documents say about files.
enum Documents {
  static let pages = ["README.md", "CONTRIBUTING.md", "SECURITY.md"] + Repository.names(in: "docs", ending: ".md")

  /// Paths in a page that lead nowhere.
  static func brokenPaths(in page: SourceFile, exists: (String) -> Bool) -> [Violation] {
    page.lines.enumerated().flatMap { number, line in
      line.matches(of: #/[`(]((?:Sources|Tests|Web|docs|scripts)\/[\w\/.-]*\w|[A-Z]+\.md|LICENSE)[`)]/#)
        .map { String($0.output.1) }.filter { !exists($0) }
        .map { Violation(path: page.path, line: number + 1, rule: "there is no \($0)") }
    }
  }
}
