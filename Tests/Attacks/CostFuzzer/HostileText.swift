import TenderTesting

/// Texts that are slow to process naively: each repeats a few scalars.
struct HostileText: Sendable {
  let name: String
  private let scalars: [Unicode.Scalar]

  static let all = [
    // The comparison of strings sorts marks of different classes, in quadratic time.
    HostileText(name: "marks", scalars: ["\u{301}", "\u{327}"]),
    HostileText(name: "one mark", scalars: ["\u{301}"]),
    HostileText(name: "Tibetan marks", scalars: ["\u{F71}", "\u{F72}"]),
    HostileText(name: "thirty marks at a time", scalars: ["a"] + (0..<15).flatMap { _ in ["\u{301}", "\u{327}"] }),
    HostileText(name: "joined emoji", scalars: ["\u{1F468}", "\u{200D}"]),
    // Stepping back over one flag counts all of them.
    HostileText(name: "flags", scalars: ["\u{1F1E6}"]),
    HostileText(name: "Hangul", scalars: ["\u{1100}", "\u{1161}"]),
    HostileText(name: "ligatures", scalars: ["\u{FDFA}"]),
    HostileText(name: "wide spaces", scalars: ["\u{3000}"]), HostileText(name: "spaces", scalars: [" "]),
    HostileText(name: "letters", scalars: ["a"]), HostileText(name: "digits", scalars: ["9"]),
    HostileText(name: "commas", scalars: [","]), HostileText(name: "equals", scalars: ["a", "=", ",", "v", "1", "="]),
    HostileText(name: "colons", scalars: [":"]), HostileText(name: "dots", scalars: ["."]),
  ]

  /// Every second one is the text that costs the most to compare.
  static func random(_ random: inout SeededGenerator) -> HostileText {
    Bool.random(using: &random) ? all[0] : all.randomElement(using: &random) ?? all[0]
  }

  /// As many whole repetitions as fit into so many bytes.
  func filling(_ bytes: Int) -> String {
    let unit = String(String.UnicodeScalarView(scalars))
    return String(repeating: unit, count: bytes / unit.utf8.count)
  }
}
