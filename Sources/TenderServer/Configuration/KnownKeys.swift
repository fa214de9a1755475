import Foundation
import Yams

/// The keys that a YAML file may hold. Another one is refused, because a misspelt key would otherwise be a default that
/// nobody chose.
struct KnownKeys {
  let names: Set<String>

  static let server = KnownKeys(names: [
    "environment", "host", "port", "publicURL", "directory", "sandboxURL", "store.path", "merchants.directory",
    "guestTokens.keyFile", "acquirer.connector", "acquirer.baseURL", "acquirer.apiKey", "acquirer.apiKeyFile",
    "tls.certificateFile", "tls.keyFile", "keyAgent.socket", "platform.directory", "webhooks.allowPrivateAddresses",
    "payments.tellsUnknownAs", "payments.maximumInFlight",
  ])

  static let merchant = KnownKeys(names: [
    "merchantIdentifier", "displayName", "countryCode", "currencyCode", "supportedNetworks", "merchantCapabilities",
    "domains", "teamIdentifier", "callbackHosts", "touchIcons", "webhooks",
    "encryptTo",
  ])

  func judge(_ file: String) throws {
    guard let text = try? String(contentsOfFile: file, encoding: .utf8), let root = try? Yams.compose(yaml: text) else {
      return
    }
    for key in Self.keys(of: root, below: "") where !names.contains(key) {
      throw ConfigurationError(file, "there is no key \(key)\(nearest(to: key).map { "; did you mean \($0)?" } ?? "")")
    }
  }

  /// Every key that has a value or a list, by its whole name: `store.path`.
  private static func keys(of node: Node, below path: String) -> [String] {
    guard let mapping = node.mapping else { return path.isEmpty ? [] : [path] }
    return mapping.flatMap {
      keys(of: $0.value, below: path.isEmpty ? $0.key.string ?? "" : "\(path).\($0.key.string ?? "")")
    }
  }

  /// A key that differs by few characters, if there is one: a slip of the hand, not another thought.
  private func nearest(to key: String) -> String? {
    let ranked = names.map { (name: $0, distance: key.lowercased().distance(to: $0.lowercased())) }
    return ranked.filter { $0.distance <= 3 }.min { ($0.distance, $0.name) < ($1.distance, $1.name) }?.name
  }
}

extension String {
  /// How many characters must be put in, taken out or changed (Levenshtein).
  fileprivate func distance(to other: String) -> Int {
    let target = Array(other)
    var row = Array(0...target.count)
    for (index, character) in enumerated() {
      var diagonal = row[0]
      row[0] = index + 1
      for column in target.indices {
        let change = diagonal + (character == target[column] ? 0 : 1)
        diagonal = row[column + 1]
        row[column + 1] = Swift.min(change, row[column] + 1, diagonal + 1)
      }
    }
    return row[target.count]
  }
}
