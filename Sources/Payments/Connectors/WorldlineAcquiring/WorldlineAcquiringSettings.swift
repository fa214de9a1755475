import Acquiring
package import TenderPayments

/// What a route to Worldline Acquiring is configured with.
package struct WorldlineAcquiringSettings: Sendable {
  /// Where Worldline is reached.
  package enum Host: Sendable, Hashable {
    /// Worldline's pre-production.
    case test
    case live
    /// The emulator of `tender-sandbox`: its origin, without a slash at the end.
    case simulated(origin: String)
  }

  /// Where the merchant does business, as Worldline wants to know it of some merchants.
  package struct Place: Sendable, Hashable {
    package var name: String?
    package var address: String?
    package var postalCode: String?
    package var city: String?
    /// ISO 3166, two letters.
    package var countryCode: String?

    package init(
      name: String? = nil, address: String? = nil, postalCode: String? = nil, city: String? = nil,
      countryCode: String? = nil
    ) {
      self.name = name
      self.address = address
      self.postalCode = postalCode
      self.city = city
      self.countryCode = countryCode
    }
  }

  package let host: Host
  /// The operator's name of the account, if there is more than one.
  package var account: String?
  package let clientID: String
  package let clientSecret: WorldlineAcquiringSecret
  /// The acquirer's number: part of every address.
  package let acquirerID: String
  /// The merchant's numbers; the first one is used where a payment names none.
  package let merchantIDs: [String]
  /// The type of an authorization that asks for none.
  package var authorizationType = AuthorizationType.final
  /// Whether the client may verify cards: its scope is another one.
  package var verifiesAccounts = false
  package var place = Place()
  package var terminalID: String?

  /// - Throws: ``ConnectorSettingsError`` for a value that cannot stand in an address or a form.
  package init(
    host: Host, clientID: String, clientSecret: WorldlineAcquiringSecret, acquirerID: String, merchantIDs: [String]
  ) throws(ConnectorSettingsError) {
    guard Self.isNumber(acquirerID) else {
      throw ConnectorSettingsError("acquirerId", "1 to 20 digits")
    }
    guard !merchantIDs.isEmpty, merchantIDs.allSatisfy(Self.isNumber) else {
      throw ConnectorSettingsError("merchantIds", "at least one, each of 1 to 20 digits")
    }
    self.host = host
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.acquirerID = acquirerID
    self.merchantIDs = merchantIDs
  }

  private static func isNumber(_ text: String) -> Bool {
    (1...20).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) }
  }

  /// Scheme and host of the API.
  var origin: String {
    switch host {
    case .test: "https://api.preprod.acquiring.worldline-solutions.com"
    case .live: "https://api.acquiring.worldline-solutions.com"
    case .simulated(let origin): origin
    }
  }

  /// Where access tokens are issued.
  var tokenAddress: String {
    switch host {
    case .test: "https://auth-test-eu-west-1.aws.bambora.com/connect/token"
    case .live: "https://auth-eu-west-1.aws.bambora.com/connect/token"
    case .simulated(let origin): origin + "/connect/token"
    }
  }
}

/// A client's secret. It neither prints nor encodes.
package struct WorldlineAcquiringSecret: Sendable {
  private let text: String

  package init(_ text: String) { self.text = text }

  /// For the request of an access token alone.
  var revealed: String { text }
}

extension WorldlineAcquiringSecret: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
  package var description: String { "•••" }
  package var debugDescription: String { description }
  package var customMirror: Mirror { Mirror(self, children: []) }
}
