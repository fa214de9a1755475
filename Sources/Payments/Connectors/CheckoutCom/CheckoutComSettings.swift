import Acquiring
import Crypto
import TenderPayments

/// What a route to Checkout.com is configured with.
package struct CheckoutComSettings: Sendable {
  /// Where Checkout.com is reached. The account's own prefix begins the host's name.
  package enum Host: Sendable, Hashable {
    /// Checkout.com's sandbox.
    case test(prefix: String)
    case live(prefix: String)
    /// The emulator of `tender-sandbox`: its origin, without a slash at the end.
    case simulated(origin: String)

    fileprivate var prefix: String? {
      switch self {
      case .test(let prefix), .live(let prefix): prefix
      case .simulated: nil
      }
    }

    /// Whether no real money moves there.
    fileprivate var isTest: Bool { if case .live = self { false } else { true } }
  }

  package let host: Host
  /// The operator's name of the account, if there is more than one.
  package let account: String?
  package let secretKey: CheckoutComSecretKey
  package let publicKey: CheckoutComPublicKey
  /// How the workflow proves that an event is its own.
  package let workflow: CheckoutComWorkflow
  /// The first one is used where a payment names none.
  package let processingChannels: [String]
  /// The merchant's city, which stands beside the name on the cardholder's statement; without it the account's own
  /// descriptor is used.
  package let descriptorCity: String?

  /// - Throws: ``ConnectorSettingsError`` for a value that Checkout.com cannot have given out, and for keys of another
  ///   environment.
  package init(
    host: Host, account: String? = nil, secretKey: CheckoutComSecretKey, publicKey: CheckoutComPublicKey,
    workflow: CheckoutComWorkflow, processingChannels: [String], descriptorCity: String? = nil
  ) throws(ConnectorSettingsError) {
    if let prefix = host.prefix, !Self.isPrefix(prefix) {
      throw ConnectorSettingsError(
        "prefix", "the account's prefix is 1 to 60 lower-case letters and digits, a platform's after pl-")
    }
    guard secretKey.isTest == host.isTest else { throw .otherEnvironment("secret-key", "sk_", host.isTest) }
    guard publicKey.isTest == host.isTest else { throw .otherEnvironment("public-key", "pk_", host.isTest) }
    guard !processingChannels.isEmpty, processingChannels.allSatisfy(Self.isChannel) else {
      throw ConnectorSettingsError("processingChannels", "at least one, each pc_ and lower-case letters and digits")
    }
    if let descriptorCity, !(1...13).contains(descriptorCity.utf8.count) {
      throw ConnectorSettingsError("descriptorCity", "1 to 13 characters")
    }
    self.host = host
    self.account = account
    self.secretKey = secretKey
    self.publicKey = publicKey
    self.workflow = workflow
    self.processingChannels = processingChannels
    self.descriptorCity = descriptorCity
  }

  /// The API's address, without a slash at the end.
  var baseURL: String {
    switch host {
    case .test(let prefix): "https://\(prefix).api.sandbox.checkout.com"
    case .live(let prefix): "https://\(prefix).api.checkout.com"
    case .simulated(let origin): origin
    }
  }

  /// It becomes part of a host's name, so nothing in it may end one. Source: the pattern of Checkout.com's library.
  private static func isPrefix(_ text: String) -> Bool {
    let own = text.dropFirst(text.hasPrefix("pl-") ? 3 : 0)
    return (1...60).contains(own.utf8.count) && isPlain(own)
  }

  private static func isChannel(_ text: String) -> Bool {
    text.hasPrefix("pc_") && (4...64).contains(text.utf8.count) && isPlain(text.dropFirst(3))
  }

  private static func isPlain(_ text: some StringProtocol) -> Bool {
    text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) }
  }
}

extension ConnectorSettingsError {
  fileprivate static func otherEnvironment(_ setting: String, _ prefix: String, _ isTest: Bool) -> Self {
    Self(
      setting,
      isTest
        ? "this environment needs a key of Checkout.com's sandbox, which begins with \(prefix)sbox_"
        : "this environment needs a live key; one that begins with \(prefix)sbox_ is of the sandbox")
  }
}

