/// A file that a person has chosen in a form.
struct OfficeFile: Sendable, Hashable {
  let name: String
  let bytes: [UInt8]
}

/// Reads `multipart/form-data` (RFC 7578) as browsers send it.
enum MultipartForm {
  private static let mostParts = 100

  /// - Parameter contentType: of the request.
  /// - Returns: nil for another type, or for a body that is cut off.
  static func read(_ body: [UInt8], _ contentType: String) -> OfficeForm? {
    guard contentType.lowercased().hasPrefix("multipart/form-data"), let boundary = parameter("boundary", contentType)
    else { return nil }
    let mark = Array("\r\n--\(boundary)".utf8)
    let pieces = split(Array("\r\n".utf8) + body, at: mark)
    guard pieces.count >= 2, pieces.count <= mostParts, pieces.last?.starts(with: "--".utf8) == true else { return nil }
    return form(of: pieces.dropFirst().dropLast())
  }

  private static func form(of parts: ArraySlice<ArraySlice<UInt8>>) -> OfficeForm? {
    var (fields, files) = ([String: [String]](), [String: OfficeFile]())
    for part in parts {
      guard let end = place(of: Array("\r\n\r\n".utf8), in: part) else { return nil }
      let head = String(decoding: part[part.startIndex..<end], as: UTF8.self)
      guard let name = parameter("name", head) else { return nil }
      let content = Array(part[(end + 4)...])
      if let file = parameter("filename", head) {
        files[name] = OfficeFile(name: file, bytes: content)
      } else {
        fields[name, default: []].append(String(decoding: content, as: UTF8.self))
      }
    }
    return OfficeForm(fields: fields, files: files)
  }

  /// The value of `name="…"` or `name=…`.
  private static func parameter(_ name: String, _ text: String) -> String? {
    for item in text.split(whereSeparator: { $0 == ";" || $0.isNewline }) {
      let pair = item.split(separator: "=", maxSplits: 1)
      let key = pair[0].drop(while: \.isWhitespace).lowercased()
      guard pair.count == 2, key.utf8.elementsEqual(name.utf8) else { continue }
      return String(pair[1].drop { $0 == "\"" }.prefix { $0 != "\"" })
    }
    return nil
  }

  private static func split(_ bytes: [UInt8], at mark: [UInt8]) -> [ArraySlice<UInt8>] {
    var (pieces, rest) = ([ArraySlice<UInt8>](), bytes[...])
    while let end = place(of: mark, in: rest) {
      pieces.append(rest[rest.startIndex..<end])
      rest = rest[(end + mark.count)...]
    }
    return pieces + [rest]
  }

  private static func place(of mark: [UInt8], in bytes: ArraySlice<UInt8>) -> Int? {
    guard bytes.count >= mark.count else { return nil }
    return (bytes.startIndex...bytes.endIndex - mark.count).first {
      bytes[$0] == mark[0] && bytes[$0..<$0 + mark.count].elementsEqual(mark)
    }
  }
}
