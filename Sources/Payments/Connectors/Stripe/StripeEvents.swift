import Acquiring
import StrictJSON
import TenderPayments

/// Stripe's webhooks: an event with its whole object, signed in the header `Stripe-Signature`.
///
/// The header is `t=<seconds>,v1=<hex>`, with several `v1` while a secret is rolled: an HMAC-SHA256 of the seconds, a
/// full stop and the body under the endpoint's secret. Stripe's libraries refuse what is older than five minutes.
enum StripeEvents {
  static let tolerance: Duration = .seconds(300)

  static func read(_ event: InboundEvent, _ settings: StripeSettings) throws(EventRefusal) -> EventBatch {
    guard isAuthentic(event, settings) else { throw .notAuthentic }
    do throws(JSONError) {
      return try read(JSONField(JSONReader.read(event.body)), settings)
    } catch { throw .unintelligible }
  }

  private static func read(_ root: JSONField, _ settings: StripeSettings) throws(JSONError) -> EventBatch {
    let (object, type) = (try root.member("object").string, try root.member("type").string)
    switch object {
    case "event": break
    // A thin event, or the ping of a destination. What is about our money must come with its object.
    case "v2.core.event" where !StripeEvent.isAboutMoney(type.trimmingPrefix("v1.")): return .nothing
    default: throw JSONError(.invalid, path: root.path, "not an event with its object")
    }
    guard StripeEvent.isAboutMoney(type), try root.member("livemode").bool == settings.isLive else { return .nothing }
    let account = try root.memberIfPresent("account")?.string ?? ""
    guard settings.eventAccounts.contains(account) else { return .of(account) }
    let events = try StripeEvent(root).events
    return events.isEmpty ? .nothing : EventBatch(events: events)
  }

  private static func isAuthentic(_ event: InboundEvent, _ settings: StripeSettings) -> Bool {
    guard let header = event.header("Stripe-Signature"), let signature = StripeSignature(header),
      abs(event.arrivedAt.seconds - signature.seconds) <= tolerance.components.seconds
    else { return false }
    let signed = Array("\(signature.seconds).".utf8) + event.body
    return signature.codes.contains { code in settings.signingSecrets.contains { $0.signed(signed, as: code) } }
  }
}

/// What the header `Stripe-Signature` says.
private struct StripeSignature {
  let seconds: Int64
  let codes: [[UInt8]]

  /// Nil without exactly one time, and a signature of a known scheme. Schemes that are not known are passed over.
  init?(_ header: String) {
    let pairs = header.split(separator: ",").map { $0.split(separator: "=", maxSplits: 1) }.filter { $0.count == 2 }
    let times = pairs.filter { $0[0] == "t" }
    guard times.count == 1, let seconds = Int64(times[0][1]), (0...253_402_300_799).contains(seconds) else {
      return nil
    }
    codes = pairs.filter { $0[0] == "v1" }.compactMap { Hex.decode($0[1]) }
    guard !codes.isEmpty else { return nil }
    self.seconds = seconds
  }
}

/// An authentic event.
private struct StripeEvent {
  private let meaning: Meaning?
  private let object: JSONField
  private let request: JSONField?

  init(_ root: JSONField) throws(JSONError) {
    meaning = Self.meanings[try root.member("type").string]
    object = try root.member("data").member("object")
    request = try root.memberIfPresent("request")
  }

  private enum Meaning {
    case held, failed, canceled, refunded
    case disputed(MoneyMovement)
  }

  private static let meanings: [String: Meaning] = [
    "payment_intent.amount_capturable_updated": .held, "payment_intent.succeeded": .held,
    "payment_intent.payment_failed": .failed, "payment_intent.canceled": .canceled,
    "refund.created": .refunded, "refund.updated": .refunded, "refund.failed": .refunded,
    "charge.dispute.funds_withdrawn": .disputed(.chargeback),
    "charge.dispute.funds_reinstated": .disputed(.chargebackReversed),
  ]

  static func isAboutMoney(_ type: some StringProtocol) -> Bool { meanings[String(type)] != nil }

  /// None for what says nothing about money, and for intents of other programs on the same account.
  var events: [AcquirerEvent] {
    get throws(JSONError) {
      switch meaning {
      case .held: try held
      case .failed: try failed
      case .canceled: try canceled
      case .refunded: try refunded
      case .disputed(let movement): try disputed(movement)
      case nil: []
      }
    }
  }