/// Authenticates every call but tokens. It neither prints nor encodes.
package struct CheckoutComSecretKey: Sendable {
  private let text: String
  let isTest: Bool

  /// Nil for a text that is not `sk_`, `sbox_` in the sandbox, and 27 characters.
  package init?(_ text: String) {
    guard let isTest = environment(of: text, after: "sk_") else { return nil }
    (self.text, self.isTest) = (text, isTest)
  }

  /// For the header `Authorization` alone.
  var revealed: String { text }
}

/// Authenticates `POST /tokens`, and nothing else. It neither prints nor encodes.
package struct CheckoutComPublicKey: Sendable {
  private let text: String
  let isTest: Bool

  /// Nil for a text that is not `pk_`, `sbox_` in the sandbox, and 27 characters.
  package init?(_ text: String) {
    guard let isTest = environment(of: text, after: "pk_") else { return nil }
    (self.text, self.isTest) = (text, isTest)
  }

  /// For the header `Authorization` alone.
  var revealed: String { text }
}

/// Whether a key is of the sandbox; nil when it is no key. Source: the patterns of Checkout.com's Python library.
private func environment(of text: String, after prefix: String) -> Bool? {
  guard text.hasPrefix(prefix) else { return nil }
  let isTest = text.hasPrefix(prefix + "sbox_")
  let rest = text.dropFirst(prefix.utf8.count + (isTest ? 5 : 0))
  let isKey =
    rest.utf8.count == 27 && rest.dropLast().utf8.allSatisfy(isBase32)
    && rest.utf8.suffix(1).allSatisfy { isBase32($0) || Array("*#$=".utf8).contains($0) }
  return isKey ? isTest : nil
}

private func isBase32(_ byte: UInt8) -> Bool { (0x61...0x7A).contains(byte) || (0x32...0x37).contains(byte) }

/// How events of a workflow are authenticated: by a signature, by a header, or by both where both are configured.
package struct CheckoutComWorkflow: Sendable {
  private let signatureKeys: [SymmetricKey]
  private let authorizations: [[UInt8]]

  /// - Parameters:
  ///   - signatureKeys: any of them may have signed an event, so that a key can be replaced.
  ///   - authorizations: values of the header `Authorization`, as the workflow's webhook sends it.
  /// - Returns: nil without any, or with an empty one.
  package init?(signatureKeys: [String], authorizations: [String] = []) {
    let all = signatureKeys + authorizations
    guard !all.isEmpty, all.allSatisfy({ !$0.isEmpty }) else { return nil }
    self.signatureKeys = signatureKeys.map { SymmetricKey(data: Array($0.utf8)) }
    self.authorizations = authorizations.map { Array($0.utf8) }
  }

  /// Compares in constant time.
  func isAuthentic(_ event: InboundEvent) -> Bool {
    (signatureKeys.isEmpty || isSigned(event)) && (authorizations.isEmpty || isAuthorized(event))
  }

  private func isSigned(_ event: InboundEvent) -> Bool {
    guard let code = event.header("Cko-Signature").flatMap({ Hex.decode($0) }) else { return false }
    return signatureKeys.contains {
      HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: event.body, using: $0)
    }
  }

  /// The codes of both texts are compared, because a comparison of texts would tell how much of one is right.
  private func isAuthorized(_ event: InboundEvent) -> Bool {
    guard let given = event.header("Authorization") else { return false }
    let key = SymmetricKey(size: .bits256)
    return authorizations.contains {
      HMAC<SHA256>.isValidAuthenticationCode(
        HMAC<SHA256>.authenticationCode(for: $0, using: key), authenticating: Array(given.utf8), using: key)
    }
  }
}

extension CheckoutComSecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CheckoutComPublicKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension CheckoutComWorkflow: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
