import Acquiring
import StrictJSON
import TenderPayments

/// What Stripe's answers mean. An answer counts only if it parses and is about our reference, amount, currency and
/// mode; everything else leaves the outcome unknown.
struct StripeAnswers: Sendable {
  let isLive: Bool

  func preparation(_ reply: StripeReply) -> Preparation {
    switch reply {
    case .refused(let refusal): return .declined(refusal.decline)
    case .notSent(let reason): return .failed(Interruption(.connectionLost, detail: "not sent: \(reason)"))
    case .unknown(let interruption): return .failed(interruption)
    case .done(let root):
      guard let id = try? root.stripeName("id", of: "token"), (try? root.member("livemode").bool) == isLive else {
        return .failed(Interruption(.unintelligibleAnswer, detail: "no token"))
      }
      return .ready(id)
    }
  }

  /// The name of our intent that waits for the shopper; nil for every other answer.
  func waiting(_ reply: StripeReply, _ reference: AttemptReference) -> String? {
    guard case .done(let root) = reply, let intent = try? StripeIntent(root), isOurs(intent, reference),
      ["requires_action", "requires_confirmation"].contains(intent.status)
    else { return nil }
    return intent.id
  }

  func authorization(_ reply: StripeReply, _ request: AuthorizationRequest) -> AcquirerAnswer {
    answer(reply, refused: { refusal(of: request.reference, $0) }) { root throws(JSONError) in
      let intent = try StripeIntent(root)
      guard isOurs(intent, request.reference) else { return .anotherIntent }
      return hold(intent, request.amount)
    }
  }

  /// A decline holds the intent that was declined, which has to be ours and without money.
  private func refusal(of reference: AttemptReference, _ refusal: StripeRefusal) -> AcquirerAnswer {
    guard let intent = refusal.intent else { return .declined(refusal.decline) }
    guard isOurs(intent, reference) else { return .anotherIntent }
    guard ["requires_payment_method", "canceled"].contains(intent.status) else { return .uncertain(intent) }
    return .declined(refusal.decline)
  }

  private func isOurs(_ intent: StripeIntent, _ reference: AttemptReference) -> Bool {
    intent.isLive == isLive && intent.reference == reference
  }

  func capture(_ reply: StripeReply, _ request: FollowUpRequest) -> AcquirerAnswer {
    answer(reply, refused: { refused($0, request) }) { root throws(JSONError) in
      let intent = try StripeIntent(root)
      guard isAbout(intent, request) else { return .anotherIntent }
      return captured(intent, by: request.reference, request.amount) ?? .uncertain(intent)
    }
  }

  func void(_ reply: StripeReply, _ request: FollowUpRequest) -> AcquirerAnswer {
    answer(reply, refused: { refused($0, request) }) { root throws(JSONError) in
      let intent = try StripeIntent(root)
      guard isAbout(intent, request) else { return .anotherIntent }
      // What was captured in part before has succeeded, and its rest is released.
      let isReleased =
        intent.status == "canceled"
        || intent.status == "succeeded" && intent.capturable == .zero(intent.amount.currency)
      return isReleased ? .approved(Approval(acquirerReference: intent.id)) : .uncertain(intent)
    }
  }

  func refund(_ reply: StripeReply, _ request: FollowUpRequest) -> AcquirerAnswer {
    answer(reply, refused: { refused($0, request) }) { root throws(JSONError) in
      let refund = try StripeRefund(root)
      guard refund.intent == request.authorization, refund.reference == request.reference else {
        return .anotherIntent
      }
      return refunded(refund, request.amount)
    }
  }

  private func isAbout(_ intent: StripeIntent, _ request: FollowUpRequest) -> Bool {
    intent.id == request.authorization && intent.isLive == isLive && intent.amount.currency == request.amount.currency
  }

  /// A refusal for the intent's state says which one. This very capture may be the reason.
  private func refused(_ refusal: StripeRefusal, _ request: FollowUpRequest) -> AcquirerAnswer {
    guard refusal.code == "payment_intent_unexpected_state" else { return .declined(refusal.decline) }
    guard let intent = refusal.intent, intent.id == request.authorization else { return .anotherIntent }
    return captured(intent, by: request.reference, request.amount) ?? .declined(ended(intent))
  }

