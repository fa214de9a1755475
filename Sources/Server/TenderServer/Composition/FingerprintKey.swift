import DirectWire
import Foundation
import MerchantIdentity
import PlatformAPI
import Settings
import Storage
import TenderPayments
import Webhooks

/// The file with the key that makes fingerprints of decrypted payment data.
enum FingerprintKey {
  /// Makes the file at the first start.
  ///
  /// - Throws: when others can read it, or it holds no 32 bytes in hexadecimal digits.
  static func read(_ path: String, _ random: RandomBytes) throws -> [UInt8] {
    if !FileManager.default.fileExists(atPath: path) { try PrivateFile.write(random.hex(32) + "\n", to: path) }
    let text = try MerchantFolder.secretText(path).trimmingCharacters(in: .whitespacesAndNewlines)
    guard let key = Hex.decode(text), key.count == 32 else {
      throw ConfigurationError(path, "holds no 32 bytes in hexadecimal digits; remove it, and the server makes one")
    }
    return key
  }
}
