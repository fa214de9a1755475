package import TenderPayments

/// What an acquirer can be asked, as functions: a connector fills them in, a test answers in its place.
///
/// A decorator copies the value and replaces the functions that it changes; the copy keeps all others.
///
/// None of them throws. Whatever happens on the wire is an answer, because all of it means something to money: see
/// `AcquirerAnswer`. None of them asks twice; a caller who wants to know more inquires. And none of them sends anything
/// when no time is left: by then the operation may be in other hands.
package struct Acquirer: Sendable {
  package typealias Verb<Request, Answer> = @Sendable (_ request: Request, _ deadline: Deadline) async -> Answer

  package var capabilities: AcquirerCapabilities
  /// The first step of a provider that authorizes in two: gives the instrument to the provider. It moves no money,
  /// whatever comes of it. Asked for ``AcquirerCapabilities/preparedInstruments`` only.
  package var prepare: Verb<AuthorizationRequest, Preparation>?
  /// Holds money.
  package var authorize: Verb<AuthorizationRequest, AcquirerAnswer>
  /// Takes held money, all or a part.
  package var capture: Verb<FollowUpRequest, AcquirerAnswer>
  /// Releases what is held and not taken.
  package var void: Verb<FollowUpRequest, AcquirerAnswer>
  /// Gives back taken money, all or a part.
  package var refund: Verb<FollowUpRequest, AcquirerAnswer>
  /// Raises what is held by an amount. Nil where the acquirer cannot; then it does not state the part.
  package var increment: Verb<FollowUpRequest, AcquirerAnswer>?
  /// Asks what became of an operation. Changes nothing.
  package var inquire: Verb<InquiryRequest, Inquiry>
  /// Undoes an authorization whose answer never came, whether or not it ever arrived.
  package var reverse: Verb<InquiryRequest, Reversal>
  /// Reads a call that the acquirer makes by itself: authentic? understood? Its contents are not believed yet.
  package var readEvents: EventReader
  /// Answers the question by which a provider checks the address of the inbox, from the query of its GET request; nil
  /// for a query that is not such a question.
  package var answerChallenge: @Sendable (_ query: String) -> Acknowledgement?
  /// Asks something that moves nothing and needs valid credentials.
  package var checkCredentials: @Sendable (_ deadline: Deadline) async -> CredentialCheck

  /// Lists what the provider did in a period. Nil where a person downloads its report.
  package var report: AcquirerReport.Source?

  package typealias EventReader = @Sendable (_ event: InboundEvent) throws(EventRefusal) -> EventBatch

  package init(
    capabilities: AcquirerCapabilities,
    prepare: Verb<AuthorizationRequest, Preparation>? = nil,
    authorize: @escaping Verb<AuthorizationRequest, AcquirerAnswer>,
    capture: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    void: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    refund: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    increment: Verb<FollowUpRequest, AcquirerAnswer>? = nil,
    inquire: @escaping Verb<InquiryRequest, Inquiry>,
    reverse: @escaping Verb<InquiryRequest, Reversal>,
    readEvents: @escaping EventReader = { _ throws(EventRefusal) in throw .notExpected },
    answerChallenge: @escaping @Sendable (_ query: String) -> Acknowledgement? = { _ in nil },
    checkCredentials: @escaping @Sendable (_ deadline: Deadline) async -> CredentialCheck = { _ in .notOffered },
    report: AcquirerReport.Source? = nil
  ) {
    self.capabilities = capabilities
    self.prepare = prepare
    self.authorize = authorize
    self.capture = capture
    self.void = void
    self.refund = refund
    self.increment = increment
    self.inquire = inquire
    self.reverse = reverse
    self.readEvents = readEvents
    self.answerChallenge = answerChallenge
    self.checkCredentials = checkCredentials
    self.report = report
  }
}

extension AcquirerAnswer {
  /// The answer of a connector that does not send a request, because its acquirer cannot take it as it is. It is the same
  /// for every repeat until the operator corrects something, so it is not ``notSent(_:)``.
  ///
  /// - Parameter code: for the operator.
  package static func notTaken(_ code: String) -> AcquirerAnswer {
    .declined(Decline(reason: .configuration, code: code))
  }
}

/// What an inquiry found.
package enum Inquiry: Sendable, Hashable {
  /// The acquirer's answer to the operation, as it should have come the first time.
  case answer(AcquirerAnswer)
  /// The acquirer does not know the operation. It may still be on its way until the settle horizon has passed.
  case notFound
  /// The acquirer could not be asked, or its answer made no sense. Ask again later.
  case unavailable(Interruption)
}

/// What the first of two steps came to.
package enum Preparation: Sendable, Hashable {
  /// The provider has the instrument under this name, for the second step.
  case ready(String)
  case declined(Decline)
  /// No answer, or none that makes sense. No money can have moved.
  case failed(Interruption)
}

/// Whether the provider accepts our credentials.
package enum CredentialCheck: Sendable, Hashable {
  case accepted
  /// For the operator: which of them, and why.
  case refused(String)
  case unavailable(Interruption)
  /// The connector has no call for it.
  case notOffered
}

/// What a reversal achieved.
package enum Reversal: Sendable, Hashable {
  case reversed
  /// The provider has taken the request; its event tells the result. The name is the provider's, of the reversal.
  case accepted(acquirerReference: String)
  /// There was nothing to undo, which is as good.
  case nothingFound
  /// The acquirer will not: the operation has gone too far.
  case refused(code: String)
  case unavailable(Interruption)
}
