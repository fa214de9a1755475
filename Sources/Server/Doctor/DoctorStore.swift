import Ledger
import Settings
import Storage
import TenderPayments

extension DoctorCheck {
  static let storeGroup = [
    storeOpens, serverAnswers, secretsOpen, storeIntegrity, storeMigrations, storeLog, unknownPayments, alarmedPayments,
    recoveryRuns, restoredRoutes, restoredAgreements, contactKeys, retentionRuns, tokenNotifications,
  ]

  static let storeOpens = DoctorCheck(
    "store_opens", "The store can be opened.", meaning: "The server does not start.",
    remedy: "See the finding: free the disk, or restore a backup of this version.")
  static let serverAnswers = DoctorCheck(
    "server_answers", "The server that runs on the store says what only it knows.",
    meaning: "Its store, keys, routes and stored merchants are not examined.",
    remedy: "See the finding and the server's log; ask a server of another version by that version's `tender doctor`.")
  static let secretsOpen = DoctorCheck(
    "secrets_open", "The secrets in the store open with the configured keys.",
    meaning: "The server does not start. One that runs serves its merchants as it read them before, and takes no "
      + "change of them.",
    remedy: "Where the keys cannot be read, do what the finding says. Else bring back the key under which the secrets "
      + "were sealed: from the backup of secrets.keyFile, secrets.key or the secrets.keyCommand.")
  static let storeIntegrity = DoctorCheck(
    "store_integrity", "The store's pages are consistent (SQLite's quick check).",
    meaning: "The disk or another program has damaged the store: payments may be lost.",
    remedy: "Stop the server, keep the files, restore the last backup, and reconcile with the provider.")
  static let storeMigrations = DoctorCheck(
    "store_migrations", "The store has every migration of this version.",
    meaning: "Another version of Tender has written it.", remedy: "Start this version's server once: it migrates.")
  static let storeLog = DoctorCheck(
    "store_log", "The write-ahead log is below 256 MB.",
    meaning: "A reader keeps it from being emptied: the disk fills and starts take longer.",
    remedy: "End what holds the store open for long, such as a backup that hangs; then restart the server.")
  static let unknownPayments = DoctorCheck(
    "payments_unknown", "No payment's outcome has been unknown for an hour.",
    meaning: "Money of a shopper may be held without an order.",
    remedy: "`tender payment list` shows them; ask the provider, then `tender payment resolve`.")
  static let alarmedPayments = DoctorCheck(
    "payments_alarmed", "No payment has an alarm.", meaning: "An operator has to decide about it.",
    remedy: "`tender payment show ID` says what happened; then `tender payment acknowledge`.")
  static let recoveryRuns = DoctorCheck(
    "recovery_runs", "Recovery has run within the last 10 minutes.",
    meaning: "Payments whose answer was lost stay unknown.",
    remedy: "Look at the log for “recovery failed”, and restart the server.")
  static let restoredRoutes = DoctorCheck(
    "restored_routes", "No route of a restored store is closed.",
    meaning: "Every payment through it is refused, because the store does not know what was paid since the backup.",
    remedy: "`tender restore status` shows what each route waits for; docs/backup.md says how one is opened.")
  static let restoredAgreements = DoctorCheck(
    "restored_agreements", "No agreement's schedule waits since the store was restored.",
    meaning: "It may have been ended since the backup: Tender charges it no more by itself.",
    remedy: "End, suspend and price again what was so since the backup; then `tender restore route NAME "
      + "--resume-schedules --note …`, or `tender agreement resume` for one.")
  static let contactKeys = DoctorCheck(
    "contact_keys",
    "The keys that seal the contacts are there, their copy holds the same, and erased orders have none.",
    meaning: "When this disk is lost, so is every shopper's contact, or those come back that were erased.",
    remedy: "Set contacts.keyCopy to a file on another disk, and restart the server: it writes the copy.")
  static let retentionRuns = DoctorCheck(
    "retention_runs", "What is older than the limits of retention is removed within a day.",
    meaning: "Data is kept for longer than the operator says.",
    remedy: "Let the server run: it removes some rows at a time, once an hour. Look at the log for “old data cannot be "
      + "removed”; on PostgreSQL give the role its grants: `tender store grants`.")
  static let tokenNotifications = DoctorCheck(
    "token_notifications", "Apple has told what each of its notifications of the last seven days was about.",
    meaning: "A card may have been removed in Wallet whose agreement is still charged; or somebody has sent "
      + "notifications that are not Apple's.",
    remedy: "Look at the time of “Apple knows no such notification” in the log, and whether the merchant identity "
      + "certificate is the one of the sheet's merchant. Where shoppers say that they have removed the card, end the "
      + "agreement: `tender agreement end`.")
}

