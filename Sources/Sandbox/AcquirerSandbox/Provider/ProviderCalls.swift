import HTTPServing
import HTTPTypes
package import Hummingbird
package import Storage
package import StrictJSON
import Synchronization
package import TenderPayments
import TokenIssuer

/// An answer of an emulated provider.
package struct ProviderReply: Sendable {
  package let status: Int
  package let body: [UInt8]
  package let contentType: String
  /// When the first request under its key arrived; nil for the answer to that one.
  package var firstAt: Timestamp?

  package init(_ status: Int, bytes: [UInt8] = [], contentType: String = MediaType.json) {
    (self.status, body, self.contentType) = (status, bytes, contentType)
  }

  package init(_ status: Int, _ body: JSONValue) { self.init(status, bytes: body.serialized()) }

  /// A page of a proxy.
  package static func page(_ status: Int) -> ProviderReply {
    ProviderReply(
      status, bytes: Array("<html><body>Please try again later.</body></html>".utf8), contentType: MediaType.html)
  }

  /// Half of it.
  package var half: ProviderReply {
    ProviderReply(status, bytes: Array(body.prefix(body.count / 2)), contentType: contentType)
  }

  package var response: Response {
    let status = HTTPResponse.Status(code: status)
    return body.isEmpty
      ? Response(status: status) : JSONAnswer.response(bytes: body, status: status, contentType: contentType)
  }
}

/// What a call comes to: how long it takes, and what it does.
package struct ProviderAct: Sendable {
  package var delay: Duration = .zero
  /// Nothing is done, and nothing answered.
  package var isLost = false
  /// It is done, and not answered.
  package var isAnswerLost = false
  package let run: @Sendable (Transaction) throws -> ProviderReply

  package init(run: @escaping @Sendable (Transaction) throws -> ProviderReply) { self.run = run }

  /// - Parameter script: what the card and the amount come to.
  package init(_ script: ScriptedResponse?, run: @escaping @Sendable (Transaction) throws -> ProviderReply) {
    self.run = run
    guard let script else { return }
    delay = script.delay
    isLost = script.outcome == .noAnswer
    isAnswerLost = script.outcome == .noAnswerAfterApproval
  }

  /// Does something else after the delay, or before the answer.
  package func replacing(run: @escaping @Sendable (Transaction) throws -> ProviderReply) -> ProviderAct {
    var act = ProviderAct(run: run)
    (act.delay, act.isLost, act.isAnswerLost) = (delay, isLost, isAnswerLost)
    return act
  }
}

/// The calls to an emulated provider that are being processed, and how it keeps silent.
package final class ProviderCalls: Sendable {
  /// How long a call hangs that gets no answer; longer than any client waits.
  private let silence: Duration
  private let sleep: @Sendable (Duration) async throws -> Void
  private let keys = Mutex<Set<String>>([])

  package init(
    silence: Duration, sleep: @escaping @Sendable (Duration) async throws -> Void = Scheduler.system.sleep
  ) {
    (self.silence, self.sleep) = (silence, sleep)
  }

  /// Waits until the caller has given up.
  package func keepSilent() async throws -> Response {
    try await Task.sleep(for: silence)
    return Response(status: .gatewayTimeout)
  }

  /// Does the act once for each key, and one at a time.
  ///
  /// - Parameter busy: thrown while another call under the key is in progress.
  /// - Returns: nil when the caller gets no answer.
  package func run(
    _ act: ProviderAct, _ request: KeyedRequest, in store: some ProviderStore, busy: any Error
  ) async throws -> ProviderReply? {
    if act.isLost { return nil }
    let name = request.key.map { "\(request.account) \($0)" }
    guard name.map({ name in keys.withLock { $0.insert(name).inserted } }) ?? true else { throw busy }
    defer { if let name { keys.withLock { _ = $0.remove(name) } } }
    if act.delay > .zero { try await sleep(act.delay) }
    let reply = try await store.once(request, act.run)
    return act.isAnswerLost && reply.firstAt == nil ? nil : reply
  }

  /// The answer, as a fault that comes after the act leaves it.
  ///
  /// - Parameters:
  ///   - reply: nil when the caller gets no answer.
  ///   - failed: the provider's own answer when it fails after the act.
  ///   - render: adds the provider's headers.
  package func answer(
    _ reply: ProviderReply?, _ fault: ProviderFault?, failed: ProviderReply,
    render: (ProviderReply) -> Response = { $0.response }
  ) async throws -> Response {
    guard let reply, fault != .answerLost else { return try await keepSilent() }
    switch fault {
    case .failedAfter: return render(failed)
    case .answerGarbled: return ProviderReply.page(reply.status).response
    case .answerTruncated: return render(reply.half)
    case .answerLate: try await Task.sleep(for: .seconds(3))
    default: break
    }
    return render(reply)
  }
}
