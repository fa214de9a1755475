import Foundation
import TenderPayments

/// A message as a person reads it: its header decoded, its parts as text and as HTML. The sandbox reads it with code of
/// its own, so that a message that is not well formed is seen.
package struct ReceivedMail: Sendable, Hashable {
  package struct Field: Sendable, Hashable {
    package let name: String
    package let value: String
  }

  package let fields: [Field]
  /// Nil without such a part.
  package let text: String?
  package let html: String?

  init(_ bytes: [UInt8]) {
    let message = MailPart(bytes)
    fields = message.fields.map { Field(name: $0.name, value: EncodedWords.decode($0.value)) }
    let leaves = message.leaves
    text = leaves.first { $0.type == "text/plain" }?.content
    html = leaves.first { $0.type == "text/html" }?.content
  }

  /// The first field of a name; empty where there is none.
  package func field(_ name: String) -> String {
    fields.first { $0.name.lowercased() == name.lowercased() }?.value ?? ""
  }
}

/// A part of a message, RFC 2045 and 2046.
private struct MailPart {
  let fields: [ReceivedMail.Field]
  private let body: [UInt8]

  init(_ bytes: [UInt8]) {
    let lines = Self.lines(bytes)
    let head = lines.prefix { !$0.isEmpty }
    body = Array(lines.dropFirst(head.count + 1).joined(separator: [0x0D, 0x0A]))
    fields = Self.fields(head.map { String(decoding: $0, as: UTF8.self) })
  }

  private static func lines(_ bytes: [UInt8]) -> [[UInt8]] {
    bytes.split(separator: 0x0A, omittingEmptySubsequences: false).map { line in
      Array(line.last == 0x0D ? line.dropLast() : line)
    }
  }

  /// A line that begins with a space continues the one before.
  private static func fields(_ lines: [String]) -> [ReceivedMail.Field] {
    var unfolded: [String] = []
    for line in lines {
      if line.first == " " || line.first == "\t", let last = unfolded.popLast() {
        unfolded.append(last + line)
      } else {
        unfolded.append(line)
      }
    }
    return unfolded.compactMap { line in
      guard let colon = line.firstIndex(of: ":") else { return nil }
      let value = line[line.index(after: colon)...].drop { $0 == " " }
      return ReceivedMail.Field(name: String(line[..<colon]), value: String(value))
    }
  }

  private func field(_ name: String) -> String {
    fields.first { $0.name.lowercased() == name }?.value ?? ""
  }

  var type: String { field("content-type").prefix { $0 != ";" }.lowercased() }

  /// The parts that have no parts.
  var leaves: [MailPart] {
    guard type.hasPrefix("multipart/"), let boundary else { return [self] }
    let marker = Array("--\(boundary)".utf8)
    let lines = Self.lines(body)
    let starts = lines.indices.filter { lines[$0].starts(with: marker) }
    return zip(starts, starts.dropFirst()).flatMap { start, end in
      MailPart(Array(lines[(start + 1)..<end].joined(separator: [0x0D, 0x0A]))).leaves
    }
  }

  private var boundary: String? {
    field("content-type").firstMatch(of: /boundary="?([^";]+)"?/).map { String($0.output.1) }
  }

  var content: String {
    let bytes =
      switch field("content-transfer-encoding").lowercased() {
      case "quoted-printable": QuotedLetters.decode(body)
      case "base64": Base64.decode(String(decoding: body.filter { $0 > 0x20 }, as: UTF8.self)) ?? body
      default: body
      }
    return String(decoding: bytes, as: UTF8.self)
  }
}

/// `quoted-printable`, RFC 2045 §6.7, and the letters of `Q` in RFC 2047.
private enum QuotedLetters {
  static func decode(_ bytes: [UInt8]) -> [UInt8] {
    var (decoded, index) = ([UInt8](), 0)
    while index < bytes.count {
      guard bytes[index] == UInt8(ascii: "=") else {
        decoded.append(bytes[index])
        index += 1
        continue
      }
      let next = Array(bytes[(index + 1)..<min(index + 3, bytes.count)])
      // `=` at the end of a line joins it to the next.
      if next != [0x0D, 0x0A] { decoded += Hex.decode(String(decoding: next, as: UTF8.self).lowercased()) ?? [] }
      index += 3
    }
    return decoded
  }
}

/// `=?UTF-8?B?…?=`, RFC 2047.
private enum EncodedWords {
  static func decode(_ text: String) -> String {
    let joined = text.replacing(/\?=\s+=\?/, with: "?==?")
    return joined.replacing(/=\?[Uu][Tt][Ff]-8\?([BbQq])\?([^?]*)\?=/) { match in
      let isBase64 = match.output.1.lowercased() == "b"
      let bytes =
        isBase64
        ? Base64.decode(String(match.output.2)) ?? []
        : QuotedLetters.decode(Array(match.output.2.replacing("_", with: " ").utf8))
      return String(decoding: bytes, as: UTF8.self)
    }
  }
}
