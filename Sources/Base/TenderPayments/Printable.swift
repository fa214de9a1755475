extension Unicode.Scalar {
  /// Whether it stands on a line as it is: no control character, no line break and no mark of the writing direction.
  /// Terminals take the first for commands; the others show a text in another place or order than it is in.
  package var isPrintable: Bool {
    switch properties.generalCategory {
    case .control, .lineSeparator, .paragraphSeparator: false
    default: !properties.isBidiControl
    }
  }

  /// Whether people see it: no space, and none of the marks that show nothing by themselves.
  package var isVisible: Bool {
    isPrintable && !properties.isWhitespace && !properties.isDefaultIgnorableCodePoint
  }

  /// Whether it may stand in a text for people: printable, or one of the marks by which Hebrew and Arabic place a number or a
  /// full stop, and which turn nothing else.
  package var isReadable: Bool { isPrintable || ["\u{061C}", "\u{200E}", "\u{200F}"].contains(self) }

  /// `\u202e`, as JSON writes it.
  package var escaped: String {
    String(self).utf16.map { unit in
      "\\u" + Hex.encode([UInt8(truncatingIfNeeded: unit >> 8), UInt8(truncatingIfNeeded: unit)])
    }.joined()
  }
}
