import Acquiring
import Crypto
import TenderPayments

/// What a route to Adyen is configured with.
package struct AdyenSettings: Sendable {
  /// Where Adyen is reached.
  package enum Host: Sendable, Hashable {
    /// Adyen's test platform.
    case test
    /// Adyen's live platform, where the host's name begins with the account's own prefix.
    case live(prefix: String)
    /// The emulator of `tender-sandbox`: its origin, without a slash at the end.
    case simulated(origin: String)
  }

  package let host: Host
  /// The operator's name of the account, if there is more than one.
  package let account: String?
  package let apiKey: AdyenAPIKey
  /// Any of them may have signed an event, so that a key can be replaced.
  package let hmacKeys: [AdyenHMACKey]
  /// The first one is used where a payment names none. Events of any other account are not the route's.
  package let merchantAccounts: [String]
  /// Adyen demands the address of a page to which shoppers return from a redirect, although Apple Pay has none.
  package let returnURL: String
  /// Whether the rest of an authorization stays held after a partial capture, which Adyen's support team enables.
  package let multiplePartialCaptures: Bool

  /// - Throws: ``ConnectorSettingsError`` for a value that Adyen cannot have given out.
  package init(
    host: Host, account: String? = nil, apiKey: AdyenAPIKey, hmacKeys: [AdyenHMACKey], merchantAccounts: [String],
    returnURL: String, multiplePartialCaptures: Bool = true
  ) throws(ConnectorSettingsError) {
    if case .live(let prefix) = host, !Self.isPrefix(prefix) {
      throw ConnectorSettingsError("prefix", "the live prefix is 1 to 49 letters, digits and hyphens")
    }
    guard !merchantAccounts.isEmpty, merchantAccounts.allSatisfy(Self.isMerchantAccount) else {
      throw ConnectorSettingsError("merchantAccounts", "at least one, each of 1 to 80 visible characters")
    }
    guard !hmacKeys.isEmpty else { throw ConnectorSettingsError("hmacKeys", "at least one, from the webhook's page") }
    guard returnURL.hasPrefix("https://") || returnURL.hasPrefix("http://"), returnURL.utf8.count <= 1_024 else {
      throw ConnectorSettingsError("returnURL", "an http or https address of at most 1,024 characters")
    }
    self.host = host
    self.account = account
    self.apiKey = apiKey
    self.hmacKeys = hmacKeys
    self.merchantAccounts = merchantAccounts
    self.returnURL = returnURL
    self.multiplePartialCaptures = multiplePartialCaptures
  }

  /// The address of version 72 of the Checkout API.
  var baseURL: String {
    switch host {
    case .test: "https://checkout-test.adyen.com/v72"
    case .live(let prefix): "https://\(prefix)-checkout-live.adyenpayments.com/checkout/v72"
    case .simulated(let origin): "\(origin)/v72"
    }
  }

  /// What `live` says in events.
  var isLive: Bool { if case .live = host { true } else { false } }

  /// It becomes part of a host's name, so nothing in it may end one. With `-checkout-live` a label has at most 63.
  private static func isPrefix(_ text: String) -> Bool {
    (1...49).contains(text.utf8.count) && text.first != "-"
      && text.utf8.allSatisfy {
        (0x61...0x7A).contains($0 | 0x20) || (0x30...0x39).contains($0) || $0 == UInt8(ascii: "-")
      }
  }

  private static func isMerchantAccount(_ text: String) -> Bool {
    (1...80).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }
}

/// The API key of a web service user. It neither prints nor encodes.
package struct AdyenAPIKey: Sendable {
  private let text: String

  /// Nil for a text that cannot stand in a header.
  package init?(_ text: String) {
    guard !text.isEmpty, text.utf8.allSatisfy({ (0x21..<0x7F).contains($0) }) else { return nil }
    self.text = text
  }

  /// For the header `X-API-Key` alone.
  var revealed: String { text }
}

/// The key that signs a webhook's events. It neither prints nor encodes.
package struct AdyenHMACKey: Sendable {
  private let key: SymmetricKey

  /// - Parameter hex: 64 hexadecimal digits, as Adyen shows them once; nil for anything else.
  package init?(hex: String) {
    guard hex.utf8.count == 64, let bytes = Hex.decode(hex) else { return nil }
    key = SymmetricKey(data: bytes)
  }

  /// Compares in constant time.
  func signed(_ text: String, as code: [UInt8]) -> Bool {
    HMAC<SHA256>.isValidAuthenticationCode(code, authenticating: Array(text.utf8), using: key)
  }
}

extension AdyenAPIKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}

extension AdyenHMACKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
