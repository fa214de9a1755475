/// The rules of the house, each a function over text, so that a planted violation can be shown to be caught.
extension House {
  /// Imports go down, or along an arrow, to what the manifest declares. A ◆ room imports no other package.
  func importsThatPointUp(_ files: [SourceFile], manifest: Manifest) -> [Violation] {
    files.flatMap { file in
      file.imports.compactMap { module, line in
        importRule(file.room, module, manifest).map { Violation(path: file.path, line: line, rule: $0) }
      }
    }
  }

  private func importRule(_ name: String, _ module: String, _ manifest: Manifest) -> String? {
    guard let room = room(name) else { return "the room \(name) is not in the drawing" }
    guard let other = self.room(module) else {
      let allowed = room.frameworks.union(["Foundation", "FoundationEssentials", "FoundationNetworking"])
      return room.isPortable && !allowed.contains(module) ? "\(name) goes into apps and imports \(module)" : nil
    }
    if !allows(room, other) { return "\(name) may not import \(module)" }
    if manifest.dependencies[name]?.contains(module) != true {
      return "\(name) imports \(module) but does not declare it"
    }
    return nil
  }

  /// What the manifest declares points down too, and every target is in the drawing, and the other way round.
  func targetsThatPointUp(_ manifest: Manifest) -> [Violation] {
    let undrawn = Set(manifest.dependencies.keys).subtracting(rooms.map(\.name)).sorted()
    let unbuilt = rooms.map(\.name).filter { manifest.dependencies[$0] == nil }
    let wrong = rooms.flatMap { room in
      (manifest.dependencies[room.name] ?? []).compactMap { self.room($0) }.filter { !allows(room, $0) }
        .map { "\(room.name) may not depend on \($0.name)" }
    }
    let rules =
      undrawn.map { "the room \($0) is not in the drawing" } + unbuilt.map { "the room \($0) is not built" } + wrong
    return rules.map { Violation(path: "Package.swift", line: 0, rule: $0) }
  }

  /// Every room has exactly one row in `docs/rooms.md`, with a sentence in it.
  func roomsWithoutSentence(_ page: String) -> [Violation] {
    let rows = page.split(separator: "\n").compactMap { $0.wholeMatch(of: /\| `(\w+)`( ◆)? \| (.+\..*) \|/) }
    return rooms.compactMap { room in
      let own = rows.filter { $0.output.1 == room.name }
      let marked = own.first.map { ($0.output.2 != nil) == room.isPortable } ?? true
      guard own.count != 1 || !marked else { return nil }
      let rule = marked ? "the room \(room.name) has \(own.count) sentences" : "the mark ◆ of \(room.name) is wrong"
      return Violation(path: "docs/rooms.md", line: 0, rule: rule)
    }
  }

  /// API newer than iOS 16, which a build on Linux does not notice.
  func newAPIInPortableRooms(_ files: [SourceFile]) -> [Violation] {
    let words = [
      "Synchronization", "Mutex", "Atomic", "InlineArray", "Span", "RawSpan", "MutableSpan", "OutputSpan", "UTF8Span",
      "Observable", "Observation",
    ]
    return files.filter { room($0.room)?.isPortable == true }.flatMap { file in
      file.code(with: words).flatMap { line, text in
        text.split { !$0.isLetter && !$0.isNumber }.map(String.init).filter(words.contains).map {
          Violation(path: file.path, line: line, rule: "\($0) is newer than iOS 16")
        }
      }
    }
  }

  /// What takes the compiler's word against data races away: everybody would have to believe ours instead.
  ///
  /// - Parameter trusted: the lines that may, word for word; each has its reason beside it.
  func escapes(_ files: [SourceFile], trusted: [String: [String]] = House.trusted) -> [Violation] {
    let words = [
      "@unchecked", "nonisolated(unsafe)", "@preconcurrency", "assumeIsolated", "unsafeBitCast", "Unmanaged",
      "UnsafeContinuation", "withUnsafeContinuation", "withUnsafeThrowingContinuation",
    ]
    // Of these an app would have to believe us too.
    let queues = ["DispatchQueue", "pthread"]
    return files.flatMap { file in
      file.code(with: room(file.room)?.isPortable == false ? words : words + queues).filter { _, text in
        !(trusted[file.path] ?? []).contains { text.contains($0) }
      }.map { line, _ in
        Violation(path: file.path, line: line, rule: "the compiler is told not to check for data races")
      }
    }
  }

  static let trusted = [
    // swift-crypto does not say that the key may be shared, and BoringSSL allows it.
    "Sources/ApplePayToken/Unwrap/KeyHolderInMemory.swift": ["struct RSADecryptionKey: @unchecked Sendable"]
  ]
}

/// Rules of style that hold in every file of `Sources`.
enum Tidiness {
  static let maximumLines = 400

  static func violations(_ files: [SourceFile]) -> [Violation] {
    files.flatMap { forgottenNotes($0) + rashCalls($0) + length($0) }
  }

  /// A note to oneself belongs into an issue.
  private static func forgottenNotes(_ file: SourceFile) -> [Violation] {
    file.lines.enumerated().compactMap { number, line in
      ["TODO", "FIXME", "HACK"].first { line.contains($0) }.map {
        Violation(path: file.path, line: number + 1, rule: "a stray \($0)")
      }
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
