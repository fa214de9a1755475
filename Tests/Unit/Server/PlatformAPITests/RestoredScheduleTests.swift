import Acquiring
import DirectWire
import Gateway
import Ledger
import Orders
import PlatformAPI
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing
import Webhooks

/// A merchant with one agreement, whose store is lost after a copy was made of it.
private struct LostSubscription: Sendable {
  let box: Subscription
  private let files: TemporaryStore
  private let database: Database

  /// Copies the store as it is now.
  init(_ box: Subscription) async throws {
    self.box = box
    files = try TemporaryStore()
    let (files, clock) = (files, box.platform.clock.wall)
    database = try await Database.targetOfCopy(
      Journal.migrations + OrderService.migrations + WebhookDispatcher.migrations + PlatformOrder.migrations
    ) { try await files.open($0, clock: clock) }
    let copy = try await StoreCopy(from: box.platform.journal.database, to: database)
    try await copy.run()
    try await copy.finish()
  }

  /// Marks the copy as restored now.
  func restore(lostFrom time: Timestamp) async throws -> Journal {
    try await database.write { _ = try RestoredStore.begin("backup", lostFrom: time, routes: ["fake"], in: $0) }
    return try await Journal(database).readingRestore()
  }

  /// What the provider has of the lost store's newest payment.
  func lines(isReversed: Bool) async throws -> [AcquirerReport.Line] {
    let (platform, agreement) = (box.platform, box.id)
    let charges = try await platform.journal.database.read { try Journal.charges(of: agreement, in: $0) }
    let id = try #require(charges.last?.payment?.id)
    let payment = id.rawValue
    var lines = try await platform.journal.operations(of: id).map { operation in
      AcquirerReport.Line(
        reference: operation.reference, operation: operation.kind == .capture ? .capture : .authorize,
        amount: operation.amount, result: .approved, time: platform.clock.wall.now(),
        of: operation.kind == .capture ? AttemptReference(payment) : nil, called: "N-\(operation.reference)")
    }
    if isReversed {
      lines.removeAll { $0.operation == .capture }
      lines.append(
        AcquirerReport.Line(
          reference: AttemptReference(payment), operation: .reverse, amount: lines[0].amount, result: .approved,
          time: platform.clock.wall.now()))
    }
    return lines
  }

  /// Time passes, and a server on the restored store looks until nothing is due.
  func pass(_ duration: Duration, over journal: Journal) async throws {
    box.platform.clock.advance(duration)
    for _ in 0..<5 { _ = try await box.platform.scheduler(over: journal).round() }
  }
}

@Suite struct `An agreement with a schedule, after a restore` {
  private static let day = Subscription.day
  private static let year: JSONObject = [
    "recurring": ["regular": ["label": "Box", "amount": 1_250, "interval": ["unit": "year"]]]
  ]

  private static var deferred: JSONObject {
    let date = WallClock.system.now().adding(day * 366)
    return ["deferred": ["label": "Stay", "amount": 1_250, "date": .string("\(date)")]]
  }

  @Test(arguments: [(year, false), (year, true), (deferred, false), (deferred, true)])
  func `is not charged again for a period that was charged, lost and came back, however long it is`(
    terms: JSONObject, isReversed: Bool
  ) async throws {
    let box = try await Subscription(terms)
    box.platform.clock.advance(Self.day * 366 - .seconds(7_200))
    let lost = try await LostSubscription(box)
    let copiedAt = box.platform.clock.wall.now()
    try await box.pass(.seconds(10_800))
    #expect(box.asked.count == 1)
    let lines = try await lost.lines(isReversed: isReversed)
    let journal = try await lost.restore(lostFrom: copiedAt)
    let report = try await journal.adopt(AcquirerReport(lines: lines), of: "fake", merchant: Platform.merchant)
    #expect(report.isOpen && report.contradicted == 0, "\(report)")
    let restore = try #require(journal.restore)
    #expect(try await journal.database.write { try restore.resumeSchedules(of: "fake", in: $0) } == 1)
    for days in [0, 1, 8, 32, 100] { try await lost.pass(Self.day * days, over: journal) }
    #expect(box.asked.count == 1, "it was charged again")
    let id = box.id
    let agreement = try #require(try await journal.agreement(id, of: Platform.merchant))
    #expect(agreement.schedule?.period == 2)
    let charges = try await journal.database.read { try Journal.charges(of: id, in: $0) }
    #expect(charges.map(\.period) == (isReversed ? [0] : [0, 1]))
    #expect(try await journal.verifyAudit().isIntact)
  }

  @Test(arguments: [true, false])
  func `waits until somebody says that it goes on, because it may have been ended`(ofAll: Bool) async throws {
    let box = try await Subscription()
    let lost = try await LostSubscription(box)
    let journal = try await lost.restore(lostFrom: box.platform.clock.wall.now())
    let empty = AcquirerReport(lines: [])
    #expect(try await journal.adopt(empty, of: "fake", merchant: Platform.merchant).isOpen)
    try await lost.pass(Self.day * 30, over: journal)
    #expect(box.asked.isEmpty, "nobody has said that it goes on")
    #expect(try await journal.restoreReport()?.waitingAgreements == ["fake": 1])
    #expect(try await journal.database.read { try RestoredStore.waitingAgreements(in: $0) } == 1)
    let id = box.id
    try await journal.database.write { store in
      if ofAll {
        #expect(try journal.restore?.resumeSchedules(of: "other", in: store) == 0)
        #expect(try journal.restore?.resumeSchedules(of: "fake", in: store) == 1)
      } else {
        _ = try journal.change(
          id, of: Platform.merchant, by: .resumed, .merchant, because: "it goes on", in: store)
      }
    }
    #expect(try await journal.restoreReport()?.waitingAgreements == [:])
    try await lost.pass(.zero, over: journal)
    #expect(box.asked.count == 1)
  }

  @Test func `is not charged where it was ended again`() async throws {
    let box = try await Subscription()
    let lost = try await LostSubscription(box)
    let journal = try await lost.restore(lostFrom: box.platform.clock.wall.now())
    #expect(try await journal.adopt(AcquirerReport(lines: []), of: "fake", merchant: Platform.merchant).isOpen)
    let id = box.id
    try await journal.database.write { store in
      _ = try journal.change(id, of: Platform.merchant, by: .ended, .merchant, in: store)
      #expect(try journal.restore?.resumeSchedules(of: "fake", in: store) == 0)
    }
    try await lost.pass(Self.day * 30, over: journal)
    #expect(box.asked.isEmpty)
  }
}
