/// A connector and an account at it: `braintree/eu-main`, or `sandbox` where there is one account. Stored with every
/// payment and operation, and never changed afterwards.
package struct Route: Sendable, Hashable {
  package let connector: String
  /// The operator's name of the account; nil where there is only one.
  package let account: String?

  package init(connector: String, account: String? = nil) {
    self.connector = connector
    self.account = account
  }

  /// - Parameter text: as ``description`` writes it; nil for any other text.
  package init?(_ text: String) {
    let parts = text.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
    guard Self.isConnectorName(parts[0]) else { return nil }
    guard parts.count == 2 else {
      self.init(connector: parts[0])
      return
    }
    guard AcquirerCapabilities.isAccountName(parts[1]) else { return nil }
    self.init(connector: parts[0], account: parts[1])
  }

  private static func isConnectorName(_ text: String) -> Bool {
    (1...40).contains(text.utf8.count)
      && text.utf8.allSatisfy { (0x61...0x7A).contains($0) || (0x30...0x39).contains($0) || $0 == 0x2D }
  }
}

extension Route: CustomStringConvertible {
  /// As the journal keeps it.
  package var description: String { account.map { "\(connector)/\($0)" } ?? connector }
}
