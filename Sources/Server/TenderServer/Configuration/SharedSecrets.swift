import Foundation
import MerchantIdentity

/// The secrets that Tender shares with a merchant's server, each in a file `<key id>.secret` of a folder.
enum SharedSecrets {
  /// Below it a secret can be guessed; an empty one is known to everybody.
  static let minimumBytes = 16

  /// The secrets of a folder by key id; none when there is no such folder. Spaces and line ends around one do not count.
  static func read(in folder: String) throws -> [String: String] {
    try Dictionary(
      uniqueKeysWithValues: MerchantFolder.names(in: folder, ending: ".secret").map { id in
        (id, try secret("\(folder)/\(id).secret"))
      })
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
        throw ConfigurationError(
          "\(directory)/\(folder.merchant.id)/api-keys/\(id).secret",
          "merchant \(other.merchant.id) has a key of the same id; give this one another name and a secret of its own")
      }
    }
  }
}
