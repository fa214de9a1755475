import Acquiring
package import Connectors
import Storage

extension ConnectorFolder {
  /// Makes what is missing of a route's folder: its settings, each explained and switched off, and an empty file for each
  /// credential. What is there stays as it is, and so does a connector whose accounts have folders of their own.
  ///
  /// - Returns: the files that were made.
  package static func make(_ connector: ConnectorCatalogue, below directory: String) throws -> [String] {
    let routes = try all(in: directory).map(\.route)
    guard !routes.contains(where: { $0.connector == connector.rawValue && $0.account != nil }) else { return [] }
    let path = "\(directory)/\(connector.rawValue)"
    var made: [String] = []
    for credential in connector.credentials {
      let file = "\(path)/\(credential.name).secret"
      if try isWanted(credential, below: path), try PrivateFile.writeFirst("", to: file) { made.append(file) }
    }
    // The last, because with it the folder is a route.
    let settings = path + "/connector.yaml"
    if try PrivateFile.writeFirst(connector.settingsToComplete, to: settings) { made.append(settings) }
    return made
  }

  /// Whether the credential has a file of its own. In a folder of keys a key of any name will do.
  private static func isWanted(_ credential: NewCredential, below path: String) throws -> Bool {
    guard let folder = credential.folder else { return true }
    try PrivateFile.makeFolder("\(path)/\(folder)")
    return try credential.hasName && MerchantFolder.names(in: "\(path)/\(folder)", ending: ".secret").isEmpty
  }
}

/// A credential that the operator gets from the provider.
private struct NewCredential {
  /// `api-key`, or `hmac-keys/1` in a folder of keys; `webhook-keys/<key id>` where the provider gives the name.
  let name: String
  let meaning: String

  var hasName: Bool { !name.hasSuffix(">") }
  var folder: Substring? { name.contains("/") ? name.split(separator: "/")[0] : nil }
}

extension ConnectorCatalogue {
  fileprivate var credentials: [NewCredential] {
    switch self {
    case .adyen:
      [
        NewCredential(name: "api-key", meaning: "the API key of the web service user"),
        NewCredential(name: "hmac-keys/1", meaning: "the HMAC key of the standard webhook"),
      ]
    case .braintree: [NewCredential(name: "private-key", meaning: "the private key of the API key")]
    case .checkoutCom:
      [
        NewCredential(name: "secret-key", meaning: "the secret key"),
        NewCredential(name: "public-key", meaning: "the public key"),
        NewCredential(name: "signature-keys/1", meaning: "the signature key of the workflow's webhook"),
      ]
    case .stripe:
      [
        NewCredential(name: "secret-key", meaning: "the restricted key"),
        NewCredential(name: "signing-secrets/1", meaning: "the signing secret of the webhook"),
      ]
    case .worldlineAcquiring: [NewCredential(name: "client-secret", meaning: "the client's secret")]
    case .worldlineDirect:
      [
        NewCredential(name: "api-key", meaning: "the secret of the API key"),
        NewCredential(
          name: "webhook-keys/<key id>", meaning: "the secret of the webhook key, in a file with its id as name"),
      ]
    }
  }

  /// `connector.yaml` before the operator has completed it.
  fileprivate var settingsToComplete: String {
    let files = credentials.map { "#   \($0.name).secret: \($0.meaning)" }.joined(separator: "\n")
    return """
      # The route to \(rawValue): docs/providers/\(rawValue).md. Take the # away where a setting begins.
      # Its credentials are in files beside this one, each alone in its file, with mode 600:
      \(files)

      \(linesToComplete)
      """
  }

  private var linesToComplete: String {
    switch self {
    case .adyen: AdyenFile.table.linesToComplete
    case .braintree: BraintreeFile.table.linesToComplete
    case .checkoutCom: CheckoutComFile.table.linesToComplete
    case .stripe: StripeFile.table.linesToComplete
    case .worldlineAcquiring: WorldlineAcquiringFile.table.linesToComplete
    case .worldlineDirect: WorldlineDirectFile.table.linesToComplete
    }
  }
}

extension SettingsTable {
  /// Every setting with its meaning, switched off by a `#`.
  fileprivate var linesToComplete: String {
    settings.map { "# \($0.isRequired ? "Required. " : "")\($0.meaning)\n#\($0.key): \($0.example)\n" }
      .joined(separator: "\n")
  }
}
