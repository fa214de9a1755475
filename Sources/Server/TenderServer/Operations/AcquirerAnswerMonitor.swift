import Acquiring
import Logging
import TenderPayments

/// Counts the acquirer's answers, and logs declines that only the operator can correct.
struct AcquirerAnswerMonitor: Sendable {
  let route: String
  let metrics: Metrics
  let logger: Logger

  @Sendable func note(_ verb: AcquirerVerb, _ answer: AcquirerAnswer) {
    metrics.acquirerAnswers.count(["route": route, "operation": verb.rawValue, "answer": answer.label])
    guard case .declined(let decline) = answer, decline.declineClass == .configuration else { return }
    logger.error(
      "the acquirer refuses our credentials, our request or our account",
      metadata: ["route": .string(route), "operation": .string(verb.rawValue), "code": .string(decline.code)])
  }
}
