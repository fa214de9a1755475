import Auditing
import Gateway
import Ledger
import TenderPayments

// A merchant whose program uses idempotency keys: it repeats a call until it has the answer for good, and now and then
// once more.

/// What is asked for under a key.
struct KeyedRequest {
  let key: String
  let verb: EngineLife.Verb
  let payment: Payment
  let amount: Int64?

  /// The call that all repeats of it are.
  var call: IdempotentCall {
    IdempotentCall(
      merchant: payment.merchant, call: "\(verb) \(payment.id)", key: IdempotencyKey(key),
      requestHash: amount.map(String.init) ?? "all")
  }

  /// - Parameter reply: nil when it is asked.
  func evidence(_ reply: KeyedCall.Reply? = nil) -> KeyedCall {
    KeyedCall(key: key, payment: payment.id.rawValue, kind: verb.kind, reply: reply)
  }
}

extension Payment {
  /// One merchant in two uses keys, the same one in every process.
  var isKeyed: Bool { id.rawValue.utf8.reduce(0) { $0 &+ Int($1) }.isMultiple(of: 2) }
}

extension SimulatedWorld {
  /// Asks for the first time; a network may send it twice.
  func call(_ request: KeyedRequest) {
    keyedRequests.append(request)
    call(request, tries: 0)
    if thread.choices.chance(200) { call(request, tries: 4) }
  }

  /// A client without a final answer asks a last time when the faults have stopped.
  func callAgain() {
    for request in keyedRequests where !isOver(request.key) { call(request, tries: 7) }
    for request in charges where !isOver(request.key) { charge(request, tries: 7) }
    for purchase in supplies.purchases where purchase.isKeyed {
      for token in purchase.tokens.indices where !isOver(purchase.key(token)) {
        guard evidence.keyed.contains(where: { $0.key == purchase.key(token) }) else { continue }
        create(purchase, token: token, tries: 6)
      }
    }
  }

  /// Keys that have no final answer, and that expire before a time so far ahead: no client may repeat them.
  func noteOutlivedKeys(within time: Duration = .seconds(86_400 * 9)) {
    guard time >= IdempotencyKeys.memory else { return }
    evidence.outlivedKeys.formUnion(Set(evidence.keyed.map(\.key)).filter { !hasAnswer($0) })
  }

  /// Whether the last answer to a key that may be repeated was not for good.
  var hasOpenKeys: Bool {
    Set(evidence.keyed.map(\.key)).contains { key in
      !isOver(key) && evidence.keyed.contains { $0.key == key && $0.reply != nil }
    }
  }

  private func isOver(_ key: String) -> Bool { hasAnswer(key) || evidence.outlivedKeys.contains(key) }

  /// A sale that waits for its capture is answered for good once it is authorized, and open again while it is captured.
  private func hasAnswer(_ key: String) -> Bool {
    evidence.keyed.last { $0.key == key && $0.reply != nil }?.reply?.isFinal == true
  }

  private func call(_ request: KeyedRequest, tries: Int) {
    guard tries < 8, !evidence.outlivedKeys.contains(request.key) else { return }
    guard let engine else { return call(request, after: 1_000...5_000, tries: tries + 1) }
    evidence.keyed.append(request.evidence())
    note(.asked, request.key, request.payment, request.verb)
    var isAnswered = false
    let isLost = faults && thread.choices.chance(80)
    engine.perform(request) { [self] answer in
      guard !isLost else { return }
      isAnswered = true
      thread.note("\(request.key): \(answer)")
      take(answer, to: request, tries: tries)
    }
    thread.after(.seconds(31), "\(request.key) waits no longer") {
      if !isAnswered { self.call(request, after: 100...5_000, tries: tries + 1) }
    }
  }

  private func call(_ request: KeyedRequest, after wait: ClosedRange<Int>, tries: Int) {
    thread.after(thread.choices.milliseconds(wait), "\(request.key) again") { self.call(request, tries: tries) }
  }

  private func take(_ answer: EngineLife.Keyed, to request: KeyedRequest, tries: Int) {
    coverage.keys[answer.kind, default: 0] += 1
    switch answer {
    case .answered(let answer):
      evidence.keyed.append(request.evidence(answer.reply))
      guard answer.isFinal else { return call(request, after: 1_000...30_000, tries: tries + 1) }
      if thread.choices.chance(200) { call(request, after: 1_000...100_000, tries: 7) }
    case .inUse: call(request, after: 500...20_000, tries: tries + 1)
    // The key is free again.
    case .refused(let code):
      note(refusal: code, request.key, request.payment, request.verb)
      if thread.choices.chance(300) { call(request, after: 1_000...60_000, tries: tries + 1) }
    }
  }
}
