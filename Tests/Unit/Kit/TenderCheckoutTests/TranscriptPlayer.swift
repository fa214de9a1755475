import StrictJSON
import Synchronization
import TenderCheckout
import TenderCheckoutAPI
import TenderPayments
import TenderSheet
import TenderTesting
import Testing

/// Plays a transcript to the service as app, device and server, and notes what they observe.
///
/// The observations of one event are compared as a set, because their order is not defined.
final class TranscriptPlayer: Sendable {
  private let time = ManualTime()
  private let server = HeldServer()
  private let sheet = HeldSheet(isHeld: true)
  private let service: ApplePayService
  private let seen = Mutex<[String]>([])
  private let counted = Mutex<Counted>(Counted())

  private struct Counted {
    var calls = 0
    var presented = 0
    var dismissed = 0
  }

  struct Unreadable: Error { let event: [String] }

  init() {
    service = ApplePayService(
      merchant: Sample.merchant, client: CheckoutClient(server.transport), sheet: sheet.sheet, device: .phone(),
      checks: .none, clock: time.clock)
  }

  /// The app listens, until the task is cancelled.
  func listen() async -> Task<Void, Never> {
    let reports = await service.reports()
    return Task {
      for await report in reports {
        if let line = report.line { self.note(line) }
      }
    }
  }

  private func note(_ line: String) { seen.withLock { $0.append(line) } }

  /// Plays one event, and returns the sorted observations. Waits for as many as the transcript lists.
  func play(_ step: FlowTranscript.Step) async throws -> [String] {
    if step.event.first == "sheet" { sheet.decide(step.event.dropFirst().first != "not-opened") }
    try await perform(step.event)
    try await waitFor("\(step.effects.count) observations after \(step.event)") {
      look()
      return seen.withLock { $0 }
    } until: {
      $0.count >= step.effects.count
    }
    // Any other observation would come without waiting.
    for _ in 0..<50 { await Task.yield() }
    look()
    return seen.withLock { lines in
      defer { lines = [] }
      return lines.sorted()
    }
  }

  /// Notes what server and device have seen since.
  private func look() {
    let (calls, presented, dismissed) = (server.calls, sheet.presented, sheet.dismissed)
    counted.withLock { counted in
      for call in calls[counted.calls...] { note("server \(call.line)") }
      for _ in counted.presented..<presented { note("sheet opens") }
      for _ in counted.dismissed..<dismissed { note("sheet aborted") }
      counted = Counted(calls: calls.count, presented: presented, dismissed: dismissed)
    }
  }

  private func perform(_ event: [String]) async throws {
    switch (event.first, event.dropFirst().first) {
    case ("page", "prepared"): await service.prepare(try Sample.sheet(event[2]))
    case ("page", "pressed"): await service.present()
    case ("page", "returned"): await service.resume(Sample.basket)
    case ("sheet", "not-opened"): break  // decided already
    case ("sheet", "closed"): await service.conversation?.close()
    case ("sheet", _): try await shopper(event)
    case ("server", let kind?): try await answer(kind, Fields(event.dropFirst(2)))
    case ("clock", let span?): try await pass(span)
    default: throw Unreadable(event: event)
    }
  }

  private func pass(_ span: String) async throws {
    let digits = span.prefix { $0.isNumber }
    guard let number = Int64(digits), let conversation = await service.conversation else {
      throw Unreadable(event: [span])
    }
    await time.pass(span.hasSuffix("ms") ? .milliseconds(number) : .seconds(number), in: conversation)
  }

  /// The device asks, and waits; the transcript goes on meanwhile.
  private func shopper(_ event: [String]) async throws {
    guard let conversation = await service.conversation else { throw Unreadable(event: event) }
    let action = try Self.action(event, conversation)
    let (before, ended) = (await conversation.eventCount, Ended())
    Task {
      if let line = await action() { self.note("sheet gets \(line)") }
      ended.isSo.withLock { $0 = true }
    }
    // An event without a sheet is not passed on and ends at once; the flow's own transcripts cover it.
    try await waitUntil("the end of \(event)") {
      if await conversation.eventCount != before { return true }
      return ended.isSo.withLock { $0 }
    }
  }

  private final class Ended: Sendable { let isSo = Mutex(false) }

  /// What the sheet receives; nil when it receives nothing.
  private static func action(
    _ event: [String], _ conversation: SheetConversation
  ) throws -> @Sendable () async -> String? {
    switch event[1] {
    case "merchant-session":
      let url = event.dropFirst(2).first
      return { await conversation.merchantSession(validationURL: url).map { _ in "merchant-session" } }
    case "authorized": return { await conversation.authorize(Sample.payment()).map(\.completion.line) }
    case "changed":
      let (change, kind) = (try Fields.change(event), event[2])
      return { await conversation.apply(change).map { kind + $0.line } }
    default: throw Unreadable(event: event)
    }
  }

  private func answer(_ kind: String, _ fields: Fields) async throws {
    let before = await service.conversation?.eventCount
    switch fields.words.first {
    case "lost": try await server.lose(kind)
    case "refuses":
      guard fields.words.count == 3, let status = Int(fields.words[1]) else { throw Unreadable(event: fields.words) }
      try await server.refuse(kind, status, fields.words[2], fields.errors)
    case "ok" where kind == "update":
      try await server.answer(
        kind, 200,
        Wire.update(
          fields["quote"] ?? "", total: fields["total"] ?? "", methods: fields.methods, errors: fields.errors))
    case "ok": try await server.answer(kind)
    case let status?: try await server.answer(kind, 200, Wire.payment(status))
    case nil: throw Unreadable(event: [kind])
    }
    try await waitUntil("what follows the answer \([kind] + fields.words)") {
      await service.conversation?.eventCount != before
    }
  }
}
