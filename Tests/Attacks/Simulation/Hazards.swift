import Gateway
import Ledger
import Storage
import TenderPayments
import Webhooks

/// What can go wrong in a seed beside the wire, the deaths of the process and the merchant's server.
enum Hazard: String, CaseIterable {
  /// The acquirer refuses everything with 401 until the credentials are corrected.
  case credentialsRefused = "credentials refused"
  /// The contract at the acquirer does not allow captures, for good.
  case capturesRefused = "captures refused"
  /// It allows nothing that follows an authorization while the faults last; at Worldline Direct until an operator has
  /// corrected it many days later.
  case followUpsRefused = "follow-ups refused"
  /// The acquirer approves an authorization for half of its amount.
  case approvedForLess = "approved for less"
  /// The acquirer declines a capture, a void or a refund with a code that means *try again*.
  case declinedForNow = "declined for now"
  /// A request arrives after the settle horizon.
  case afterHorizon = "arrived after the horizon"
  /// The acquirer approves what it declined before.
  case reconsidered
  /// The process starts again with another acquirer configured.
  case connectorChanged = "connector changed"
  /// The store refuses writes, and has space again later.
  case diskFull = "disk full"
  /// The clock is set days ahead, or back.
  case clockStepped = "clock stepped"
  /// The merchant moves its webhook server to another URL.
  case urlChanged = "webhook URL changed"
  /// A webhook is given up, and an operator sends it again.
  case deadLetter = "dead letter"
  /// A second process works on the same store.
  case secondProcess = "second process"
  /// Events are lost for good.
  case eventsLost = "events lost"
  /// Another acquirer sends an event about an operation that is not its own.
  case foreignEvent = "event of another route"
  /// A person moves money in the acquirer's dashboard, or the acquirer does.
  case movedElsewhere = "moved elsewhere"
}

/// The hazards of one seed, decided at its beginning.
struct Hazards {
  private let chosen: Set<Hazard>

  /// - Parameter bearsJumps: whether late requests do no harm at the banks of the seed.
  init(_ choices: Choices, bearsJumps: Bool) {
    var chosen = Set(Hazard.allCases.filter { choices.chance($0 == .clockStepped ? 400 : 150) })
    // An acquirer that neither repeats its answers nor remembers reversals needs a clock that is right.
    if !bearsJumps { chosen.remove(.clockStepped) }
    self.chosen = chosen
  }

  func includes(_ hazard: Hazard) -> Bool { chosen.contains(hazard) }
}

extension SimulatedWorld {
  func met(_ hazard: Hazard) { coverage.hazards[hazard.rawValue, default: 0] += 1 }

  /// Plans what is to go wrong while the faults last.
  func planHazards() {
    if hazards.includes(.credentialsRefused) { refuseCredentials() }
    if hazards.includes(.capturesRefused) { refuse(["capture"], .capturesRefused) }
    if hazards.includes(.followUpsRefused) { refuseFollowUps() }
    if hazards.includes(.connectorChanged) { plan(2, "another acquirer is configured") { self.changeConnector() } }
    if hazards.includes(.diskFull) { plan(4, "the disk is full") { self.fillDisk() } }
    if hazards.includes(.clockStepped) { plan(2, "the clock is set") { self.stepClock() } }
    if hazards.includes(.urlChanged) { plan(3, "the merchant's server moves") { self.moveSink() } }
    if hazards.includes(.movedElsewhere) { plan(6, "a person works at the acquirer") { self.moveElsewhere() } }
    if hazards.includes(.secondProcess) { plan(3, "a second process starts") { self.startSecond() } }
    if nodes != nil { planPauses() }
  }

  func plan(_ most: Int, _ name: String, _ action: @escaping () -> Void) {
    for _ in 0...thread.choices.pick(most) {
      thread.after(thread.choices.milliseconds(1_000...350_000), name) { if self.faults { action() } }
    }
  }

  private func refuseCredentials() {
    let begin = thread.choices.milliseconds(1_000...120_000)
    let end = begin + thread.choices.milliseconds(5_000...200_000)
    let all: Set<String> = ["authorize", "capture", "void", "refund", "inquire", "reverse"]
    thread.after(begin, "the credentials are wrong") { self.refuse(all, .credentialsRefused) }
    thread.after(end, "the credentials are corrected") { self.correct() }
  }

  /// From the beginning, or when some were done already and their answers may be lost.
  private func refuseFollowUps() {
    let begin = thread.choices.chance(500) ? .zero : thread.choices.milliseconds(1_000...200_000)
    thread.after(begin, "follow-ups are not allowed any more") {
      guard self.faults else { return }
      self.areFollowUpsRefused = true
      self.refuse(["capture", "void", "refund"], .followUpsRefused)
    }
  }

  private func refuse(_ verbs: Set<String>, _ hazard: Hazard) {
    for acquirer in acquirers { acquirer.bank.refuse(verbs) { self.met(hazard) } }
  }

  /// The account at the acquirer is as it should be again, apart from what the contract never allowed.
  func correct() {
    let kept: Set<String> = hazards.includes(.capturesRefused) ? ["capture"] : []
    for acquirer in acquirers { acquirer.bank.refuse(kept) { self.met(.capturesRefused) } }
    if areFollowUpsRefused, faults || outlastsKeys { refuse(["capture", "void", "refund"], .followUpsRefused) }
  }

  /// Whether it takes days until an operator has the account corrected: then keys are forgotten.
  var outlastsKeys: Bool { acquirers.contains { $0.profile.conduct == .worldlineDirect } }

  private func changeConnector() {
    guard !isClockBehind else { return }
    met(.connectorChanged)
    restart(with: 1 - configured)
  }

  private func fillDisk() {
    isDiskFull = true
    thread.after(thread.choices.milliseconds(200...25_000), "the disk has space") { self.isDiskFull = false }
  }

  /// Eight days and more are longer than a hold or a key lasts.
  private func stepClock() {
    guard thread.offset == .zero else { return }
    met(.clockStepped)
    set(clock: .seconds(86_400 * [3, 8, 30, -2, -9][thread.choices.pick(5)]))
    thread.after(thread.choices.milliseconds(5_000...150_000), "the clock is right again") { [self] in
      // A key that began while the clock was behind ends so much earlier.
      noteOutlivedKeys(within: .zero - thread.offset)
      set(clock: .zero)
    }
  }

  private func moveSink() {
    met(.urlChanged)
    sink.move()
  }
}
