import Telemetry
package import TenderPayments

/// Which of the acquirer's verbs an answer is to.
package enum AcquirerVerb: String, Sendable, Hashable, CaseIterable {
  /// Those that move money, the first of two steps, the inquiry about one of them, and its undoing.
  case prepare, authorize, capture, void, refund, increment, inquire, reverse
}

/// An answer, with what it was the answer to.
package struct ObservedAnswer: Sendable {
  package let verb: AcquirerVerb
  /// One word for metrics.
  package let label: String
  /// Nil for those that move no money by themselves.
  package let answer: AcquirerAnswer?
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

/// What a verb answers, as metrics and spans show it.
private protocol ObservableAnswer: Sendable, SendableMetatype {
  /// One word.
  var label: String { get }
  var moved: AcquirerAnswer? { get }
  /// Whether it is counted: what says nothing of an operation is not.
  var isCounted: Bool { get }
}

extension Acquirer {
  /// The acquirer, which reports every answer to the observer and makes a span of each question. What an inquiry finds is
  /// an answer too.
  package func observed(
    on scheduler: Scheduler = .system, by note: @escaping @Sendable (ObservedAnswer) -> Void
  ) -> Acquirer {
    let route = capabilities.route
    func observing<Request: AmountRequest, Answer: ObservableAnswer>(
      _ verb: AcquirerVerb, _ ask: @escaping Verb<Request, Answer>
    ) -> Verb<Request, Answer> {
      { request, deadline in
        let begin = scheduler.uptime()
        let answer = await trace(
          .ask, .operation(verb), .acquirer(route), learning: { [.answer($0.label)] },
          { await ask(request, deadline) })
        guard answer.isCounted else { return answer }
        note(
          ObservedAnswer(
            verb: verb, label: answer.label, answer: answer.moved, duration: scheduler.uptime() - begin,
            amount: request.amount, network: (request as? AuthorizationRequest)?.network))
        return answer
      }
    }
    var observed = self
    observed.prepare = prepare.map { observing(.prepare, $0) }
    observed.authorize = observing(.authorize, authorize)
    observed.capture = observing(.capture, capture)
    observed.void = observing(.void, void)
    observed.refund = observing(.refund, refund)
    observed.increment = increment.map { observing(.increment, $0) }
    observed.inquire = observing(.inquire, inquire)
    observed.reverse = observing(.reverse, reverse)
    return observed
  }
}

extension AcquirerAnswer: ObservableAnswer {
  /// One word for metrics: `approved`, `approved_for_less`, `declined` for good, `retriable`, `configuration`,
  /// `pending`, `unknown`, `not_sent`.
  package var label: String {
    switch self {
    case .approved(let approval): approval.approvedAmount == nil ? "approved" : "approved_for_less"
    case .declined(let decline): decline.label
    case .pending: "pending"
    case .unknown: "unknown"
    case .notSent: "not_sent"
    }
  }

  fileprivate var moved: AcquirerAnswer? { self }
  fileprivate var isCounted: Bool { true }
}

extension Decline {
  fileprivate var label: String { declineClass == .final ? "declined" : declineClass.rawValue }
}

extension Preparation: ObservableAnswer {
  fileprivate var label: String {
    switch self {
    case .ready: "approved"
    case .declined(let decline): decline.label
    case .failed: "unknown"
    }
  }

  fileprivate var moved: AcquirerAnswer? { nil }
  fileprivate var isCounted: Bool { true }
}

extension Inquiry: ObservableAnswer {
  fileprivate var label: String {
    switch self {
    case .answer(let answer): answer.label
    case .notFound: "not_found"
    case .unavailable: "unavailable"
    }
  }

  fileprivate var moved: AcquirerAnswer? { if case .answer(let answer) = self { answer } else { nil } }
  fileprivate var isCounted: Bool { moved != nil }
}

extension Reversal: ObservableAnswer {
  fileprivate var label: String {
    switch self {
    case .reversed: "approved"
    case .accepted: "pending"
    case .nothingFound: "not_found"
    case .refused: "declined"
    case .unavailable: "unknown"
    }
  }

  fileprivate var moved: AcquirerAnswer? { nil }
  fileprivate var isCounted: Bool { true }
}