  func credentials(_ reply: StripeReply) -> CredentialCheck {
    switch reply {
    case .done(let root) where (try? root.member("object").string) == "balance":
      (try? root.member("livemode").bool) == isLive ? .accepted : .refused("the key is of Stripe's other mode")
    case .refused(let refusal) where refusal.status == 401: .refused("Stripe does not know the secret key")
    case .refused(let refusal) where refusal.status == 403:
      .refused("the key may not read the balance, or not act for the connected account (HTTP 403)")
    case .refused(let refusal): .unavailable(Interruption(.serverError, detail: "HTTP \(refusal.status)"))
    case .notSent(let reason): .unavailable(Interruption(.connectionLost, detail: reason))
    case .unknown(let interruption): .unavailable(interruption)
    case .done: .unavailable(Interruption(.unintelligibleAnswer, detail: "no balance"))
    }
  }
}

extension StripeAnswers {
  /// What an intent says of its authorization.
  func hold(_ intent: StripeIntent, _ asked: Amount) -> AcquirerAnswer {
    guard intent.amount == asked else { return .anotherIntent }
    switch intent.status {
    case "requires_capture" where (try? intent.capturable.adding(intent.received)) == asked: return .approved(intent)
    case "succeeded" where intent.received.isPositive: return .approved(intent)
    case "processing": return .pending(Pending(acquirerReference: intent.id))
    // Nobody leads the shopper to a challenge. The device has authenticated them; the account asks for more.
    case "requires_action", "requires_confirmation":
      return .declined(Decline(reason: .configuration, code: intent.status))
    case "requires_payment_method": return intent.decline.map { .declined($0) } ?? .uncertain(intent)
    case "canceled" where intent.cancellationReason == "abandoned":
      return .declined(Decline(reason: .configuration, code: "requires_action"))
    case "canceled": return .declined(intent.decline ?? ended(intent))
    default: return .uncertain(intent)
    }
  }

  /// What an intent says of one of our captures; nil when it does not know it.
  func captured(_ intent: StripeIntent, by reference: AttemptReference, _ amount: Amount) -> AcquirerAnswer? {
    guard let value = intent.captures[reference] else { return nil }
    guard value == amount, intent.received.minorUnits >= value.minorUnits else { return .anotherIntent }
    return .approved(Approval(acquirerReference: intent.id))
  }

  func refunded(_ refund: StripeRefund, _ amount: Amount) -> AcquirerAnswer {
    guard refund.amount == amount else { return .anotherIntent }
    switch refund.status {
    case "succeeded": return .approved(Approval(acquirerReference: refund.id))
    case "pending", "requires_action": return .pending(Pending(acquirerReference: refund.id))
    case "failed", "canceled": return .declined(refund.decline)
    default: return .unknown(Interruption(.unintelligibleAnswer, detail: "a status of refunds that is not known"))
    }
  }

  /// Why nothing can be captured or released any more.
  func ended(_ intent: StripeIntent) -> Decline {
    let reason: DeclineReason = intent.status == "canceled" ? .holdEnded : .other
    return Decline(reason: reason, code: StripeDeclines.shown(intent.status))
  }

  private func answer(
    _ reply: StripeReply, refused: (StripeRefusal) -> AcquirerAnswer,
    _ read: (JSONField) throws(JSONError) -> AcquirerAnswer
  ) -> AcquirerAnswer {
    switch reply {
    case .refused(let refusal): return refused(refusal)
    case .notSent(let reason): return .notSent(reason)
    case .unknown(let interruption): return .unknown(interruption)
    case .done(let root):
      do throws(JSONError) { return try read(root) } catch {
        return .unknown(Interruption(.unintelligibleAnswer, detail: error.description))
      }
    }
  }
}

extension StripeRefund {
  var decline: Decline {
    Decline(reason: .other, code: StripeDeclines.shown(failureReason ?? "refund_\(status)"))
  }
}

extension AcquirerAnswer {
  static var anotherIntent: AcquirerAnswer {
    .unknown(Interruption(.unintelligibleAnswer, detail: "the answer is about another operation"))
  }

  static func uncertain(_ intent: StripeIntent) -> AcquirerAnswer {
    .unknown(
      Interruption(.acquirerUncertain, detail: "the intent's status is \(StripeDeclines.shown(intent.status))"))
  }

  static func approved(_ intent: StripeIntent) -> AcquirerAnswer {
    .approved(
      Approval(
        acquirerReference: intent.id, authorizationCode: intent.authorizationCode,
        networkTransactionID: intent.networkTransactionID))
  }
}
