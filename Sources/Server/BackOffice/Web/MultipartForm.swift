import HTTPServing

/// A file that a person has chosen in a form.
struct OfficeFile: Sendable, Hashable {
  let name: String
  let bytes: [UInt8]
}

/// Reads `multipart/form-data` (RFC 7578) as browsers send it.
struct MultipartForm {
  private static let mostParts = 100
  /// Bytes of the headers of one part.
  private static let longestHead = 4_096

  private(set) var fields: [(name: String, value: String)] = []
  private(set) var files: [(name: String, file: OfficeFile)] = []

  /// - Parameters:
  ///   - contentType: of the request.
  ///   - isWhole: false for the beginning of a body, whose last part is left out.
  /// - Returns: nil for a type without a boundary, for a body that is cut off, and for text that ``RequestText`` refuses.
  init?(_ body: [UInt8], _ contentType: String, isWhole: Bool) {
    guard let boundary = Self.parameter("boundary", in: Array(contentType.utf8)[...]),
      (1...70).contains(boundary.count), let parts = Self.parts(of: body[...], at: boundary, isWhole)
    else { return nil }
    for part in parts { guard add(part) else { return nil } }
  }

  private mutating func add(_ part: ArraySlice<UInt8>) -> Bool {
    guard let end = Self.place(of: Array("\r\n\r\n".utf8), in: part), end - part.startIndex <= Self.longestHead,
      let name = Self.parameter("name", in: part[..<end]).flatMap(RequestText.read)
    else { return false }
    let content = part[(end + 4)...]
    if let file = Self.parameter("filename", in: part[..<end]) {
      guard let fileName = RequestText.read(file) else { return false }
      files.append((name, OfficeFile(name: fileName, bytes: Array(content))))
    } else {
      guard let value = RequestText.read(content) else { return false }
      fields.append((name, value))
    }
    return true
  }

  /// The parts between boundaries, each with its headers.
  private static func parts(
    of body: ArraySlice<UInt8>, at boundary: ArraySlice<UInt8>, _ isWhole: Bool
  ) -> [ArraySlice<UInt8>]? {
    let mark = Array("\r\n--".utf8) + boundary
    guard body.starts(with: mark.dropFirst(2)) else { return nil }
    var (parts, rest) = ([ArraySlice<UInt8>](), body.dropFirst(mark.count - 2))
    while let end = place(of: mark, in: rest) {
      guard parts.count < mostParts else { return nil }
      parts.append(rest[..<end])
      rest = rest[(end + mark.count)...]
    }
    return !isWhole || rest.starts(with: "--".utf8) ? parts : nil
  }

  /// The value of `name="…"` or `name=…`, which a semicolon or the line ends.
  private static func parameter(_ name: String, in text: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    let quote = UInt8(ascii: "\"")
    var rest = text
    while !rest.isEmpty {
      var isQuoted = false
      let item = rest.prefix { byte in
        if byte == quote { isQuoted.toggle() }
        return byte != 0x0D && byte != 0x0A && (isQuoted || byte != UInt8(ascii: ";"))
      }
      rest = rest[item.endIndex...].dropFirst()
      let key = item.prefix { $0 != UInt8(ascii: "=") }
      let word = key.drop { $0 == 0x20 || $0 == 0x09 }
      guard key.endIndex < item.endIndex, word.map({ $0 | 0x20 }).elementsEqual(name.utf8) else { continue }
      let value = item[key.endIndex...].dropFirst()
      return value.first == quote ? value.dropFirst().prefix { $0 != quote } : value
    }
    return nil
  }

  /// - Parameter mark: begins with a carriage return.
  private static func place(of mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    var rest = bytes
    while let start = rest.firstIndex(of: 0x0D) {
      rest = rest[start...]
      if rest.starts(with: mark) { return start }
      rest = rest.dropFirst()
    }
    return nil
  }
}
