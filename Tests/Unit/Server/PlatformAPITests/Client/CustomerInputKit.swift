import Foundation
import PlatformAPI
import StrictJSON
import TenderCheckout
import TenderPayments

/// Encrypts any text to a server's key, as the kits encrypt theirs.
struct CustomerInputKit {
  let key: CustomerInputKey

  init(_ key: CustomerInputKey) { self.key = key }

  func encrypt(_ text: String) throws -> String {
    let primitives = CustomerInputPrimitives.crypto(RandomBytes.system.next)
    return try CustomerInputEncryption.message(
      Array(text.utf8), to: CustomerInputPublicKey(keyId: key.id, publicKey: Base64.encode(key.publicKey)), primitives)
  }
}
