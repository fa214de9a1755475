import Foundation
import MerchantIdentity
package import TenderPayments

/// The secrets that Tender shares with a merchant's server, each in a file `<key id>.secret` of a folder.
package enum SharedSecrets {
  /// Below it a secret can be guessed; an empty one is known to everybody.
  package static let minimumBytes = 16

  /// Whether a key may have this id: it is a file's name, and a part of headers. 1 to 64 letters, digits, `.`, `_` and `-`
  /// of ASCII, and no dot first.
  package static func isID(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count) && text.utf8.first != UInt8(ascii: ".")
      && text.utf8.allSatisfy { byte in
        (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
          || "._-".utf8.contains(byte)
      }
  }

  /// An id for a key that is made now: ids rise with time, because in a folder the key whose id comes last signs.
  package static func newID(at now: Timestamp, _ random: RandomBytes) -> String {
    Hex.encode(withUnsafeBytes(of: UInt32(truncatingIfNeeded: now.seconds).bigEndian, Array.init)) + random.hex(4)
  }

  /// The secrets of a folder by key id; none when there is no such folder. Spaces and line ends around one do not count.
  package static func read(in folder: String) throws -> [String: String] {
    try Dictionary(
      uniqueKeysWithValues: MerchantFolder.names(in: folder, ending: ".secret").map { id in
        (id, try secret("\(folder)/\(id).secret"))
      })
  }

  /// The key that Tender signs with, of several: the newest, so that a new one takes over beside the others.
  ///
  /// - Parameters:
  ///   - keys: secret by key id.
  ///   - newest: the id of the newest. Nil for the keys of a folder that names none by `signingKeys`: its files have no
  ///     trustworthy time, and the one whose id comes last signs.
  static func signing(_ keys: [String: String], newest: String? = nil) -> (key: String, value: String)? {
    if let newest, let secret = keys[newest] { return (newest, secret) }
    return keys.max { $0.key < $1.key }
  }

  /// Looks at each secret by itself.
  static func examine(_ folder: String, _ problems: inout ProblemList) {
    for id in problems.attempt(folder, { try MerchantFolder.names(in: folder, ending: ".secret") }) ?? [] {
      problems.attempt("\(folder)/\(id).secret") { try secret("\(folder)/\(id).secret") }
    }
  }

  private static func secret(_ file: String) throws -> String {
    let secret = try MerchantFolder.secretText(file).trimmingCharacters(in: .whitespacesAndNewlines)
    guard secret.utf8.count >= minimumBytes else {
      throw ConfigurationError(
        file,
        "the secret has \(secret.utf8.count) bytes and needs \(minimumBytes) or more; make one: "
          + "(umask 077; openssl rand -hex 32 > \(file))")
    }
    return secret
  }

  /// A platform API request names its key by id alone, so no two merchants may have a key of the same id.
  static func refuseRepeatedAPIKeys(_ folders: [MerchantFolder], in directory: String) throws {
    var owners: [String: MerchantFolder] = [:]
    for folder in folders {
      for id in folder.apiKeys.keys.sorted() {
        guard let other = owners.updateValue(folder, forKey: id) else { continue }
        throw repeated(id, of: folder.merchant.id, and: other.merchant.id, in: directory)
      }
    }
  }

  /// - Parameter directory: of the merchants' folders; nil for a merchant of the store.
  package static func repeated(
    _ id: String, of merchant: MerchantID, and other: MerchantID, in directory: String?
  ) -> ConfigurationError {
    ConfigurationError(
      directory.map { "\($0)/\(merchant)/api-keys/\(id).secret" } ?? "the API key \(id) of \(merchant)",
      "merchant \(other) has a key of the same id; give this one another name and a secret of its own")
  }
}