extension Doctor {
  func storeFindings() -> [DoctorFinding] {
    let name = configuration.store.name
    guard let facts else { return [unopened(), answers()] }
    return [DoctorCheck.storeOpens.ok(name, facts.isRunning ? "a server uses it" : "it opens"), answers()]
      + [secrets(facts.store), integrity(facts.store, name), migrations(facts.store, name), log()]
      + [unknown(facts.store), alarms(facts.store), recovery(facts), restored(facts.store), agreements(facts.store)]
      + [contactKeys()] + retention(facts) + [notifications(facts.store)]
  }

  private func notifications(_ store: StoreFacts) -> DoctorFinding {
    let (check, lost) = (DoctorCheck.tokenNotifications, store.lostNotifications)
    guard !lost.isEmpty else { return check.ok("store", "none is without its news") }
    return check.warning("store", "without news: \(lost.joined(separator: "; "))")
  }

  private func answers() -> DoctorFinding {
    if let serverRefusal { return DoctorCheck.serverAnswers.failed("server", serverRefusal) }
    return facts?.isRunning == true
      ? DoctorCheck.serverAnswers.ok("server", "it answers") : DoctorCheck.serverAnswers.skipped("server", noAnswer)
  }

  private func unopened() -> DoctorFinding {
    if serverRefusal != nil { return DoctorCheck.storeOpens.ok(configuration.store.name, "a server uses it") }
    guard !isStoreNew else { return DoctorCheck.storeOpens.skipped(configuration.store.name, "there is no store yet") }
    return DoctorCheck.storeOpens.failed(configuration.store.name, factsProblem)
  }

  private func secrets(_ store: StoreFacts) -> DoctorFinding {
    if let secretsProblem { return DoctorCheck.secretsOpen.failed("secrets", secretsProblem) }
    guard store.storedMerchants > 0 else {
      return DoctorCheck.secretsOpen.skipped("secrets", "the store has no merchant")
    }
    return DoctorCheck.secretsOpen.ok("secrets", "they open")
  }

  private func integrity(_ store: StoreFacts, _ path: String) -> DoctorFinding {
    guard configuration.store.path != nil else {
      return DoctorCheck.storeIntegrity.skipped(path, "PostgreSQL's own tools check it: pg_amcheck")
    }
    guard let check = store.quickCheck else {
      return DoctorCheck.storeIntegrity.skipped(path, "reads every page: only when `tender doctor` asks")
    }
    let isFine = Array(check.utf8) == Array("ok".utf8)
    return DoctorCheck.storeIntegrity.require(isFine, path, ok: "every page is consistent", failed: check)
  }

  private func migrations(_ store: StoreFacts, _ path: String) -> DoctorFinding {
    let missing = store.missingMigrations
    if missing.isEmpty, !store.waitingContractions.isEmpty {
      return DoctorCheck.storeMigrations.warning(
        path, "these wait: \(store.waitingContractions.joined(separator: ", "))",
        remedy: "Run `tender store migrate --contract` when no server of the version before runs.")
    }
    return DoctorCheck.storeMigrations.require(
      missing.isEmpty, path, ok: "all are there", failed: "it lacks \(missing.joined(separator: ", "))")
  }

  private func log() -> DoctorFinding {
    guard let path = configuration.store.path else {
      return DoctorCheck.storeLog.skipped(configuration.store.name, "PostgreSQL keeps its own log")
    }
    let bytes = system.machine.size(path + "-wal") ?? 0
    guard bytes > 256 << 20 else { return DoctorCheck.storeLog.ok(path, "\(bytes >> 10) KB") }
    return DoctorCheck.storeLog.warning(path, "the log has \(bytes >> 20) MB")
  }

