import Acquiring
import Auditing
import TenderPayments

/// The acquirer of a simulation, with a ledger of its own: written from the outside of the wire, and knowing nothing of
/// Tender's.
final class SimulatedBank {
  /// How an authorization will come out.
  enum Verdict: Sendable, Hashable {
    case approve, decline, later(approves: Bool)
    /// With a reason after which a scheme allows no other try.
    case declineForGood

    var approves: Bool { self == .approve || self == .later(approves: true) }
    var isLater: Bool { if case .later = self { true } else { false } }
  }

  private struct Hold {
    var hold: AcquirerHold
    var name: String
    var isPending: Bool
    var isUndone = false
    /// Whether a void let go of all of it.
    var wasVoided = false
    /// Whether its shopper disputed what was captured: a bank does not say afterwards that it was never captured.
    var isDisputed = false
    /// What is approved, when the bank approves; as a rule the whole amount.
    let part: Int64

    mutating func approve() { (hold.wasApproved, hold.authorized, isPending) = (true, part, false) }

    /// What the bank says of it.
    func approval(code: String? = nil) -> AcquirerAnswer {
      let amount = Currency(code: hold.currency).map { Amount(minorUnits: part, currency: $0) }
      return .approved(
        Approval(
          acquirerReference: name, authorizationCode: code, approvedAmount: part == hold.amount ? nil : amount))
    }
  }

  private struct Answer {
    var answer: AcquirerAnswer
    let contents: String
  }

  /// By our reference of the authorization.
  private var holds: [String: Hold] = [:]
  private var names: [String: String] = [:]
  private var answers: [String: Answer] = [:]
  /// Captures and refunds that it has accepted and not decided, by our reference.
  private var undecided: [String: (kind: String, request: FollowUpRequest)] = [:]
  var isDeciding: Bool { !undecided.isEmpty }
  /// What it has declined after it had accepted it.
  private var rejected: [String: (kind: String, request: FollowUpRequest)] = [:]
  /// References that it does not know again.
  private var forgotten: Set<String> = []
  private var reversed: Set<String> = []
  /// What an operation let go of its hold, in minor units.
  private var released: [String: Int64] = [:]
  /// By authorization, the final capture that stands.
  private var closing: [String: String] = [:]
  private var tokens: Set<String> = []
  private var count = 0
  /// Verbs that are refused because of our account, and what is to be done when one is.
  private var refused: (verbs: Set<String>, met: () -> Void) = ([], {})
  /// How many requests were refused because of our account.
  private(set) var refusals = 0
  let repeatsAnswers: Bool
  let remembersReversals: Bool
  /// Whether it takes a payment token once. One that does not is why the gateway must.
  let refusesUsedTokens: Bool
  let conduct: BankProfile.Conduct
  /// What it calls sealed payment tokens that were given to it in a first step.
  private var instruments: [String: String] = [:]
  /// By its name of a capture, what was taken and what of it was given back.
  private var captures: [String: (taken: Int64, returned: Int64)] = [:]
  /// Which capture a refund of ours gave back.
  private var returning: [String: String] = [:]
  /// Cancels by our reference that it has accepted and not decided, by its own name.
  private var cancels: [String: String] = [:]

  init(
    repeatsAnswers: Bool, remembersReversals: Bool, refusesUsedTokens: Bool = true,
    conduct: BankProfile.Conduct = .sandbox
  ) {
    (self.repeatsAnswers, self.remembersReversals) = (repeatsAnswers, remembersReversals)
    (self.refusesUsedTokens, self.conduct) = (refusesUsedTokens, conduct)
  }

  func refuse(_ verbs: Set<String>, met: @escaping () -> Void) { refused = (verbs, met) }

  /// Whether our account may not do this at the moment. Nothing is kept of such a request.
  func isRefused(_ verb: String) -> Bool {
    guard refused.verbs.contains(verb) else { return false }
    refusals += 1
    refused.met()
    return true
  }

  /// Whether the acquirer has answered an operation under this reference.
  func isAnswered(_ reference: String) -> Bool { answers[reference] != nil }

  /// What the acquirer knew of an operation is gone: its idempotency window has ended. Its ledger stays.
  func forgetAnswer(_ reference: String) { forgotten.insert(reference) }

  var evidence: [AcquirerHold] { holds.values.map(\.hold).sorted { $0.reference < $1.reference } }

