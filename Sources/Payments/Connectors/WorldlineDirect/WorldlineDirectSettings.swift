import Acquiring
import DirectWire
package import TenderPayments

/// What a route to Worldline Direct is configured with.
package struct WorldlineDirectSettings: Sendable {
  /// Where Worldline Direct is reached.
  package enum Host: Sendable, Hashable {
    case test
    case live
    /// The emulator of `tender-sandbox`: its origin, without a slash at the end.
    case simulated(origin: String)
  }

  package let host: Host
  /// The operator's name of the account, if there is more than one.
  package let account: String?
  /// Worldline's name of the merchant, the PSPID.
  package let merchantID: String
  package let apiKey: WorldlineDirectKey
  /// Any of them may have signed an event, so that a key can be replaced.
  package let webhookKeys: [WorldlineDirectKey]
  /// The mode of a payment that asks for none. What is preliminary is held for 30 days, and captured and cancelled in
  /// parts.
  package let authorization: AuthorizationType

  /// - Throws: ``ConnectorSettingsError`` for a value that Worldline cannot have given out.
  package init(
    host: Host, account: String? = nil, merchantID: String, apiKey: WorldlineDirectKey,
    webhookKeys: [WorldlineDirectKey], authorization: AuthorizationType = .preliminary
  ) throws(ConnectorSettingsError) {
    guard Self.isName(merchantID) else {
      throw ConnectorSettingsError("merchantId", "1 to 64 letters, digits, hyphens and underscores")
    }
    guard !webhookKeys.isEmpty else {
      throw ConnectorSettingsError("webhookKeys", "at least one, from the Merchant Portal")
    }
    self.host = host
    self.account = account
    self.merchantID = merchantID
    self.apiKey = apiKey
    self.webhookKeys = webhookKeys
    self.authorization = authorization
  }

  /// The origin of the API.
  var origin: String {
    switch host {
    case .test: "https://payment.preprod.direct.worldline-solutions.com"
    case .live: "https://payment.direct.worldline-solutions.com"
    case .simulated(let origin): origin
    }
  }

  /// It becomes a part of addresses.
  private static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy {
        (0x30...0x39).contains($0) || (0x61...0x7A).contains($0 | 0x20) || $0 == 0x5F || $0 == 0x2D
      }
  }
}

/// An API key or a webhook key: its id, which is no secret, and its secret, which neither prints nor encodes.
package struct WorldlineDirectKey: Sendable {
  package let id: String
  private let secret: String

  /// - Parameter secret: the text as the Merchant Portal shows it; it is not decoded.
  /// - Returns: nil where one of them cannot stand in a header.
  package init?(id: String, secret: String) {
    guard Self.isVisible(id), !id.utf8.contains(UInt8(ascii: ":")), Self.isVisible(secret) else { return nil }
    self.id = id
    self.secret = secret
  }

  private static func isVisible(_ text: String) -> Bool {
    !text.isEmpty && text.utf8.allSatisfy { (0x21..<0x7F).contains($0) }
  }

  var signer: RequestSigner { RequestSigner(apiKeyId: id, secret: secret) }
  var webhooks: WebhookSignature { WebhookSignature(secret: secret) }
}

extension WorldlineDirectKey: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "\(id):•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
