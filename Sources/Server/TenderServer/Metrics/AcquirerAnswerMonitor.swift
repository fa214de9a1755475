import Acquiring
import Logging
import TenderPayments

/// Counts the acquirer's answers, what they cost and how long they take, and logs declines that only the operator can
/// correct.
struct AcquirerAnswerMonitor: Sendable {
  let route: ConfiguredRoute
  let metrics: Metrics
  let logger: Logger

  @Sendable func note(_ observed: ObservedAnswer) {
    let verb = observed.verb.rawValue
    metrics.acquirerAnswers.count(["route": route.name, "operation": verb, "answer": observed.label])
    metrics.acquirerTimes.observe(observed.duration, ["route": route.name, "operation": verb])
    if observed.verb == .authorize { noteAuthorization(observed) }
    guard case .declined(let decline) = observed.answer, decline.declineClass == .configuration else { return }
    logger.error(
      "the acquirer refuses our credentials, our request or our account",
      metadata: ["route": .string(route.name), "operation": .string(verb), "code": .string(decline.code)])
  }

  /// By network, so that approval rates can be compared. The cost is an estimate: as if all of it is captured.
  private func noteAuthorization(_ observed: ObservedAnswer) {
    var labels = ["route": route.name, "network": observed.network?.rawValue ?? "unknown"]
    metrics.authorizations.count(labels.merging(["answer": observed.label]) { $1 })
    switch observed.answer {
    case .declined(let decline):
      metrics.declines.count(labels.merging(["reason": decline.reason.rawValue]) { $1 })
    case .approved(let approval):
      let approved = approval.approvedAmount ?? observed.amount
      guard let amount = route.acquirer.capabilities.fromAcquirer(approved) else { return }
      labels["currency"] = amount.currency.code
      metrics.authorized.count(labels, by: amount.minorUnits)
      guard let cost = route.fees.cost(of: amount, network: observed.network) else { return }
      metrics.costs.count(labels, by: cost.minorUnits)
    case .pending, .unknown, .notSent, nil: break
    }
  }
}