  private func unknown(_ store: StoreFacts) -> DoctorFinding {
    guard store.unknownPayments > 0, store.oldestUnknownSeconds > 3_600 else {
      return DoctorCheck.unknownPayments.ok("store", "\(store.unknownPayments) unknown, none for an hour")
    }
    return DoctorCheck.unknownPayments.failed(
      "store", "\(store.unknownPayments) unknown, the oldest for \(store.oldestUnknownSeconds / 60) minutes")
  }

  private func alarms(_ store: StoreFacts) -> DoctorFinding {
    let count = store.alarmedPayments
    guard count > 0 else { return DoctorCheck.alarmedPayments.ok("store", "none") }
    return DoctorCheck.alarmedPayments.warning("store", count == 1 ? "1 payment" : "\(count) payments")
  }

  private func restored(_ store: StoreFacts) -> DoctorFinding {
    DoctorCheck.restoredRoutes.require(
      store.closedRoutes.isEmpty, "store", ok: "none",
      failed: "these are closed: \(store.closedRoutes.joined(separator: ", "))")
  }

  private func agreements(_ store: StoreFacts) -> DoctorFinding {
    let count = store.waitingAgreements
    guard count > 0 else { return DoctorCheck.restoredAgreements.ok("store", "none") }
    return DoctorCheck.restoredAgreements.warning("store", count == 1 ? "1 agreement" : "\(count) agreements")
  }

  private func contactKeys() -> DoctorFinding {
    let (check, keys) = (DoctorCheck.contactKeys, configuration.contactKeys)
    guard let size = system.machine.size(keys.path) else {
      return keys.copy.flatMap(system.machine.size) == nil
        ? check.skipped(keys.path, "the first start makes it")
        : check.failed(keys.path, "it is missing", remedy: "Restart the server: it takes the copy.")
    }
    for path in [keys.path, keys.copy].compactMap(\.self) {
      guard let count = facts?.keysOfErased?[path], count > 0 else { continue }
      return check.failed(
        path, "it does not hold what the store notes as erased: \(count == 1 ? "1 order" : "\(count) orders")",
        remedy:
          "A running server takes this up within a minute; where none runs, start it. If it stays so, look at the log for "
          + "“erased orders cannot be compared”.")
    }
    guard let copy = keys.copy else {
      return configuration.environment == .simulated
        ? check.ok(keys.path, "it is there; simulated needs no copy") : check.warning(keys.path, "there is no copy")
    }
    return check.require(
      system.machine.size(copy) == size, copy, ok: "it holds the same",
      failed: "it is missing, or holds something else",
      remedy: "Restart the server: it writes the copy.")
  }

  private func retention(_ facts: ServerFacts) -> [DoctorFinding] {
    let check = DoctorCheck.retentionRuns
    let mark = facts.store.retention[RetentionTask.tokens.rawValue].map { Timestamp(microseconds: $0) }
    if let mark, mark > now.adding(.seconds(3_600)) {
      return [
        check.failed(
          "retention", "payment tokens are refused that are signed before \(mark): the clock was ahead",
          remedy: "Set the clock, and let the server run with retention.tokenDays: it takes the mark back within two "
            + "hours.")
      ]
    }
    guard facts.isRunning else { return [check.skipped("retention", "no server runs on the store")] }
    let late = RetentionTask.allCases.compactMap { task -> String? in
      guard let end = configuration.retention.end(of: task, at: now), let until = facts.store.retention[task.rawValue]
      else { return nil }
      let days = end.since(Timestamp(microseconds: until)).components.seconds / 86_400
      return days < 1 ? nil : "\(task.rawValue) \(days) days"
    }
    guard !late.isEmpty else { return [check.ok("retention", "nothing is kept a day longer than its limit")] }
    return [check.warning("retention", "longer than the limit are kept: \(late.joined(separator: ", "))")]
  }

  private func recovery(_ facts: ServerFacts) -> DoctorFinding {
    guard facts.isRunning else { return DoctorCheck.recoveryRuns.skipped("recovery", "no server runs on the store") }
    guard let last = facts.lastRecovery else { return DoctorCheck.recoveryRuns.failed("recovery", "it has not run") }
    let seconds = now.since(last).components.seconds
    return DoctorCheck.recoveryRuns.require(
      seconds < 600, "recovery", ok: "\(seconds) seconds ago", failed: "it last ran \(seconds / 60) minutes ago")
  }
}
