package import Orders
package import Settings
package import TenderPayments

/// The running server, as the administration of its merchants needs it.
package struct LiveServer: Sendable {
  let network: Network
  /// Looks at domains, of which each may be slow to answer.
  let checks: CallsUnderWay<MerchantID>
  /// The merchants as the server has them: no page reads all of the store and the folders.
  let served: @Sendable () -> ServedMerchants
  /// Reads the merchants again after a change.
  let reload: @Sendable () async throws -> Void
  /// Reads them again, and waits until the other servers on the store have done so too.
  let reloadEverywhere: @Sendable () async throws -> Void

  package init(
    network: Network, checks: CallsUnderWay<MerchantID>, served: @escaping @Sendable () -> ServedMerchants,
    reload: @escaping @Sendable () async throws -> Void, reloadEverywhere: @escaping @Sendable () async throws -> Void
  ) {
    (self.network, self.checks, self.served) = (network, checks, served)
    (self.reload, self.reloadEverywhere) = (reload, reloadEverywhere)
  }
}