  /// - Parameter isForLess: whether an approval is for half of the amount.
  func authorize(_ request: AuthorizationRequest, _ verdict: Verdict, isForLess: Bool = false) -> AcquirerAnswer {
    let isForgotten = conduct == .braintree || forgotten.contains(request.reference.rawValue)
    guard isForgotten, answers[request.reference.rawValue] != nil else {
      return authorize(request, request.reference.rawValue, verdict, isForLess)
    }
    // Without an idempotency key it is another transaction, with the same reference.
    return authorize(request, "\(request.reference) again", verdict, isForLess)
  }

  private func authorize(
    _ request: AuthorizationRequest, _ reference: String, _ verdict: Verdict, _ isForLess: Bool
  ) -> AcquirerAnswer {
    if let known = answers[reference] { return known.answer }
    guard !reversed.contains(reference) else { return keep(.declined(Self.refusal("12")), reference) }
    if case .stored(let credential) = request.instrument {
      guard names[credential.firstPayment].flatMap({ holds[$0] })?.hold.wasApproved == true else {
        return keep(.declined(Self.refusal("14")), reference)
      }
    }
    let token = Self.fingerprint(request)
    guard tokens.insert(token).inserted || !refusesUsedTokens else {
      return keep(.declined(Self.refusal("05")), reference)
    }
    let name = newName()
    names[name] = reference
    var hold = Hold(
      hold: AcquirerHold(
        reference: reference, order: request.merchantReference, token: token, amount: request.amount.minorUnits,
        currency: request.amount.currency.code, wasApproved: false, authorized: 0, captured: 0, refunded: 0,
        isForLess: isForLess), name: name, isPending: verdict.isLater,
      part: isForLess ? request.amount.minorUnits / 2 : request.amount.minorUnits)
    if verdict == .approve { hold.approve() }
    holds[reference] = hold
    switch verdict {
    case .approve: return keep(hold.approval(code: "A1B2C3"), reference)
    case .decline: return keep(.declined(Self.refusal("51")), reference)
    case .declineForGood: return keep(.declined(Decline(reason: .lostOrStolen, code: "43")), reference)
    case .later: return keep(.pending(Pending(acquirerReference: name)), reference)
    }
  }

  /// Ends the waiting; nil when it does not wait any more.
  func decide(_ reference: String, approves: Bool) -> AcquirerAnswer? {
    guard var hold = holds[reference], hold.isPending, !hold.isUndone else { return nil }
    if approves { hold.approve() } else { hold.isPending = false }
    holds[reference] = hold
    return keep(approves ? hold.approval() : .declined(Self.refusal("05")), reference)
  }

  func name(of reference: String) -> String? { holds[reference]?.name }

  /// Our reference of the authorization that it calls so.
  func reference(of name: String) -> String? { names[name] }

  /// The first of two steps: keeps the payment token, and gives it a name. Moves nothing.
  func prepare(_ request: AuthorizationRequest) -> String {
    let name = newName()
    instruments[name] = Self.fingerprint(request)
    return name
  }

  /// Whether the request names the payment token that the first step gave to the bank.
  func hasInstrument(of request: AuthorizationRequest) -> Bool {
    request.prepared.flatMap { instruments[$0] } == Self.fingerprint(request)
  }

  /// - Parameter later: whether it is only accepted now.
  func followUp(_ kind: String, _ request: FollowUpRequest, later: Bool = false) -> AcquirerAnswer {
    let reference = request.reference.rawValue
    let contents = Self.contents(kind, request)
    if let known = answers[reference], repeatsAnswers, !forgotten.contains(reference) {
      guard known.contents == contents else { return .declined(Self.refusal("94")) }
      // What was accepted is accepted again; only the event tells the result.
      return accepting[reference].map { .pending(Pending(acquirerReference: $0)) } ?? known.answer
    }
    if later {
      undecided[reference] = (kind, request)
      let name = newName()
      if conduct.keepsFirstAnswer { accepting[reference] = name }
      return keep(.pending(Pending(acquirerReference: name)), reference, contents)
    }
    return post(kind, request, contents)
  }

  /// What an operation of ours is called that was accepted at first; the connector keeps the name.
  private var accepting: [String: String] = [:]

