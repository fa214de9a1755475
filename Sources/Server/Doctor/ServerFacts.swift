package import Administration
package import Ledger
import Mail
package import MerchantIdentity
package import Settings
package import Storage
package import TenderPayments
import Webhooks

/// What only the process that holds the store knows. A running server answers `POST /doctor/facts` with it; where none
/// runs, the command line reads the store itself.
package struct ServerFacts: Codable, Sendable {
  /// Whether a server answered.
  package let isRunning: Bool
  let store: StoreFacts
  /// Empty where no server runs.
  let routes: [CredentialReport]
  let openCircuits: [String]
  let keys: [KeyReport]
  /// When a round of recovery last ended.
  let lastRecovery: Timestamp?
  /// How many files the server may have open.
  let openFiles: Int
  /// Merchants that cannot be served as the store or their folders have them.
  let leftOut: [LeftOutMerchant]
  /// Why the secrets of the merchants in the store cannot be opened; nil where they can, or were not looked at.
  let secretsProblem: String?
  /// How many erased orders have their keys still, by the file of keys; nil for what cannot be compared.
  let keysOfErased: [String: Int]?

  package init(
    isRunning: Bool, store: StoreFacts, routes: [CredentialReport] = [], openCircuits: [String] = [],
    keys: [KeyReport] = [], lastRecovery: Timestamp? = nil, openFiles: Int = 0,
    leftOut: [LeftOutMerchant] = [], secretsProblem: String? = nil, keysOfErased: [String: Int]? = nil
  ) {
    (self.isRunning, self.store, self.routes, self.openCircuits) = (isRunning, store, routes, openCircuits)
    (self.keys, self.lastRecovery, self.openFiles) = (keys, lastRecovery, openFiles)
    (self.leftOut, self.secretsProblem, self.keysOfErased) = (leftOut, secretsProblem, keysOfErased)
  }

  /// Opens the store of a server that does not run, without migrating it.
  package init(store place: StorePlace, keys: RowKeys.Files? = nil) async throws {
    if let path = place.path { try StoreFile.check(path) }
    let journal = Journal(try await Database.open(place, migrations: []), random: .system)
    do {
      try await self.init(reading: journal, isFile: place.path != nil, keys)
      await journal.database.close()
    } catch {
      await journal.database.close()
      throw error
    }
  }

  private init(reading journal: Journal, isFile: Bool, _ files: RowKeys.Files?) async throws {
    let keys = try await ProcessingKeyStore(journal.database).records().map(KeyReport.init)
    self.init(
      isRunning: false, store: try await StoreFacts(journal, isDeep: isFile), keys: keys,
      keysOfErased: try await Privacy.countKeysOfErased(in: files, journal.database))
  }
}

/// What the store says of itself and of what is open in it.
package struct StoreFacts: Codable, Sendable {
  /// `ok`, or what SQLite found first; nil where it was not asked.
  let quickCheck: String?
  let missingMigrations: [String]
  /// Migrations that `tender store migrate --contract` applies.
  let waitingContractions: [String]
  let unknownPayments: Int
  let oldestUnknownSeconds: Int64
  let alarmedPayments: Int
  let waitingWebhooks: Int64
  let deadWebhooks: Int64
  let oldestWebhookSeconds: Int64
  let waitingMails: Int64
  let deadMails: Int64
  let oldestMailSeconds: Int64
  let storedMerchants: Int64
  /// Routes that are closed since a restore.
  let closedRoutes: [String]
  /// Agreements whose schedule waits since a restore.
  let waitingAgreements: Int
  /// By merchant, how many of Apple's notifications of a week brought no news, and the newest.
  let lostNotifications: [String]
  /// Up to which moment each task of retention is done, in microseconds.
  let retention: [String: Int64]
  /// Nil where the store is a file.
  let database: DatabaseFacts?
}

extension StoreFacts {
  /// - Parameter isDeep: whether every page is read; only of an SQLite file.
  package init(_ journal: Journal, isDeep: Bool) async throws {
    let open = try await journal.openOutcomes()
    let backlog = try await WebhookDispatcher.backlog(in: journal.database)
    let mails = try await journal.database.read { try MailOutbox.backlog(in: $0) }
    let lacking = try await journal.database.lacking(ServerStore.migrations)
    let (check, merchants, closed, waiting, retention, lost) = try await journal.database.read { store in
      let check = isDeep ? try store.row("PRAGMA quick_check(1)")?.text("quick_check") : nil
      // A store of an earlier version has no such table.
      let merchants =
        lacking.expanding.contains("merchants-1")
        ? 0 : try store.row("SELECT COUNT(*) AS n FROM merchants")?.integer("n") ?? 0
      let retention = try lacking.expanding.contains("retention-1") ? [] : RetentionProgress.all(in: store)
      let closed = try lacking.expanding.contains("restore-1") ? [] : RestoredStore.closedRoutes(in: store)
      let waiting =
        try lacking.expanding.contains { ["restore-1", "agreements-schedule-1"].contains($0) }
        ? 0 : RestoredStore.waitingAgreements(in: store)
      let lost =
        lacking.expanding.contains("merchant-tokens-1")
        ? []
        : try Journal.lostMerchantTokenEvents(since: store.now.adding(.zero - Journal.merchantTokenNewsLife), in: store)
      return (check, merchants, closed, waiting, retention, lost)
    }
    self.init(
      quickCheck: check, missingMigrations: lacking.expanding, waitingContractions: lacking.contracting,
      unknownPayments: open.payments[.unknown]?.count ?? 0,
      oldestUnknownSeconds: open.payments[.unknown]?.oldest.components.seconds ?? 0, alarmedPayments: open.alarms,
      waitingWebhooks: backlog.waiting, deadWebhooks: backlog.dead,
      oldestWebhookSeconds: backlog.oldestWaiting.components.seconds, waitingMails: mails.waiting,
      deadMails: mails.dead, oldestMailSeconds: mails.oldestWaiting.components.seconds,
      storedMerchants: merchants, closedRoutes: closed, waitingAgreements: waiting,
      lostNotifications: lost.map { "\($0.count) of \($0.merchant), the newest \($0.newest): \($0.detail)" },
      retention: Dictionary(uniqueKeysWithValues: retention.map { ($0.task.rawValue, $0.until.microseconds) }),
      database: try await journal.database.serverFacts())
  }
}
