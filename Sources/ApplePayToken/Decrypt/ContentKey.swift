import Crypto

/// The AES key of one payment token.
struct ContentKey {
  private let key: SymmetricKey

  init(_ key: SymmetricKey) { self.key = key }

  private static let tagBytes = 16
  /// 16 zero bytes, not the usual 12: Apple's initialization vector.
  private static let zeroVector = try? AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16))

  /// Apple's step 4: AES-GCM without additional data; nothing comes out unless the tag is right.
  ///
  /// - Parameter data: ciphertext, then the tag of 16 bytes.
  /// - Throws: stage `decrypt`.
  func open(_ data: [UInt8]) throws(PaymentTokenError) -> [UInt8] {
    guard data.count > Self.tagBytes, let vector = Self.zeroVector else {
      throw PaymentTokenError(.tooShort, "no room for a ciphertext and its tag", field: "data")
    }
    do {
      let box = try AES.GCM.SealedBox(
        nonce: vector, ciphertext: data.dropLast(Self.tagBytes), tag: data.suffix(Self.tagBytes))
      return Array(try AES.GCM.open(box, using: key))
    } catch {
      throw PaymentTokenError(.tagMismatch, "the data was not encrypted with this key, or was changed", field: "data")
    }
  }
}
