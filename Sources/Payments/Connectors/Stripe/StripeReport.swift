import Acquiring
import StrictJSON
import TenderPayments

/// Stripe's listings of a period as a report for reconciliation: intents and refunds that were created in it.
///
/// Authorizations, captures and refunds of ours bear our reference in the metadata. A void has only the intent's name, by
/// which the journal knows the operation.
struct StripeReport: Sendable {
  /// One for each account.
  let connectors: [StripeConnector]
  let lookup: AcquirerReport.Lookup

  typealias Unavailable = AcquirerReport.Unavailable

  /// Oldest first, in Stripe's units. Stripe says when an intent was created, not when it was captured.
  func report(
    _ period: Range<Timestamp>, _ deadline: Deadline
  ) async throws(Unavailable) -> AcquirerReport {
    var lines: [AcquirerReport.Line] = []
    for connector in connectors {
      var references: [String: AttemptReference] = [:]
      for intent in try Self.found(await connector.intents(created: period, deadline)) {
        lines += try await self.lines(intent)
        references[intent.id] = intent.reference
      }
      for refund in try Self.found(await connector.refunds(created: period, deadline)) {
        let authorization = try await authorization(of: refund, references)
        if refund.reference != nil || refund.isBooked && authorization != nil {
          lines.append(refund.line(authorization))
        }
      }
    }
    return AcquirerReport(lines: lines.sorted { $0.time < $1.time })
  }

  private static func found<Item>(_ lookup: StripeConnector.Lookup<[Item]>) throws(Unavailable) -> [Item] {
    switch lookup {
    case .found(let items): return items
    case .missing: return []
    case .unavailable(let interruption): throw Unavailable(interruption: interruption)
    }
  }

  /// Our name of the authorization; nil for an intent of another program. A refund of none is ours by its own reference;
  /// a person's that no balance has felt is the release of a hold.
  private func authorization(
    of refund: StripeRefund, _ listed: [String: AttemptReference]
  ) async throws(Unavailable) -> AttemptReference? {
    guard let intent = refund.intent else { return nil }
    if let reference = listed[intent] { return reference }
    return try await find(.authorize, intent)
  }

  private func lines(_ intent: StripeIntent) async throws(Unavailable) -> [AcquirerReport.Line] {
    guard let reference = intent.reference else { return [] }
    var lines = [intent.line(.authorize, reference, intent.amount, intent.result)]
    if intent.hasImpossibleCaptures {
      // Which of them were made is not known. A capture of nothing contradicts the payment's balances.
      lines.append(intent.line(.capture, AttemptReference(intent.id), .zero(intent.amount.currency), .approved))
      return lines
    }
    for (capture, value) in intent.captures { lines.append(intent.line(.capture, capture, value, .approved)) }
    if let taken = intent.capturedElsewhere {
      lines.append(intent.line(.capture, AttemptReference(intent.id), taken, .approved))
    }
    if let released = intent.cancelled {
      let (operation, own) = try await void(intent, reference)
      lines.append(intent.line(operation, own, released, .approved))
    }
    return lines
  }

  /// Our name of the void; a reversal of ours stands under the authorization's reference.
  private func void(
    _ intent: StripeIntent, _ reference: AttemptReference
  ) async throws(Unavailable) -> (AcquirerReport.Operation, AttemptReference) {
    if let own = try await find(.void, intent.id) { return (.void, own) }
    if try await find(.reverse, intent.id) != nil { return (.reverse, reference) }
    return (.void, AttemptReference(intent.id))
  }

  private func find(
    _ operation: AcquirerReport.Operation, _ name: String
  ) async throws(Unavailable) -> AttemptReference? {
    do { return try await lookup(operation, name) } catch {
      throw Unavailable(interruption: Interruption(.unintelligibleAnswer, detail: "the journal cannot be read"))
    }
  }
}

extension StripeIntent {
  fileprivate var result: AcquirerReport.Result {
    switch status {
    case "processing": .pending
    case "requires_capture", "succeeded": .approved
    default: decline == nil && status == "canceled" && cancellationReason != "abandoned" ? .approved : .declined
    }
  }

  /// What a cancel released of a hold; nil where there was no cancel, or no hold.
  fileprivate var cancelled: Amount? {
    canceledAt != nil && decline == nil && cancellationReason != "abandoned" ? released : nil
  }

  fileprivate func line(
    _ operation: AcquirerReport.Operation, _ reference: AttemptReference, _ amount: Amount,
    _ result: AcquirerReport.Result
  ) -> AcquirerReport.Line {
    AcquirerReport.Line(
      reference: reference, operation: operation, amount: amount, result: result,
      time: operation == .void || operation == .reverse ? canceledAt ?? createdAt : createdAt,
      of: operation == .authorize ? nil : self.reference, called: id)
  }
}

extension StripeRefund {
  /// Under Stripe's name of it, where a person made it.
  fileprivate func line(_ authorization: AttemptReference?) -> AcquirerReport.Line {
    let result: AcquirerReport.Result =
      switch status {
      case "succeeded": .approved
      case "pending", "requires_action": .pending
      default: .declined
      }
    return AcquirerReport.Line(
      reference: reference ?? AttemptReference(id), operation: .refund, amount: amount, result: result, time: createdAt,
      of: authorization, called: id)
  }
}
