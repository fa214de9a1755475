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
  /// Holds money.
  package var authorize: Verb<AuthorizationRequest, AcquirerAnswer>
  /// Takes held money, all or a part.
  package var capture: Verb<FollowUpRequest, AcquirerAnswer>
  /// Releases what is held and not taken.
  package var void: Verb<FollowUpRequest, AcquirerAnswer>
  /// Gives back taken money, all or a part.
  package var refund: Verb<FollowUpRequest, AcquirerAnswer>
  /// Asks what became of an operation. Changes nothing.
  package var inquire: Verb<InquiryRequest, Inquiry>
  /// Undoes an authorization whose answer never came, whether or not it ever arrived.
  package var reverse: Verb<InquiryRequest, Reversal>
  /// Reads an event that the acquirer sends: authentic? understood? Its contents are not believed yet.
  package var readEvent: EventReader

  package typealias EventReader = @Sendable (_ event: InboundEvent) throws(EventRefusal) -> AcquirerEvent

  package init(
    capabilities: AcquirerCapabilities,
    authorize: @escaping Verb<AuthorizationRequest, AcquirerAnswer>,
    capture: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    void: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    refund: @escaping Verb<FollowUpRequest, AcquirerAnswer>,
    inquire: @escaping Verb<InquiryRequest, Inquiry>,
    reverse: @escaping Verb<InquiryRequest, Reversal>,
    readEvent: @escaping EventReader = { _ throws(EventRefusal) in throw .notExpected }
  ) {
    self.capabilities = capabilities
    self.authorize = authorize
    self.capture = capture
    self.void = void
    self.refund = refund
    self.inquire = inquire
    self.reverse = reverse
    self.readEvent = readEvent
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

/// What a reversal achieved.
package enum Reversal: Sendable, Hashable {
  case reversed
  /// There was nothing to undo, which is as good.
  case nothingFound
  /// The acquirer will not: the operation has gone too far.
  case refused(code: String)
  case unavailable(Interruption)
}
