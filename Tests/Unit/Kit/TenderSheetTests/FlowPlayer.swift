import TenderPayments
import TenderSheet
import TenderTesting

/// Plays transcripts to a `SheetFlow`: keeps its clock and its calls, and writes its effects as transcripts do.
struct FlowPlayer {
  private var flow = SheetFlow()
  private var now = Timestamp(seconds: 1_795_260_000)
  private var calls: [PendingCall] = []
  private let alter: @Sendable (SheetEffect) -> SheetEffect?

  private struct PendingCall {
    let id: CallID
    let verb: String
    let lostAt: Timestamp
  }

  /// `alter` injects a fault: it changes or drops an effect.
  init(alter: @escaping @Sendable (SheetEffect) -> SheetEffect? = { $0 }) { self.alter = alter }

  struct Unreadable: Error { let event: [String] }

  /// The effects of one event of a transcript, as it writes them.
  mutating func play(_ event: [String]) throws -> [String] {
    if event.first == "clock", event.count == 2, let time = Self.duration(event[1]) { return try wait(time) }
    return hand(in: try read(event))
  }

  /// Time passes: calls without an answer are lost, and the flow is woken when it wants to be.
  private mutating func wait(_ time: Duration) throws -> [String] {
    let end = now.adding(time)
    var lines: [String] = []
    for _ in 0..<10_000 {
      guard let next = ([flow.wakeAt] + calls.map(\.lostAt)).compactMap({ $0 }).min(), next <= end else {
        now = end
        return lines
      }
      now = max(now, next)
      if let lost = calls.first(where: { $0.lostAt <= now }) {
        calls.removeAll { $0.id == lost.id }
        lines += hand(in: .answered(lost.id, .lost))
      } else {
        lines += hand(in: .woke)
      }
    }
    throw Unreadable(event: ["the flow wants to be woken again and again"])
  }

  private mutating func hand(in event: SheetEvent) -> [String] {
    flow.handle(event, at: now).compactMap(alter).map { effect in
      if case .ask(let id, let call, let within) = effect {
        calls.append(PendingCall(id: id, verb: call.verb, lostAt: now.adding(within)))
      }
      return effect.line
    }
  }

  private mutating func read(_ event: [String]) throws -> SheetEvent {
    switch (event.first, event.dropFirst().first) {
    case ("page", "prepared") where event.count == 3: return .prepared(QuoteID(event[2]))
    case ("page", "pressed"): return .pressed
    case ("page", "returned"): return .returned
    case ("sheet", "not-opened"): return .notOpened
    case ("sheet", "merchant-session"): return .merchantSessionRequested(validationURL: event.dropFirst(2).first)
    case ("sheet", "authorized"): return .authorized
    case ("sheet", "closed"): return .closed
    case ("sheet", "changed"): return .changed(try Self.change(event))
    case ("server", let verb?): return try answer(to: verb, event)
    default: throw Unreadable(event: event)
    }
  }

  private static func change(_ event: [String]) throws -> SheetChange {
    let value = event.count > 3 ? event[3] : ""
    switch event.count > 2 ? event[2] : "" {
    case "shipping-contact":
      let parts = value.split(separator: "/", maxSplits: 1).map(String.init)
      return .shippingContact(RedactedContact(postalCode: parts.dropFirst().first, countryCode: parts.first))
    case "shipping-method": return .shippingMethod(value)
    case "coupon-code": return .couponCode(value)
    case "payment-method": return .paymentMethod(PaymentMethodType(rawValue: value) ?? .unknown)
    default: throw Unreadable(event: event)
    }
  }

  private mutating func answer(to verb: String, _ event: [String]) throws -> SheetEvent {
    guard let call = calls.first(where: { $0.verb == verb }), event.count > 2 else { throw Unreadable(event: event) }
    calls.removeAll { $0.id == call.id }
    return .answered(call.id, try Self.answer(event[2], verb, Fields(event.dropFirst(3))))
  }

  private static func answer(_ result: String, _ verb: String, _ fields: Fields) throws -> ServerAnswer {
    switch (result, verb) {
    case ("lost", _): return .lost
    case ("refuses", _):
      guard let status = fields.words.first.flatMap({ Int($0) }), let code = fields.words.last else { break }
      return .refused(SheetRefusal(status: status, code: code, errors: try fields.errors()))
    case ("ok", "merchant-session"): return .merchantSession
    case ("ok", "cancel"): return .cancelled
    case ("ok", "update"): return .update(try fields.update(), QuoteID(fields["quote"] ?? ""))
    default:
      if let status = PaymentStatus(rawValue: result) { return .payment(status) }
    }
    throw Unreadable(event: [verb, result])
  }

  /// `500ms`, `27s`.
  private static func duration(_ text: String) -> Duration? {
    if text.hasSuffix("ms") { return Int64(text.dropLast(2)).map { .milliseconds($0) } }
    return text.hasSuffix("s") ? Int64(text.dropLast()).map { .seconds($0) } : nil
  }
}
