import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// A service whose device, server and clock a test controls.
struct CheckoutFixture: Sendable {
  let time = ManualTime()
  let server = HeldServer()
  let sheet: HeldSheet
  let service: ApplePayService
  private let recorder: Recorder

  final class Recorder: Sendable {
    let reports = Mutex<[ApplePayReport]>([])
  }

  init(checks: AddressChecks = .standard, isHeld: Bool = false) async {
    let (sheet, recorder) = (HeldSheet(isHeld: isHeld), Recorder())
    self.sheet = sheet
    self.recorder = recorder
    service = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(server.transport), sheet: sheet.sheet, device: .phone(),
      checks: checks, clock: time.clock)
    let reports = await service.reports()
    Task {
      for await report in reports { recorder.reports.withLock { $0.append(report) } }
    }
  }

  /// An open sheet.
  func opens(_ prepared: PreparedSheet? = nil) async throws -> SheetConversation {
    await service.prepare(try prepared ?? Sample.sheet())
    await service.present()
    return try await sheet.opened()
  }

  /// The shopper authorizes; returns the flow's answer.
  func authorizes(
    _ conversation: SheetConversation, _ payment: AuthorizedPayment = Sample.payment()
  ) -> Task<AuthorizationAnswer?, Never> {
    Task { await conversation.authorize(payment) }
  }

  func changes(_ conversation: SheetConversation, _ change: SheetChange) -> Task<SheetUpdate?, Never> {
    Task { await conversation.apply(change) }
  }

  /// The reports, once there are `count`.
  func reports(_ count: Int) async throws -> [ApplePayReport] {
    try await waitUntil("report \(count)") { recorder.reports.withLock { $0.count } >= count }
    return recorder.reports.withLock { $0 }
  }

  /// Waits until a call is in progress.
  func waits(for kind: String, _ count: Int = 1) async throws {
    try await waitUntil("call \(count) of \(kind)") { server.calls.count { $0.kind == kind } >= count }
  }

  /// Runs a step that causes one event of the conversation, and returns when the conversation has handled it. No other
  /// event may be pending.
  func afterEvent(of conversation: SheetConversation, _ step: () async throws -> Void) async throws {
    let before = await conversation.eventCount
    try await step()
    try await waitUntil("an event") { await conversation.eventCount > before }
  }
}

extension SheetConversation {
  /// Whether the service is idle: no call is in progress or scheduled.
  var isIdle: Bool { nextMoment == nil }
}

extension ApplePayReport {
  /// The kind of the report.
  var name: String {
    switch self {
    case .presented: "presented"
    case .completed: "completed"
    case .failed(let failure): "failed \(failure.code)"
    case .cancelled: "cancelled"
    case .unknown: "unknown"
    case .unavailable(let failure): "unavailable \(failure.code)"
    case .finished(.success): "finished success"
    case .finished(.failure): "finished failure"
    case .finished(.cancelled): "finished cancelled"
    case .finished(.unknown): "finished unknown"
    }
  }
}
