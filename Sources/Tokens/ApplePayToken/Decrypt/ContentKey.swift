package import Crypto
import TenderPayments

/// The AES key of one payment token: 256 bits in `EC_v1`, 128 in `RSA_v1`.
///
/// It opens that token only. Its description is masked and it cannot be encoded.
public struct ContentKey: Sendable {
  private let key: SymmetricKey

  package init(_ key: SymmetricKey) { self.key = key }

  /// The result of a key agreement by a key agent or a hardware module.
  ///
  /// - Parameter bytes: 32 or 16; nil for any other number.
  public init?(bytes: [UInt8]) {
    guard bytes.count == 32 || bytes.count == 16 else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// Only for the connection between the key agent and its client. The caller wipes them.
  package var bytes: [UInt8] { key.withUnsafeBytes { Array($0) } }

  private static let tagBytes = 16
  /// 16 zero bytes, not the usual 12: Apple's initialization vector.
  private static let zeroVector = try? AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16))

  /// Apple's step 4: AES-GCM without additional data; returns the plaintext only if the tag is valid.
  ///
  /// Source: Apple, *Payment token format reference*, "Decrypt the value of the data key"; NIST SP 800-38D, where a
  /// vector of another length than 12 bytes is hashed into the first counter.
  ///
  /// - Parameter data: ciphertext, then the tag of 16 bytes.
  /// - Returns: card data, which the caller wipes.
  /// - Throws: stage `decrypt`.
  func open(_ data: [UInt8]) throws(PaymentTokenError) -> [UInt8] {
    guard data.count > Self.tagBytes, let vector = Self.zeroVector else {
      throw PaymentTokenError(.tooShort, "too short for a ciphertext and its tag", field: "data")
    }
    do {
      let box = try AES.GCM.SealedBox(
        nonce: vector, ciphertext: data.dropLast(Self.tagBytes), tag: data.suffix(Self.tagBytes))
      var plaintext = try AES.GCM.open(box, using: key)
      return plaintext.moveBytes()
    } catch {
      throw PaymentTokenError(.tagMismatch, "the data was not encrypted with this key, or was changed", field: "data")
    }
  }
}

extension ContentKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  public var description: String { "ContentKey(•••)" }
  public var debugDescription: String { description }
  public var customMirror: Mirror { Mirror(self, children: []) }
}
