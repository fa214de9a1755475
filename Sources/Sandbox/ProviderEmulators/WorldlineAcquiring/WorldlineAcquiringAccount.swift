import TenderPayments

/// A client of the emulated Worldline Acquiring, and the merchants that it may act for.
package struct WorldlineAcquiringAccount: Sendable, Hashable {
  package let clientID: String
  package let clientSecret: String
  /// The acquirer's number in the paths.
  package let acquirerID: String
  package let merchantIDs: [String]
  /// What the client may ask for.
  package var scopes: Set<String> = WorldlineAcquiringAccount.allScopes
  /// How long an access token is valid.
  package var tokenLifetime: Duration = .seconds(3_600)

  package init(clientID: String, clientSecret: String, acquirerID: String, merchantIDs: [String]) {
    self.clientID = clientID
    self.clientSecret = clientSecret
    self.acquirerID = acquirerID
    self.merchantIDs = merchantIDs
  }

  /// Worldline's scopes for the calls that are emulated, and those that its libraries ask for beside them.
  package static let allScopes: Set<String> = [
    "processing_payment", "processing_refund", "processing_operation_reverse", "services_ping",
    "processing_accountverification", "processing_balanceinquiry", "processing_dcc_rate", "disputes_retrieve",
    "disputes_manage",
  ]

  /// The client of `tender-sandbox`. Its secret opens nothing else.
  package static let sandbox = WorldlineAcquiringAccount(
    clientID: "tender-sandbox", clientSecret: "sandbox-client-secret", acquirerID: "100001",
    merchantIDs: ["520000001"])
}
