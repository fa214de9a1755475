import Acquiring
import ApplePayToken
import Gateway
import HTTPTypes
import HostedCheckout
package import Ledger
import Logging
import Mail
import MerchantIdentity
import Orders
import PlatformAPI
package import Settings
package import Storage
package import TenderPayments
import Webhooks

/// The store of a server, with the tables of every module.
package enum ServerStore {
  /// Every table of a server's store.
  package static let migrations =
    Journal.migrations + OrderService.migrations + WebhookDispatcher.migrations + ProcessingKeyStore.migrations
    + MerchantStore.migrations + PlatformOrder.migrations + ClientSessions.migrations + HostedCheckouts.migrations
    + MailOutbox.migrations + OfficeSchema.migrations + SharedKeys.migrations

  /// Opens a server's store. The one place where its journal is made.
  ///
  /// - Parameters:
  ///   - keys: of the shoppers' contacts; nil to open the store without them.
  ///   - migrations: those of this version by default.
  ///   - clock: nil for the engine's own.
  ///   - consumers: who takes the journal's events; all for a command that does not know what the server has set up.
  package static func open(
    _ place: StorePlace, keys: RowKeys.Files? = nil, migrations: [Migration] = migrations, clock: WallClock? = nil,
    random: RandomBytes = .system, consumers: Set<OutboxConsumer> = Set(OutboxConsumer.allCases)
  ) async throws -> Journal {
    let database = try await Database.open(place, migrations: migrations, clock: clock)
    do {
      guard let keys else { return try await Journal(database, random: random, consumers: consumers).readingRestore() }
      let sealed = database.sealed(under: try await ContactKeys.open(keys, of: database))
      try await Privacy.reconcile(sealed)
      return try await Journal(sealed, random: random, consumers: consumers).readingRestore()
    } catch {
      await database.close()
      throw error
    }
  }

  /// Opens a store that a server has made. Another file is refused and stays as it is.
  ///
  /// - Parameter keys: of the contacts; where the files are not there, the store is opened without them.
  package static func openExisting(_ place: StorePlace, keys: RowKeys.Files? = nil) async throws -> Journal {
    if let path = place.path { try StoreFile.check(path) }
    return try await open(place, keys: keys.flatMap { $0.isThere ? $0 : nil })
  }
}
