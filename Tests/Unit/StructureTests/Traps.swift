/// What ends the process for a number or a text from outside: Swift stops a program on an overflow, an index that is not
/// there, a conversion that does not fit and an optional without a value.
///
/// The rules read text, not types. What they find and may stay has its reason in ``places``.
struct Traps {
  /// A place that may stay.
  struct Allowed {
    /// A file, or a folder with all that is in it.
    let path: String
    /// What stands in the line; nil for all that the rule finds there.
    let text: String?
    let rule: Rule
    let reason: String

    init(_ path: String, _ text: String?, _ rule: Rule, _ reason: String) {
      (self.path, self.text, self.rule, self.reason) = (path, text, rule, reason)
    }

    fileprivate func allows(_ hit: Hit, in file: SourceFile) -> Bool {
      hit.rule == rule && file.path.hasPrefix(path) && (text.map { hit.text[...].holds($0) } ?? true)
    }
  }

  enum Rule: String, CaseIterable {
    case arithmetic = "amounts are added up by Amount, or clamped where they are only shown"
    case rawAmount = "an amount from outside is read by amount(in:), minorUnits or Amount(received:)"
    case databaseSum = "a sum in SQL is made by SQLSum, which no stored number makes fail"
    case index = "an index into a text's parts needs a check of their count"
    case conversion = "the number may not fit: use exactly:, clamping: or truncatingIfNeeded:"
    case unwrapping = "a value that is missing ends the process"
  }

  fileprivate struct Hit {
    let line: Int
    let text: String
    let rule: Rule
  }

  private let allowed: [Allowed]
  private let patterns = Patterns()

  init(allowed: [Allowed] = Self.places) { self.allowed = allowed }

  /// What is found and not allowed, and what is allowed and not found.
  func violations(_ files: [SourceFile]) -> (found: [Violation], needless: [String]) {
    var (found, unused) = ([Violation](), Set(allowed.indices))
    for file in files {
      for hit in hits(in: file) {
        if let place = allowed.firstIndex(where: { $0.allows(hit, in: file) }) {
          unused.remove(place)
        } else {
          found.append(Violation(path: file.path, line: hit.line, rule: hit.rule.rawValue))
        }
      }
    }
    return (found, unused.sorted().map { "\(allowed[$0].path): \(allowed[$0].text ?? allowed[$0].rule.rawValue)" })
  }

  private static let words = [
    "Int8(", "Int16(", "Int32(", "UInt(", "Int64(", "Int(", "CChar(", "!", ".integer", "SUM(", " + ", " - ", " * ",
    " += ", " -= ", " *= ",
  ]

  private func hits(in file: SourceFile) -> [Hit] {
    let marks = file.places(of: ["\"\"\""])
    let isSplit = !file.places(of: ["split"]).isEmpty
    let places = isSplit ? Array(file.lines.indices) : file.places(of: Self.words).sorted()
    let lines = places.map { place in
      CodeLine(
        number: place + 1, whole: String(file.lines[place]),
        isText: marks.contains(place) || marks.count { $0 < place }.isMultiple(of: 2) == false)
    }
    let unchecked =
      isSplit ? patterns.uncheckedParts(lines).map { Hit(line: $0.number, text: $0.whole, rule: .index) } : []
    return lines.flatMap { line in
      patterns.rules(line).map { Hit(line: line.number, text: line.whole, rule: $0) }
    } + unchecked
  }
}

/// A line of code.
private struct CodeLine {
  let number: Int
  /// As it stands there.
  let whole: String
  /// Whether it belongs to a text of many lines.
  let isText: Bool
  /// Without comments and what stands in quotation marks; empty in a text of many lines.
  let code: String

