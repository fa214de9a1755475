/// A block of a PEM text (RFC 7468).
package struct PEM {
  package let label: String
  /// Empty where the text between the marks is no base64.
  package var bytes: [UInt8]

  /// The usual labels, which a message may repeat: any other is the sender's own text.
  private static let labels: Set = [
    "CERTIFICATE", "CERTIFICATE REQUEST", "NEW CERTIFICATE REQUEST", "TRUSTED CERTIFICATE", "PUBLIC KEY",
    "RSA PUBLIC KEY", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY", "ENCRYPTED PRIVATE KEY",
  ]
  /// What the first block is that has one of ``labels``, as “private key” also for one of EC.
  package static func name(in blocks: [PEM]) -> String? {
    blocks.map(\.label).first(where: labels.contains).map {
      $0.lowercased().split(separator: " ").suffix(2).joined(separator: " ")
    }
  }

  /// Why a block has no bytes, and why a text has no blocks.
  package static let noBase64 = "the text between the marks of the PEM is no base64: something cut or changed it"
  package static let isCut =
    "the PEM is cut off or damaged: its lines -----BEGIN and -----END do not belong together"

  /// Every block of the text; nil when one is not ended.
  ///
  /// Text between blocks is ignored, and so is white space in them, whatever the lines: editors, forms and environment
  /// variables change it. JSON and settings write a line end as a backslash and a letter, which is white space too.
  package static func blocks(_ text: String) -> [PEM]? {
    var (blocks, rest) = ([PEM](), Array(text.utf8)[...])
    while let begin = rest.firstRange(of: beginning) {
      let content = rest[begin.upperBound...]
      guard let mark = content.firstRange(of: dashes), let end = content.firstRange(of: ending) else { return nil }
      let label = content[..<mark.lowerBound]
      let after = content[end.upperBound...]
      guard mark.upperBound <= end.lowerBound, label.count <= 64, label.allSatisfy({ (0x20...0x7E).contains($0) }),
        after.starts(with: label + dashes),
        rest[..<begin.lowerBound].firstRange(of: ending) == nil
      else { return nil }
      let body = content[mark.upperBound..<end.lowerBound]
      guard body.firstRange(of: beginning) == nil else { return nil }
      let letters = String(decoding: letters(of: body), as: UTF8.self)
      blocks.append(PEM(label: String(decoding: label, as: UTF8.self), bytes: Base64.decode(letters) ?? []))
      rest = after.dropFirst(label.count + dashes.count)
    }
    return rest.firstRange(of: ending) == nil ? blocks : nil
  }

  /// Without white space, and without escapes of it.
  private static func letters(of body: ArraySlice<UInt8>) -> [UInt8] {
    var (letters, isEscaped) = ([UInt8](), false)
    for byte in body where byte > 0x20 {
      if byte != backslash, !(isEscaped && "nrt".utf8.contains(byte)) { letters.append(byte) }
      isEscaped = byte == backslash
    }
    return letters
  }

  private static let backslash = UInt8(ascii: "\\")
  private static let beginning = Array("-----BEGIN ".utf8)
  private static let ending = Array("-----END ".utf8)
  private static let dashes = Array("-----".utf8)
}
