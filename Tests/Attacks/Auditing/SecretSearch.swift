package import Foundation

/// Looks for secrets in whatever form they may have slipped out: as they are, in hex, in groups of four, in UTF-16, and
/// in base64 at each of the three places where it can begin.
package struct SecretSearch: Sendable {
  private let forms: [Data]

  package init(_ secrets: [String]) {
    forms = secrets.filter { $0.utf8.count >= 8 }.flatMap(Self.forms)
  }

  /// Whether one of the secrets is in the bytes.
  package func finds(in data: Data) -> Bool {
    data.withUnsafeBytes { hay in forms.contains { form in form.withUnsafeBytes { Self.finds($0, in: hay) } } }
  }

  private static func finds(_ needle: UnsafeRawBufferPointer, in hay: UnsafeRawBufferPointer) -> Bool {
    guard let begin = hay.baseAddress, let wanted = needle.baseAddress, needle.count > 0 else { return false }
    var place = 0
    while place + needle.count <= hay.count {
      let room = hay.count - needle.count + 1 - place
      guard let next = memchr(begin + place, Int32(needle[0]), room) else { return false }
      guard memcmp(next, wanted, needle.count) != 0 else { return true }
      place = UnsafeRawPointer(next) - begin + 1
    }
    return false
  }

  private static func forms(_ secret: String) -> [Data] {
    let bytes = Data(secret.utf8)
    let hex = bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    let written = [secret, hex, hex.uppercased(), grouped(secret, " "), grouped(secret, "-")] + base64(bytes)
    return written.map { Data($0.utf8) } + [String.Encoding.utf16LittleEndian, .utf16BigEndian].compactMap(secret.data)
  }

  private static func grouped(_ secret: String, _ mark: String) -> String {
    stride(from: 0, to: secret.count, by: 4).map { String(secret.dropFirst($0).prefix(4)) }.joined(separator: mark)
  }

  /// What stays the same whatever stands before and behind it.
  private static func base64(_ bytes: Data) -> [String] {
    (0..<3).map { shift in
      let whole = (Data(count: shift) + bytes).base64EncodedString()
      return String(whole.dropFirst(shift == 0 ? 0 : 4).dropLast(4))
    }
  }
}

extension String {
  fileprivate func data(_ encoding: Encoding) -> Data? { data(using: encoding) }
}
