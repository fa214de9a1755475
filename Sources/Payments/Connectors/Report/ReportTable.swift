import Acquiring
import StrictJSON

/// A report in CSV as providers and spreadsheets write it (RFC 4180), with commas, semicolons or tabs between the fields.
struct ReportTable {
  struct Row {
    /// The line of the file where the row begins; the first is 1.
    let line: Int
    let fields: [String]
  }

  /// The fields of the first line.
  let names: [String]
  private var reader: Reader

  /// Reads the first line.
  ///
  /// - Throws: for more columns, or longer names of them, than any report has, as soon as there are so many.
  init(_ bytes: some Collection<UInt8>) throws(ReportError) {
    reader = Reader(bytes)
    guard let head = try reader.next() else { throw ReportError(line: 1, "the report is empty") }
    names = head.fields.map { String($0.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed()) }
    guard names.allSatisfy({ $0.utf8.count <= 128 }) else {
      throw ReportError(line: head.line, "no report has such names of columns")
    }
  }

  /// Reads the next row; nil at the end. Empty lines are passed over.
  ///
  /// - Throws: when a quotation mark is missing, or the row has more or fewer fields than the first line.
  mutating func next() throws(ReportError) -> Row? {
    guard let row = try reader.next() else { return nil }
    guard row.fields.count == names.count else {
      throw ReportError(line: row.line, "\(row.fields.count) columns, the head has \(names.count)")
    }
    return row
  }

  private struct Reader {
    private static let quote = UInt8(ascii: "\"")
    private static let (longestField, mostFields) = (4_096, 300)
    private static let ends = [UInt8(ascii: "\n"), UInt8(ascii: "\r")]

    private let bytes: [UInt8]
    private let separator: UInt8
    private var place = 0
    private var line = 1

    init(_ bytes: some Collection<UInt8>) {
      self.bytes = Array(bytes)
      var isQuoted = false
      separator =
        self.bytes.first { byte in
          if byte == Self.quote { isQuoted.toggle() }
          return !isQuoted && [UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "\t")].contains(byte)
        } ?? UInt8(ascii: ",")
    }

    /// Nil at the end.
    mutating func next() throws(ReportError) -> Row? {
      while place < bytes.count, Self.ends.contains(bytes[place]) { step() }
      guard place < bytes.count else { return nil }
      let begin = line
      var (fields, field, isQuoted): ([String], [UInt8], Bool) = ([], [], false)
      while place < bytes.count, isQuoted || !Self.ends.contains(bytes[place]) {
        let byte = bytes[place]
        step()
        if byte == Self.quote {
          // Two of them within quotation marks are one.
          if isQuoted, place < bytes.count, bytes[place] == Self.quote {
            field.append(byte)
            step()
          } else {
            isQuoted.toggle()
          }
        } else if byte == separator, !isQuoted {
          fields.append(try Self.text(field, begin))
          field = []
          guard fields.count < Self.mostFields else { throw ReportError(line: begin, "no report has so many columns") }
        } else {
          field.append(byte)
        }
      }
      guard !isQuoted else { throw ReportError(line: begin, "a quotation mark is missing") }
      return Row(line: begin, fields: fields + [try Self.text(field, begin)])
    }

    /// What is looked up and compared later, so that it must not be dear to compare.
    private static func text(_ field: [UInt8], _ line: Int) throws(ReportError) -> String {
      let text = String(decoding: field, as: UTF8.self)
      guard field.count <= longestField, StreamSafeText.accepts(text) else {
        throw ReportError(line: line, "a field is longer than any report's, or heaps up combining marks")
      }
      // Databases take none in a text.
      guard !field.contains(0) else { throw ReportError(line: line, "a field holds the character NUL") }
      return text
    }

    private mutating func step() {
      if bytes[place] == UInt8(ascii: "\n") { line += 1 }
      place += 1
    }
  }
}
