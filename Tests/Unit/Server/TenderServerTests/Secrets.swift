import ApplePayToken
import Foundation
import StrictJSON
import TenderPayments
import TenderTesting

/// What a payment token holds that may be nowhere else, in every form in which it could have slipped out.
struct Secrets {
  struct Form {
    let name: String
    let bytes: Data
  }

  let forms: [Form]

  /// Opens the token with the merchant's key, for tests of secrecy alone.
  init(of token: JSONValue, _ system: TestSystem) throws {
    let folder = system.directory + "/merchants/harbour/processing/1"
    let key = try ProcessingKey(
      privateKeyPEM: String(contentsOfFile: folder + ".key", encoding: .utf8),
      certificatePEM: String(contentsOfFile: folder + ".pem", encoding: .utf8))
    let root = try String(contentsOfFile: system.directory + "/sandbox/pki/token-root.pem", encoding: .utf8)
    let opener = TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: root)),
      keys: ProcessingKeyRing([MerchantID("harbour"): [key]]))
    let card = try opener.open(
      try EncryptedPaymentToken(json: token), for: MerchantID("harbour"), at: system.clock.wall.now()
    )
    .paymentData.networkToken
    forms =
      Self.forms("account number", Array(card.dpan.revealed.utf8))
      + Self.forms("cryptogram", Array(card.cryptogram.revealed.utf8))
      + [Form(name: "raw cryptogram", bytes: Data(Base64.decode(card.cryptogram.revealed) ?? []))]
      + [Form(name: "private key", bytes: Data(try Self.keyLine(folder + ".key")))]
  }

  func found(in data: Data) -> [String] {
    forms.filter { data.range(of: $0.bytes) != nil }.map(\.name)
  }

  /// As it is, in hex, in UTF-16, with spaces, and in base64 at each of the three places it can begin.
  private static func forms(_ name: String, _ bytes: [UInt8]) -> [Form] {
    let text = String(decoding: bytes, as: UTF8.self)
    let spaced = stride(from: 0, to: text.count, by: 4).map { text.dropFirst($0).prefix(4) }.joined(separator: " ")
    let base64 = (0..<3).map { shift in
      let encoded = Base64.encode([UInt8](repeating: 0, count: shift) + bytes)
      return Form(
        name: "\(name) in base64 +\(shift)", bytes: Data(encoded.dropFirst(shift == 0 ? 0 : 4).dropLast(4).utf8))
    }
    return [
      Form(name: name, bytes: Data(bytes)), Form(name: "\(name) in hex", bytes: Data(Hex.encode(bytes).utf8)),
      Form(name: "\(name) spaced", bytes: Data(spaced.utf8)),
      Form(name: "\(name) in UTF-16", bytes: text.data(using: .utf16LittleEndian) ?? Data()),
    ] + base64
  }

  /// One line of the key's own text, which no other file may hold.
  private static func keyLine(_ path: String) throws -> [UInt8] {
    let lines = try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n")
    return Array((lines.first { !$0.hasPrefix("-") } ?? "").utf8)
  }

  /// Every file that the server and the acquirer wrote; the merchant's own keys are kept elsewhere on purpose.
  static func files(below directory: String) throws -> [String] {
    try FileManager.default.subpathsOfDirectory(atPath: directory)
      .filter { !$0.hasPrefix("merchants/") && !$0.hasSuffix(".lock") && !$0.hasSuffix(".sock") }
      .map { "\(directory)/\($0)" }
      .filter { (try? FileManager.default.attributesOfItem(atPath: $0)[.type] as? FileAttributeType) == .typeRegular }
  }
}
