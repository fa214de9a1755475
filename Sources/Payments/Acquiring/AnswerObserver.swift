package import TenderPayments

/// Which of the acquirer's verbs an answer is to.
package enum AcquirerVerb: String, Sendable, Hashable, CaseIterable {
  /// Those that move money, and the inquiry about one of them.
  case authorize, capture, void, refund, inquire
}

extension Acquirer {
  /// The same acquirer, which reports every answer to the observer. What an inquiry finds is an answer too.
  package func observed(by note: @escaping @Sendable (AcquirerVerb, AcquirerAnswer) -> Void) -> Acquirer {
    func observing<Request>(
      _ verb: AcquirerVerb, _ ask: @escaping Verb<Request, AcquirerAnswer>
    ) -> Verb<Request, AcquirerAnswer> {
      { request, deadline in
        let answer = await ask(request, deadline)
        note(verb, answer)
        return answer
      }
    }
    var observed = self
    observed.authorize = observing(.authorize, authorize)
    observed.capture = observing(.capture, capture)
    observed.void = observing(.void, void)
    observed.refund = observing(.refund, refund)
    observed.inquire = { [inquire] request, deadline in
      let found = await inquire(request, deadline)
      if case .answer(let answer) = found { note(.inquire, answer) }
      return found
    }
    return observed
  }
}

extension AcquirerAnswer {
  /// One word for metrics: `approved`, `approved_for_less`, `declined` for good, `retriable`, `configuration`,
  /// `pending`, `unknown`, `not_sent`.
  package var label: String {
    switch self {
    case .approved(let approval): approval.approvedAmount == nil ? "approved" : "approved_for_less"
    case .declined(let decline): decline.declineClass == .final ? "declined" : decline.declineClass.rawValue
    case .pending: "pending"
    case .unknown: "unknown"
    case .notSent: "not_sent"
    }
  }
}
