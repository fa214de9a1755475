import Administration
import HTTPServing
import HTTPTypes
import Logging
import TenderPayments

/// Makes the answers to requests whose head is refused: counted and logged as every call, without a route.
struct RequestHeadRefusal: Sendable {
  let recorder: CallRecorder
  let securityHeaders: SecurityHeaders
  let logger: Logger

  /// - Parameter method: of the request, where the decoder got so far.
  func answer(_ problem: RequestHeadProblem, to method: String?) -> PlainAnswer {
    let id = recorder.random.hex(12)
    recorder.metrics.refusals.count(["code": problem.code])
    var logger = logger
    logger[metadataKey: "requestId"] = .string(id)
    recorder.record(method ?? "unknown", "unmatched", problem.status, since: .now, logger)
    var answer = Problem(problem).answer(requestID: id)
    answer.head.headerFields[.requestID] = id
    answer.head.headerFields[.connection] = "close"
    securityHeaders.add(to: &answer.head.headerFields)
    return answer
  }
}

extension Problem {
  init(_ problem: RequestHeadProblem) {
    self.init(problem.status, problem.code, problem.detail, field: problem.field)
  }
}