  /// What it calls an operation of ours.
  func operationName(of reference: String) -> String? {
    if let name = accepting[reference] ?? holds[reference]?.name { return name }
    guard case .approved(let approval)? = answers[reference]?.answer else { return nil }
    return approval.acquirerReference
  }

  /// What it decided about an operation of ours, which may never have arrived; nil while it has not decided.
  func decision(on reference: String) -> (isDone: Bool, answer: AcquirerAnswer?)? {
    guard undecided[reference] == nil else { return nil }
    let answer = answers[reference]?.answer
    if case .approved = answer { return (true, answer) }
    return (false, answer)
  }

  /// Ends the waiting of a capture or refund; nil when it does not wait any more.
  func decide(followUp reference: String, approves: Bool) -> AcquirerAnswer? {
    guard let (kind, request) = undecided.removeValue(forKey: reference) else { return nil }
    let contents = answers[reference]?.contents ?? ""
    guard !approves else { return post(kind, request, contents) }
    rejected[reference] = (kind, request)
    names[request.authorization].map(close)
    return keep(.declined(Self.refusal("05")), reference, contents)
  }

  /// Declines an operation with a code that means *try again*, as another one.
  func declineForNow(_ kind: String, _ request: FollowUpRequest) -> AcquirerAnswer {
    let answer = AcquirerAnswer.declined(Decline(reason: .issuerUnavailable, code: "91"))
    // A refusal is forgotten with its key.
    guard conduct.failure != .forgotten else { return answer }
    return keep(answer, request.reference.rawValue, Self.contents(kind, request))
  }

  /// What the acquirer answers to a key for which it remembers an error.
  private var failures: Set<String> = []

  /// A request was done, and answered with an error.
  func fail(_ reference: String) {
    switch conduct.failure {
    case .remembered: failures.insert(reference)
    case .forgotten: forgotten.insert(reference)
    case .found: break
    }
  }

  /// The error is remembered as long as the key.
  func isFailed(_ reference: String) -> Bool { failures.contains(reference) && !forgotten.contains(reference) }

  /// Whether a repeat of something gets an error for now, whatever became of it.
  var remembersErrors: Bool { !failures.subtracting(forgotten).isEmpty }

  /// Does what it declined before; nil when it cannot any more.
  func reconsider(_ reference: String) -> AcquirerAnswer? {
    guard let (kind, request) = rejected.removeValue(forKey: reference), let known = answers[reference] else {
      return nil
    }
    let answer = post(kind, request, known.contents)
    if case .approved = answer { return answer }
    answers[reference] = known
    return nil
  }

  private static func contents(_ kind: String, _ request: FollowUpRequest) -> String {
    "\(kind) \(request.authorization) \(request.amount) \(request.isFinal)"
  }

  private func post(_ kind: String, _ request: FollowUpRequest, _ contents: String) -> AcquirerAnswer {
    let reference = request.reference.rawValue
    guard let target = names[request.authorization], var hold = holds[target] else {
      return keep(.declined(Self.refusal("25")), reference, contents)
    }
    let before = hold.hold.authorized
    guard hold.hold.wasApproved, !hold.isUndone, hold.hold.currency == request.amount.currency.code,
      kind != "refund" || takesFromOneCapture(request),
      Self.post(kind, request.amount.minorUnits, request.isFinal, accepted(request.authorization), &hold.hold)
    else {
      let isOver = kind != "refund" && (hold.isUndone || hold.hold.authorized == hold.hold.captured)
      return keep(.declined(isOver ? Self.holdIsOver : Self.refusal("13")), reference, contents)
    }
    released[reference] = before - hold.hold.authorized
    if kind == "capture", request.isFinal { closing[target] = reference }
    hold.wasVoided = kind == "void" && hold.hold.authorized == 0
    holds[target] = hold
    let name = accepting[reference] ?? name(of: kind, request, part: hold.part)
    if kind == "capture" { captures[name] = (request.amount.minorUnits, 0) }
    if kind == "refund", let capture = request.capture {
      captures[capture]?.returned += request.amount.minorUnits
      returning[reference] = capture
    }
    return keep(.approved(Approval(acquirerReference: name)), reference, contents)
  }

  /// A capture of all, and a void, are changes of the authorization itself where the bank works so.
  private func name(of kind: String, _ request: FollowUpRequest, part: Int64) -> String {
    let isSame = kind == "void" || kind == "capture" && request.isWhole
    return conduct == .braintree && isSame ? request.authorization : newName()
  }