  init(number: Int, whole: String, isText: Bool) {
    (self.number, self.whole, self.isText) = (number, whole, isText)
    guard !isText else {
      code = ""
      return
    }
    let plain = whole[...].holds("\"") ? whole.replacing(/#*"(\\.|[^"\\])*"#*/, with: "\"\"") : whole
    code = plain[...].holds("//") ? plain.replacing(/\/\/.*/, with: "") : plain
  }

  func holds(_ words: String...) -> Bool { words.contains { code[...].holds($0) } }
}

/// Made once: an expression is slow to make.
private struct Patterns {
  private let rawAmount = /"\w*(?:[aA]mount|[vV]alue|[cC]ost|[pP]rice)\w*"\)\??\.integer\b(?!\()/
  private let madeOfRaw = /minorUnits: (?:try )?[\w.()?"]*\.integer\b(?!\()/
  private let unwrapping = /[\w)\]>]!(?![=\w])|\btry!|\bas!/
  private let headerName = /HTTPField\.Name\(""\)!/
  /// Unless it says what happens then.
  private let narrow = /(?:^|[^\w.])(?:U?Int(?:8|16|32)|UInt|UInt64)\((?!\w+: |\w+\.dropFirst\(\), radix|\d)/
  private let ofFraction = /\bInt(?:64)?\(.*(?:timeInterval|rounded|Double|Float)/
  private let sum =
    /(\w+)?(?:\(\.\w+\))?[)?]*(?: \?\? -?\w+\)*)? [-+*]=? ([\["]|\(*(?:try )?[\w.$?]*)/
  private let splitName = /\b(?:let|var) (\w+)\b[^=]*=[ ]/
  private let part = /(\$0|\w+)\[(\d+)\]/

  func rules(_ line: CodeLine) -> [Traps.Rule] { Traps.Rule.allCases.filter { finds($0, line) } }

  private func finds(_ rule: Traps.Rule, _ line: CodeLine) -> Bool {
    switch rule {
    case .arithmetic: calculatesWithMoney(line)
    case .rawAmount:
      line.holds(".integer") && (line.whole.contains(rawAmount) || line.code.contains(madeOfRaw))
    case .databaseSum: line.isText && line.whole[...].holds("SUM(")
    case .index: false
    case .conversion:
      line.holds("CChar(") || line.holds("Int8(", "Int16(", "Int32(", "UInt(", "UInt64(") && line.code.contains(narrow)
        || line.holds("Int(", "Int64(") && line.code.contains(ofFraction)
    case .unwrapping: line.holds("!") && line.code.contains(unwrapping) && !line.code.contains(headerName)
    }
  }

  /// How the name of a number of minor units ends.
  private static let money = [
    "amount", "units", "captured", "refunded", "authorized", "authorised", "chargedback", "reservedcapture",
    "reservedvoid", "reservedrefund", "incremented", "releases", "capturable", "received", "price", "fee", "discount",
    "cost", "tax", "total",
    "shipping",
  ]

  /// A plus, a minus or a times beside such a name. What joins lists and texts is none: a bracket or a quotation mark
  /// stands beside it.
  private func calculatesWithMoney(_ line: CodeLine) -> Bool {
    guard line.holds(" + ", " - ", " * ", " += ", " -= ", " *= ") else { return false }
    return line.code.matches(of: sum).contains { match in
      let (left, right) = (match.output.1 ?? "", match.output.2)
      guard !right.hasPrefix("["), !right.hasPrefix("\"") else { return false }
      return [left, right].contains { name in
        let name = name.lowercased()
        return Self.money.contains { name.hasSuffix($0) }
      }
    }
  }

  /// Indexes into the parts of a split text. They are checked where the parts' count is read between the split and the
  /// index, or in the same line; a split that keeps empty parts has a first one.
  func uncheckedParts(_ lines: [CodeLine]) -> [CodeLine] {
    // How many parts are known to be there.
    var (names, unchecked) = ([Substring: Int](), [CodeLine]())
    for (place, line) in lines.enumerated() {
      if line.holds("func ", "init(") { names = [:] }
      let isContinued = lines.dropFirst(place + 1).first?.code.drop { $0 == " " }.hasPrefix(".split") == true
      if line.holds("split") || isContinued, let name = line.code.firstMatch(of: splitName)?.output.1 {
        names[name] = line.holds("omittingEmptySubsequences: false") ? 1 : 0
      }
      guard line.holds("[", ".count") else { continue }
      for name in Array(names.keys) + ["$0"] where line.code[...].holds("\(name).count") { names[name] = .max }
      for match in line.code.matches(of: part) {
        let (name, index) = (match.output.1, Int(match.output.2) ?? 0)
        if let known = name == "$0" ? names[name] ?? 0 : names[name], index >= known { unchecked.append(line) }
      }
    }
    return unchecked
  }
}
