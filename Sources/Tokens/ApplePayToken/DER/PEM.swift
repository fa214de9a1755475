import TenderPayments

/// The blocks of a PEM text (RFC 7468); text between them is ignored.
struct PEM {
  let label: String
  var bytes: [UInt8]

  /// Every block of the text; nil when one is not ended.
  static func blocks(_ text: String) -> [PEM]? {
    var blocks: [PEM] = []
    var label: String?
    var body = ""
    for line in text.split(whereSeparator: \.isNewline).map(trimmed) {
      if let began = Self.label(of: line, after: "-----BEGIN ") {
        guard label == nil else { return nil }
        (label, body) = (began, "")
      } else if let ended = Self.label(of: line, after: "-----END ") {
        guard let began = label, began == ended else { return nil }
        blocks.append(PEM(label: began, bytes: Base64.decode(body) ?? []))
        label = nil
      } else if label != nil {
        body += line
      }
    }
    return label == nil ? blocks : nil
  }

  private static func label(of line: Substring, after prefix: String) -> String? {
    guard line.hasPrefix(prefix), line.hasSuffix("-----") else { return nil }
    return String(line.dropFirst(prefix.count).dropLast(5))
  }

  private static func trimmed(_ line: Substring) -> Substring {
    var line = line
    while line.last?.isWhitespace == true { line.removeLast() }
    while line.first?.isWhitespace == true { line.removeFirst() }
    return line
  }
}