  /// Whether the capture that a refund names has so much left; other banks do not look.
  private func takesFromOneCapture(_ request: FollowUpRequest) -> Bool {
    guard conduct == .braintree else { return true }
    guard let capture = request.capture.flatMap({ captures[$0] }) else { return false }
    return request.amount.minorUnits <= capture.taken - capture.returned
  }

  /// - Parameter accepted: what other captures will take that were accepted and not decided.
  private static func post(
    _ kind: String, _ amount: Int64, _ isFinal: Bool, _ accepted: Int64, _ hold: inout AcquirerHold
  ) -> Bool {
    switch kind {
    case "capture":
      guard amount <= hold.authorized - hold.captured else { return false }
      hold.captured += amount
      if isFinal { hold.authorized = hold.captured + accepted }
    case "void":
      guard amount <= hold.authorized - hold.captured else { return false }
      hold.authorized -= amount
    case "increment":
      guard hold.authorized > 0 else { return false }
      hold.authorized += amount
      hold.amount += amount
    default:
      guard amount <= hold.captured - hold.refunded else { return false }
      hold.refunded += amount
    }
    return true
  }

  /// Whether a void lets go of all that is held, or of a hold that has ended.
  func isWhole(_ request: FollowUpRequest) -> Bool {
    guard let hold = names[request.authorization].flatMap({ holds[$0] })?.hold, hold.captured == 0 else { return false }
    return hold.authorized <= request.amount.minorUnits
  }

  /// A void has no name of its own where it changes the authorization: then its status is the answer.
  func inquire(_ request: InquiryRequest) -> Inquiry {
    guard conduct.voidsWithoutName, request.kind == .void, let name = request.authorization else {
      return inquire(request.reference.rawValue)
    }
    guard let hold = names[name].flatMap({ holds[$0] }) else { return .notFound }
    // What was never held was not voided, and may still be approved.
    guard hold.hold.wasApproved || hold.isUndone else { return .notFound }
    guard hold.hold.authorized > 0 else {
      return .answer(
        hold.wasVoided ? .approved(Approval(acquirerReference: name)) : .declined(Self.holdIsOver))
    }
    if hold.hold.captured == 0 { return .notFound }
    guard conduct == .stripe else { return .answer(.declined(Self.refusal("submitted_for_settlement"))) }
    return hold.hold.captured < hold.hold.authorized ? .notFound : .answer(.declined(Self.holdIsOver))
  }

  func inquire(_ reference: String) -> Inquiry {
    guard let known = answers[reference] else { return .notFound }
    return .answer(known.answer)
  }

  func reverse(_ reference: String) -> Reversal {
    if remembersReversals { reversed.insert(reference) }
    guard var hold = holds[reference], hold.hold.wasApproved || hold.isPending else { return .nothingFound }
    guard hold.hold.captured == 0 else { return .refused(code: "12") }
    (hold.isUndone, hold.isPending, hold.hold.authorized) = (true, false, 0)
    holds[reference] = hold
    return .reversed
  }

  /// Accepts the cancel of an authorization by our reference, whether or not there is one.
  func acceptCancel(of reference: String) -> String {
    let name = newName()
    cancels[name] = reference
    return name
  }

  /// Decides a cancel: one of what is not authorized changes nothing. Nil when it is decided.
  ///
  /// - Parameter fails: whether the bank cannot do it at the moment.
  func decide(cancel name: String, fails: Bool) -> AcquirerAnswer? {
    guard let reference = cancels.removeValue(forKey: name) else { return nil }
    guard !fails else { return .declined(Decline(reason: .issuerUnavailable, code: "91")) }
    guard var hold = holds[reference], hold.hold.wasApproved, !hold.isUndone else {
      return .declined(Self.refusal("Transaction not found"))
    }
    guard hold.hold.captured == 0 else { return .declined(Self.refusal("Transaction has been captured")) }
    (hold.isUndone, hold.hold.authorized) = (true, 0)
    holds[reference] = hold
    return .approved(Approval(acquirerReference: name))
  }

  /// A person refunds in the bank's dashboard; false when so much is not there.
  func refundByHand(_ reference: String, _ amount: Int64) -> Bool {
    guard var hold = holds[reference], amount > 0, hold.hold.captured - hold.hold.refunded >= amount else {
      return false
    }
    hold.hold.refunded += amount
    holds[reference] = hold
    return true
  }

