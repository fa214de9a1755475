package import TenderPayments

/// Which of the acquirer's verbs an answer is to.
package enum AcquirerVerb: String, Sendable, Hashable, CaseIterable {
  /// Those that move money, and the inquiry about one of them.
  case authorize, capture, void, refund, increment, inquire
}

/// An answer, with what it was the answer to.
package struct ObservedAnswer: Sendable {
  package let verb: AcquirerVerb
  package let answer: AcquirerAnswer
  /// How long it took.
  package let duration: Duration
  /// In the acquirer's units.
  package let amount: Amount
  /// The network of an authorization, if it is known.
  package let network: CardNetwork?
}

extension AuthorizationRequest {
  /// By the card's number; of a sealed payment token as the device says.
  fileprivate var network: CardNetwork? {
    switch instrument {
    case .network(let card): CardNetwork(of: card.dpan)
    case .sealed: sale.cardNetwork
    case .stored(let credential): credential.card.network
    }
  }
}

extension Acquirer {
  /// The acquirer, which reports every answer to the observer. What an inquiry finds is an answer too.
  package func observed(
    on scheduler: Scheduler = .system, by note: @escaping @Sendable (ObservedAnswer) -> Void
  ) -> Acquirer {
    func observing<Request: AmountRequest>(
      _ verb: AcquirerVerb, _ ask: @escaping Verb<Request, AcquirerAnswer>
    ) -> Verb<Request, AcquirerAnswer> {
      { request, deadline in
        let begin = scheduler.uptime()
        let answer = await ask(request, deadline)
        note(
          ObservedAnswer(
            verb: verb, answer: answer, duration: scheduler.uptime() - begin, amount: request.amount,
            network: (request as? AuthorizationRequest)?.network))
        return answer
      }
    }
    var observed = self
    observed.authorize = observing(.authorize, authorize)
    observed.capture = observing(.capture, capture)
    observed.void = observing(.void, void)
    observed.refund = observing(.refund, refund)
    observed.increment = increment.map { observing(.increment, $0) }
    observed.inquire = { [inquire] request, deadline in
      let begin = scheduler.uptime()
      let found = await inquire(request, deadline)
      if case .answer(let answer) = found {
        note(
          ObservedAnswer(
            verb: .inquire, answer: answer, duration: scheduler.uptime() - begin, amount: request.amount, network: nil))
      }
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
