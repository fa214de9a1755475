/// What came of one run.
package struct LoadReport: Sendable {
  package struct Answer: Sendable {
    /// Which of the requests.
    package let request: Int
    package let status: Int
    package let hasRetryAfter: Bool
    /// From the moment at which it was due.
    package let microseconds: Int64
  }

  package internal(set) var answers: [Answer] = []
  /// Requests that were due and got no answer: no connection was left, one broke, or the run had to end.
  package internal(set) var drops = 0
  /// From the first request that was due to the last answer.
  package internal(set) var elapsed: Duration = .zero

  package func latencies(of status: (Int) -> Bool) -> Latencies {
    Latencies(answers.filter { status($0.status) }.map(\.microseconds))
  }

  package func count(_ status: (Int) -> Bool) -> Int { answers.count { status($0.status) } }

  /// Answers of that kind a second.
  package func rate(_ status: (Int) -> Bool) -> Double { Double(count(status)) / elapsed.seconds }
}
