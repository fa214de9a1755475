import Administration
import Ledger
import TenderPayments
import Webhooks

/// What happened to a payment, in sentences that a person can say to the shopper, oldest first. The timeline has the raw
/// facts.
struct PaymentStory {
  private let file: PaymentFile
  private let format: OfficeFormat

  init(_ file: PaymentFile, _ format: OfficeFormat) { (self.file, self.format) = (file, format) }

  var lines: [TimelineEntry] {
    let asked = file.actions.filter { !$0.action.action.hasSuffix(".outcome") }
    let all = file.operations.map(line) + notified + asked.map(line)
    return all.enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }.map(\.element)
  }

  // MARK: Operations at the provider

  private func line(_ operation: OperationRecord) -> TimelineEntry {
    let answered = operation.answeredAt.map { format.duration($0.since(operation.sentAt)) }
    let details = [
      Self.why[operation.cause], answered.map { "\(file.item.route) answered after \($0)" },
      operation.code.map { "code \($0)" },
    ]
    return TimelineEntry(
      at: operation.sentAt, kind: Self.kind(operation.state), text: sentence(operation),
      detail: details.compactMap(\.self).joined(separator: ", ").capitalizedFirst)
  }

  private static func kind(_ state: OperationState) -> String {
    switch state {
    case .approved: "good"
    case .declined, .failed, .returned: "bad"
    case .sending, .pending, .unknown: "wait"
    case .reversed: "undone"
    }
  }

  private static let why: [OperationCause: String] = [
    .order: "at once, as the order asks", .expiry: "because the hold ended", .recovery: "to resolve an unknown outcome",
    .provider: "reported by the provider", .restore: "found after the store was restored",
  ]

  private func sentence(_ operation: OperationRecord) -> String {
    let amount = format.amount(operation.amount)
    switch operation.state {
    case .approved: return Self.done(operation.kind, amount, file.payment.card.name)
    case .declined:
      let why = operation.decline.map { ": \($0.reason.shown)" } ?? ""
      return operation.kind == .authorize
        ? "The card was declined\(why)." : "The \(Self.noun(operation.kind)) of \(amount) was declined\(why)."
    case .sending, .pending: return "The \(Self.noun(operation.kind)) of \(amount) has no answer yet."
    case .unknown:
      return "It is not known what \(file.item.route) did with the \(Self.noun(operation.kind)) of \(amount)."
    case .failed: return "The \(Self.noun(operation.kind)) of \(amount) was not made: nothing happened there."
    case .reversed: return "\(amount) was held and released again."
    case .returned: return "The \(Self.noun(operation.kind)) of \(amount) was approved and came back later."
    }
  }

  private static func done(_ kind: OperationKind, _ amount: String, _ card: String?) -> String {
    switch kind {
    case .authorize: "The shopper authorized \(amount)\(card.map { " with \($0)" } ?? "")."
    case .capture: "\(amount) was captured."
    case .void: "The hold of \(amount) was released."
    case .refund: "\(amount) was refunded."
    case .increment: "The hold was raised by \(amount)."
    case .reverse: "The hold of \(amount) was undone."
    case .chargeback: "The cardholder’s bank took \(amount) back."
    case .chargebackReversal: "The dispute ended for the merchant: \(amount) came back."
    }
  }

  private static func noun(_ kind: OperationKind) -> String {
    switch kind {
    case .authorize: "authorization"
    case .capture, .void, .refund: kind.rawValue
    case .increment: "raise"
    case .reverse: "reversal"
    case .chargeback: "chargeback"
    case .chargebackReversal: "reversal of the chargeback"
    }
  }

  // MARK: Webhooks, and what operators did

  private var notified: [TimelineEntry] {
    file.events.flatMap { event in
      file.deliveries.filter { $0.sequence == event.sequence }.map { delivery in
        let tries = delivery.failedTries(format)
        let words = [delivery.state == .dead ? "given up" : delivery.state.rawValue, delivery.result, tries]
        return TimelineEntry(
          at: event.happenedAt, kind: delivery.state == .dead ? "bad" : "notified",
          text: "The merchant’s server was notified: \(event.status.shown).",
          detail: "Endpoint \(delivery.endpoint), \(words.compactMap(\.self).joined(separator: ", "))")
      }
    }
  }

  private func line(_ entry: OfficeAudit.Entry) -> TimelineEntry {
    let action = entry.action
    let words = Self.words.first { action.action.hasPrefix($0.0) }?.1 ?? "did: \(action.action)"
    let isVain = action.action.hasSuffix(".refused") || action.action.hasSuffix(".failed")
    let why = action.reason.isEmpty ? "" : "“\(action.reason)”"
    return TimelineEntry(
      at: entry.at, kind: "operator", text: "\(action.actor) \(words)\(isVain ? ", in vain" : "").",
      detail: [isVain ? action.after : "", why].filter { !$0.isEmpty }.joined(separator: " "))
  }

  private static let words = [
    ("payment.capture", "asked for a capture"), ("payment.void", "asked for a void"),
    ("payment.refund", "asked for a refund"), ("payment.inquire", "asked the provider"),
    ("payment.acknowledge", "acknowledged the alarm"), ("payment.resolve", "decided by hand"),
    ("refund.request", "asked a second person for a refund"), ("refund.approved", "approved the refund"),
    ("refund.rejected", "rejected the refund"), ("webhook.replay", "had a webhook sent again"),
  ]
}