  /// The operation of ours whose call brought it about; nil for what a person or Stripe itself did. In the oldest
  /// versions of Stripe's API `request` is a text, which does not say.
  private var cause: (operation: StripeOperation, reference: AttemptReference)? {
    get throws(JSONError) {
      try request?.memberIfPresent("idempotency_key").flatMap { (key) throws(JSONError) in
        StripeOperation.read(try key.string)
      }
    }
  }

  /// The authorization was approved; a capture of ours was done; and the rest that was captured, somebody else took.
  private var held: [AcquirerEvent] {
    get throws(JSONError) {
      guard let intent = try StripeIntent.ours(object), let reference = intent.reference else { return [] }
      let approval = AcquirerAnswer.approved(intent)
      var events = [
        AcquirerEvent(
          id: "authorized:\(intent.id)", reference: reference, amount: intent.amount, answer: approval)
      ]
      for (capture, value) in intent.captures.sorted(by: { $0.key.rawValue < $1.key.rawValue }) {
        events.append(
          AcquirerEvent(
            id: "captured:\(capture)", reference: capture, amount: value,
            answer: .approved(Approval(acquirerReference: intent.id))))
      }
      if let taken = intent.capturedElsewhere {
        events.append(movement(.capture, intent.id, taken, "\(intent.received.minorUnits)"))
      }
      return events
    }
  }

  private var failed: [AcquirerEvent] {
    get throws(JSONError) {
      guard let intent = try StripeIntent.ours(object), let reference = intent.reference else { return [] }
      let decline = intent.decline ?? Decline(reason: .other, code: "payment_failed")
      return [
        AcquirerEvent(
          id: "failed:\(intent.id)", reference: reference, amount: intent.amount, answer: .declined(decline))
      ]
    }
  }

  /// Our void, the end of an intent that waited for the shopper, or what a person or the time did. An intent that was
  /// declined before held nothing.
  private var canceled: [AcquirerEvent] {
    get throws(JSONError) {
      guard let intent = try StripeIntent.ours(object), let reference = intent.reference else { return [] }
      let released = intent.released
      switch try cause {
      case (.void, let void)?:
        let approval = Approval(acquirerReference: intent.id)
        return [
          AcquirerEvent(id: "voided:\(void)", reference: void, amount: released, answer: .approved(approval))
        ]
      case (.abandon, _)?:
        let decline = Decline(reason: .configuration, code: "requires_action")
        return [
          AcquirerEvent(
            id: "abandoned:\(intent.id)", reference: reference, amount: intent.amount, answer: .declined(decline))
        ]
      default:
        guard intent.decline == nil else { return [] }
        return [movement(intent.isExpired ? .holdExpired : .void, intent.id, released)]
      }
    }
  }

  /// The answer to a refund of ours, or a person's. What no balance has felt is the release of a hold.
  private var refunded: [AcquirerEvent] {
    get throws(JSONError) {
      guard let refund = try StripeRefund.read(object) else { return [] }
      if let reference = refund.reference { return answer(to: reference, refund) }
      guard let intent = refund.intent, refund.isBooked else { return [] }
      switch refund.status {
      case "succeeded": return [movement(.refund, intent, refund.amount, name: refund.id)]
      case "failed", "canceled": return [movement(.refundReturned, intent, refund.amount, name: refund.id)]
      default: return []
      }
    }
  }

  private func answer(to reference: AttemptReference, _ refund: StripeRefund) -> [AcquirerEvent] {
    let content: AcquirerEvent.Content
    switch refund.status {
    case "succeeded": content = .answer(.approved(Approval(acquirerReference: refund.id)))
    // It may have succeeded first. It does not succeed again.
    case "failed", "canceled": content = .returned(refund.decline)
    default: return []
    }
    return [
      AcquirerEvent(
        id: "\(refund.status):\(refund.id)", subject: .operation(reference), amount: refund.amount, content: content)
    ]
  }

  private func disputed(_ kind: MoneyMovement) throws(JSONError) -> [AcquirerEvent] {
    let id = try object.stripeName("id", of: "dispute")
    guard try object.memberIfPresent("payment_intent") != nil else { return [] }
    return [movement(kind, try object.stripeName("payment_intent"), try object.stripeAmount, name: id)]
  }

  /// - Parameter more: tells apart movements of one kind on one intent.
  private func movement(
    _ kind: MoneyMovement, _ intent: String, _ amount: Amount, _ more: String = "", name: String? = nil
  ) -> AcquirerEvent {
    let name = name ?? intent
    return AcquirerEvent(
      id: "\(kind.rawValue):\(name)\(more.isEmpty ? "" : ":\(more)")", subject: .authorization(intent), amount: amount,
      content: .movement(kind), name: name)
  }
}
