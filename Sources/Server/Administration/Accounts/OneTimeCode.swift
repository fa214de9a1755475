import Crypto
package import TenderPayments

/// The secret behind an operator's one-time codes, which an app computes too (TOTP, RFC 6238: SHA-1, six digits, 30
/// seconds). Prints masked.
package struct OneTimeCodeSecret: Sendable {
  private static let step: Int64 = 30
  private static let bytes = 20
  private let secret: [UInt8]

  package init(random: RandomBytes) { secret = random.next(Self.bytes) }

  /// - Parameter text: hexadecimal, as it is sealed.
  package init?(hex text: String) {
    guard let bytes = Hex.decode(text), !bytes.isEmpty else { return nil }
    secret = bytes
  }

  /// In hexadecimal, to be sealed.
  package var sealedText: String { Hex.encode(secret) }

  /// What a person types into the app.
  package var base32: String { Base32.encode(secret) }

  /// What the app reads (`otpauth://totp/…`).
  package func address(of name: String, issuer: String) -> String {
    let label = name.utf8.map { byte in
      (0x61...0x7A).contains(byte) || (0x30...0x39).contains(byte)
        ? String(UnicodeScalar(byte)) : "%" + Hex.encode([byte])
    }.joined()
    return "otpauth://totp/\(issuer):\(label)?secret=\(base32)&issuer=\(issuer)"
  }

  /// - Parameter now: of the machine, as the app's: also where a simulated clock is moved on.
  package func code(at now: Timestamp) -> String { code(of: Self.step(at: now)) }

  /// The step of a code that is valid now, one step early or one late; nil for another. Spaces in it do not count, because
  /// apps show codes in two groups.
  ///
  /// - Parameter last: the step of the last code that was taken. It and the ones before are not taken again.
  func step(of code: String, at now: Timestamp, after last: Int64) -> Int64? {
    let current = Self.step(at: now)
    // As apps show and keyboards write them: in groups, and with the digits of other scripts.
    let digits = code.filter { !$0.isWhitespace && $0 != "-" && $0 != "–" }.map { character in
      character.unicodeScalars.count == 1 ? character.wholeNumberValue.map(String.init) ?? "?" : "?"
    }.joined()
    return (current - 1...current + 1).first { $0 > last && self.code(of: $0).utf8.elementsEqual(digits.utf8) }
  }

  private static func step(at now: Timestamp) -> Int64 { now.seconds / step }

  /// As the store keeps a recovery code of the secret's user: under a key that is not in the store in clear, so that who
  /// reads the store cannot try codes. Case, spaces and hyphens do not count.
  func hash(ofRecoveryCode code: String) -> String {
    let message = Array("tender office recovery code ".utf8) + RecoveryCodes.letters(of: code)
    return Hex.encode(HMAC<SHA256>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
  }

  private func code(of step: Int64) -> String {
    let message = withUnsafeBytes(of: UInt64(clamping: step).bigEndian, Array.init)
    let mac = Array(HMAC<Insecure.SHA1>.authenticationCode(for: message, using: SymmetricKey(data: secret)))
    let offset = Int(mac[19] & 0x0F)
    let number = mac[offset..<offset + 4].reduce(UInt32(0)) { $0 << 8 | UInt32($1) } & 0x7FFF_FFFF
    let digits = String(number % 1_000_000)
    return String(repeating: "0", count: 6 - digits.count) + digits
  }
}

extension OneTimeCodeSecret: CustomStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

/// RFC 4648, section 6, without padding.
enum Base32 {
  private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")

  static func encode(_ bytes: [UInt8]) -> String {
    var (text, buffer, bits) = ("", 0, 0)
    for byte in bytes {
      (buffer, bits) = (buffer << 8 | Int(byte), bits + 8)
      while bits >= 5 {
        bits -= 5
        text.append(alphabet[buffer >> bits & 31])
      }
      buffer &= (1 << bits) - 1
    }
    if bits > 0 { text.append(alphabet[buffer << (5 - bits) & 31]) }
    return text
  }
}

/// Codes that take the place of the app once each, for a user who has lost it.
package enum RecoveryCodes {
  static let count = 10

  /// 80 random bits each, in four groups of four.
  static func make(_ random: RandomBytes) -> [String] {
    (0..<count).map { _ in
      let letters = Array(Base32.encode(random.next(10)).lowercased())
      return stride(from: 0, to: letters.count, by: 4).map { String(letters[$0..<$0 + 4]) }.joined(separator: "-")
    }
  }

  static func letters(of code: String) -> [UInt8] {
    code.lowercased().utf8.filter { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
  }

  /// Whether it looks like the codes of 50 bits that were issued before, whose hashes were without a key.
  package static func isFormer(_ code: String) -> Bool { letters(of: code).count == 10 }
}
