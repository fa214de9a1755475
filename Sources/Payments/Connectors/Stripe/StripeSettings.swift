import Acquiring
import Crypto
import TenderPayments

/// What a route to Stripe is configured with.
package struct StripeSettings: Sendable {
  /// Where Stripe is reached. Its test mode and its live mode have one host, and keys of their own.
  package enum Host: Sendable, Hashable {
    case test
    case live
    /// The emulator of `tender-sandbox`: its origin, without a slash at the end.
    case simulated(origin: String)
  }

  package let host: Host
  /// The operator's name of the account, if there is more than one.
  package let account: String?
  package let secretKey: StripeSecretKey
  /// Any of them may have signed an event, so that a secret can be rolled.
  package let signingSecrets: [StripeSigningSecret]
  /// The accounts that a platform of Stripe Connect acts for, `acct_…`; none where the key's own account is paid. The
  /// first one is used where a payment names none. Events of any other account are not the route's.
  package let connectedAccounts: [String]
  /// Whether Stripe has enabled several captures of one authorization for this account.
  package let multicapture: Bool

  /// - Throws: ``ConnectorSettingsError`` for a key of the other mode, and for values that Stripe cannot have given out.
  package init(
    host: Host, account: String? = nil, secretKey: StripeSecretKey, signingSecrets: [StripeSigningSecret],
    connectedAccounts: [String] = [], multicapture: Bool = false
  ) throws(ConnectorSettingsError) {
    guard secretKey.isLive == (host == .live) else {
      let wanted = host == .live ? "sk_live_ or rk_live_" : "sk_test_ or rk_test_"
      throw ConnectorSettingsError("secret-key", "the key is of Stripe's other mode; here it begins with \(wanted)")
    }
    guard !signingSecrets.isEmpty else {
      throw ConnectorSettingsError("signing-secrets", "at least one, from the webhook's page")
    }
    guard connectedAccounts.allSatisfy(Self.isAccount) else {
      throw ConnectorSettingsError("connectedAccounts", "each is acct_ and letters and digits")
    }
    self.host = host
    self.account = account
    self.secretKey = secretKey
    self.signingSecrets = signingSecrets
    self.connectedAccounts = connectedAccounts
    self.multicapture = multicapture
  }

  /// The address of version 1 of the API.
  var baseURL: String {
    if case .simulated(let origin) = host { "\(origin)/v1" } else { "https://api.stripe.com/v1" }
  }

  /// The accounts that this route acts for. The key's own has no name in events.
  var eventAccounts: Set<String> { connectedAccounts.isEmpty ? [""] : Set(connectedAccounts) }

  /// What `livemode` says in answers and events.
  var isLive: Bool { host == .live }

  private static func isAccount(_ text: String) -> Bool { text.hasPrefix("acct_") && StripeName.isName(text) }
}

/// A secret key, or a restricted one. It neither prints nor encodes.
package struct StripeSecretKey: Sendable {
  private let text: String
  /// Whether it is of live mode.
  package let isLive: Bool

  /// Nil for anything but `sk_` or `rk_`, the mode, and letters and digits: a publishable key is refused.
  package init?(_ text: String) {
    let parts = text.split(separator: "_", maxSplits: 2)
    guard StripeName.isName(text), parts.count == 3, ["sk", "rk"].contains(parts[0]),
      ["test", "live"].contains(parts[1])
    else { return nil }
    self.text = text
    isLive = parts[1] == "live"
  }

  /// For the header `Authorization` alone.
  var revealed: String { text }
}

/// The secret that signs a webhook's events: `whsec_…`. It neither prints nor encodes.
package struct StripeSigningSecret: Sendable {
  private let key: SymmetricKey

  /// Nil for anything but `whsec_` and visible characters.
  package init?(_ text: String) {
    guard text.hasPrefix("whsec_"), text.utf8.count > 6, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else {
      return nil
    }
    key = SymmetricKey(data: Array(text.utf8))
  }

  /// Compares in constant time.
  func signed(_ bytes: [UInt8], as code: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: bytes, using: key)
  }
}

/// What may become part of an address or a header.
enum StripeName {
  /// Whether the text can be a name that Stripe gives out: 1 to 255 letters, digits and underscores.
  static func isName(_ text: String) -> Bool {
    (1...255).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F }
  }

  /// Whether one of our references can be part of a metadata key, which has 40 characters at most, and of a query.
  static func isReference(_ reference: AttemptReference) -> Bool {
    (1...32).contains(reference.rawValue.utf8.count)
      && reference.rawValue.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x2D
      }
  }
}

extension StripeSecretKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension StripeSigningSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
