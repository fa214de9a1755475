import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import Testing

/// A service whose device, server and clock a test holds.
struct Till: Sendable {
  let time = ManualTime()
  let server = HeldServer()
  let sheet: HeldSheet
  let service: ApplePayService
  private let heard: Heard

  final class Heard: Sendable {
    let reports = Mutex<[ApplePayReport]>([])
  }

  init(checks: AddressChecks = .standard, isHeld: Bool = false) async {
    let (sheet, heard) = (HeldSheet(isHeld: isHeld), Heard())
    self.sheet = sheet
    self.heard = heard
    service = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(server.transport), sheet: sheet.sheet, device: .phone(),
      checks: checks, clock: time.clock)
    let reports = await service.reports()
    Task {
      for await report in reports { heard.reports.withLock { $0.append(report) } }
    }
  }

  /// An open sheet.
  func opens(_ prepared: PreparedSheet? = nil) async throws -> SheetConversation {
    await service.prepare(try prepared ?? Sample.sheet())
    await service.present()
    return try await sheet.opened()
  }

  /// The shopper agrees; the answer comes when the flow has one.
  func authorizes(
    _ conversation: SheetConversation, _ payment: AuthorizedPayment = Sample.payment()
  ) -> Task<AuthorizationAnswer?, Never> {
    Task { await conversation.authorized(payment) }
  }

  func changes(_ conversation: SheetConversation, _ change: SheetChange) -> Task<SheetUpdate?, Never> {
    Task { await conversation.changed(change) }
  }

  /// What was reported, once it is as much.
  func reports(_ count: Int) async throws -> [ApplePayReport] {
    try await becomes("report \(count)") { heard.reports.withLock { $0.count } >= count }
    return heard.reports.withLock { $0 }
  }

  /// Waits until a call is on its way.
  func waits(for kind: String, _ count: Int = 1) async throws {
    try await becomes("\(kind) \(count)") { server.calls.count { $0.kind == kind } >= count }
  }

  /// Does something of which the sheet's conversation hears, and returns when it has heard it. Nothing else may be on
  /// its way to it.
  func tells(_ conversation: SheetConversation, _ act: () async throws -> Void) async throws {
    let before = await conversation.eventCount
    try await act()
    try await becomes("an event") { await conversation.eventCount > before }
  }
}

extension SheetConversation {
  /// Whether it waits for nothing: no call is on its way, and none is to come. What it has not asked by now it never
  /// asks.
  var isIdle: Bool { nextMoment == nil }
}

/// Waits until something is so, and throws when it never becomes so.
func becomes(
  _ what: String, isolation: isolated (any Actor)? = #isolation, _ isSo: () async -> Bool
) async throws {
  for _ in 0..<20_000 {
    if await isSo() { return }
    try await Task.sleep(for: .milliseconds(1))
  }
  throw HeldServer.NeverAsked(kind: what)
}

extension ApplePayReport {
  /// The report without its particulars.
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
