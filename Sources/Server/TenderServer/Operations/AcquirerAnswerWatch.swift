import Acquiring
import Logging
import TenderPayments

/// Counts what the acquirer answers, and logs what only the operator can correct.
struct AcquirerAnswerWatch: Sendable {
  let metrics: Metrics
  let logger: Logger

  @Sendable func note(_ verb: AcquirerVerb, _ answer: AcquirerAnswer) {
    metrics.acquirerAnswers.count(["operation": verb.rawValue, "answer": answer.label])
    guard case .declined(let decline) = answer, decline.declineClass == .configuration else { return }
    logger.error(
      "the acquirer refuses our credentials, our request or our account",
      metadata: ["operation": .string(verb.rawValue), "code": .string(decline.code)])
  }
}