  /// The shopper disputes what was captured.
  ///
  /// - Returns: whether anything was.
  func dispute(_ reference: String) -> Bool {
    guard let hold = holds[reference]?.hold, hold.captured > 0 else { return false }
    holds[reference]?.isDisputed = true
    return true
  }

  /// A person releases in the bank's dashboard what is held and not captured.
  ///
  /// - Returns: whether anything was held.
  func releaseByHand(_ reference: String) -> Bool {
    guard var hold = holds[reference], hold.hold.captured == 0 else { return false }
    let wasHeld = hold.hold.wasApproved && !hold.isUndone
    (hold.isUndone, hold.isPending, hold.hold.authorized) = (true, false, 0)
    holds[reference] = hold
    return wasHeld
  }

  /// Whether the authorization is known here, in whatever state.
  func knows(_ reference: String) -> Bool { holds[reference] != nil }

  /// Holds come to their end: what was not taken, and not promised to a capture, is the shopper's again.
  ///
  /// - Returns: those of which something was left.
  func expireHolds() -> [AcquirerHold] {
    var ended: [AcquirerHold] = []
    for (reference, hold) in holds.sorted(by: { $0.key < $1.key }) where hold.hold.wasApproved && !hold.isUndone {
      let kept = hold.hold.captured + accepted(hold.name)
      if kept < hold.hold.authorized { ended.append(hold.hold) }
      holds[reference]?.hold.authorized = kept
    }
    return ended
  }

  /// The bank thinks better of a capture, as if it had never been; false when it cannot be taken back.
  func takeBack(capture reference: String, of authorization: String, _ amount: Int64) -> Bool {
    guard var hold = holds[authorization], hold.hold.captured - hold.hold.refunded >= amount, !hold.isDisputed,
      case .approved(let approval)? = answers[reference]?.answer,
      captures[approval.acquirerReference]?.returned == 0
    else { return false }
    captures[approval.acquirerReference] = nil
    hold.hold.captured -= amount
    hold.hold.authorized += released[reference] ?? 0
    holds[authorization] = hold
    if closing[authorization] == reference { closing[authorization] = nil }
    close(authorization)
    answers[reference]?.answer = .declined(Self.refusal("93"))
    return true
  }

  /// After a final capture no money goes back into the hold, until that capture comes back itself.
  private func close(_ authorization: String) {
    guard let final = closing[authorization], var hold = holds[authorization] else { return }
    let kept = min(hold.hold.authorized, hold.hold.captured + accepted(hold.name))
    released[final, default: 0] += hold.hold.authorized - kept
    hold.hold.authorized = kept
    holds[authorization] = hold
  }

  /// The same for a refund: the money is the merchant's again.
  func takeBack(refund reference: String, of authorization: String, _ amount: Int64) -> Bool {
    guard var hold = holds[authorization], hold.hold.refunded >= amount, case .approved? = answers[reference]?.answer
    else { return false }
    hold.hold.refunded -= amount
    if let capture = returning[reference] { captures[capture]?.returned -= amount }
    holds[authorization] = hold
    answers[reference]?.answer = .declined(Self.refusal("93"))
    return true
  }

  /// What an authorization of ours is worth here.
  func hold(of reference: String) -> AcquirerHold? { holds[reference]?.hold }

  private func accepted(_ authorization: String) -> Int64 {
    undecided.values.filter { $0.kind == "capture" && $0.request.authorization == authorization }
      .reduce(0) { $0 + $1.request.amount.minorUnits }
  }

  private func keep(_ answer: AcquirerAnswer, _ reference: String, _ contents: String = "") -> AcquirerAnswer {
    answers[reference] = Answer(answer: answer, contents: contents)
    return answer
  }

  private func newName() -> String {
    count += 1
    return "B\(count)"
  }

  private static let holdIsOver = Decline(reason: .holdEnded, code: "25")

  private static func refusal(_ code: String) -> Decline { Decline(reason: .other, code: code) }

  private static func fingerprint(_ request: AuthorizationRequest) -> String {
    switch request.instrument {
    case .network(let token): "\(token.dpan.lastFour) \(token.cryptogram.revealed)"
    case .sealed(let token): token.use.transactionID
    case .stored: "charge \(request.reference)"
    }
  }
}
