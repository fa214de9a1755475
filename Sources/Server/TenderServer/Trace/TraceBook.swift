import ApplePayToken
import Synchronization
import Telemetry
import TenderPayments

/// The calls about the newest baskets of a simulated server, in memory alone, as their spans tell them: for the demo's page
/// and the office.
final class TraceBook: Sendable {
  /// The end of the addresses that show a trace, which is no part of it.
  static let address = "/trace"

  private struct State {
    /// The parts of calls that are not over, or are about no basket, by the span above.
    var parts = NewestOnly<String, [FinishedSpan]>(most: 1_000)
    var calls = NewestOnly<String, FinishedSpan>(most: 1_000)
    var traces = NewestOnly<BasketID, PaymentTrace>(most: 200)
    var tokens = NewestOnly<BasketID, SpentToken>(most: 200)
  }

  private let state = Mutex(State())

  /// Takes a span that has ended. A part ends before the whole.
  func add(_ span: FinishedSpan) {
    state.withLock { state in
      if span.isLocalRoot { state.calls[span.context.span] = span }
      if let parent = span.parent { state.parts[parent] = (state.parts[parent] ?? []) + [span] }
    }
  }

  /// The call has ended. What is about no basket is left out.
  func note(_ activity: Activity) {
    guard let basket = activity.basket, let id = activity.context?.span else { return }
    state.withLock { state in
      guard let call = state.calls[id], !call.name.hasSuffix(Self.address) else { return }
      var trace = state.traces[basket] ?? PaymentTrace()
      trace.add(PaymentTrace.Call(call: call, parts: state.parts[id] ?? []))
      state.traces[basket] = trace
    }
  }

  /// The payment was made with this payment token. It is opened when a page asks, not while the shopper waits.
  func keep(_ token: SpentToken, of basket: BasketID) { state.withLock { $0.tokens[basket] = token } }

  subscript(_ basket: BasketID) -> (trace: PaymentTrace, token: SpentToken?)? {
    state.withLock { state in state.traces[basket].map { ($0, state.tokens[basket]) } }
  }

  /// The newest basket first.
  var newest: [(basket: BasketID, trace: PaymentTrace)] {
    state.withLock(\.traces.newest).map { (basket: $0.key, trace: $0.value) }
  }
}

/// A payment token that was paid with.
struct SpentToken: Sendable {
  let token: EncryptedPaymentToken
  let merchant: MerchantID
  let arrived: Timestamp
}

/// The calls about one basket, as they began.
struct PaymentTrace: Sendable {
  /// Beyond this many, the second-oldest call is removed; the first is kept.
  static let mostCalls = 60

  private(set) var calls: [Call] = []

  struct Call: Sendable {
    let call: FinishedSpan
    /// In the order of time.
    let parts: [FinishedSpan]

    init(call: FinishedSpan, parts: [FinishedSpan]) {
      self.call = call
      self.parts = parts.filter { $0.name != SpanName.deliver.rawValue }.sorted { $0.start < $1.start }
    }

    /// What it is about, where its name does not show it: `shippingMethodSelection`.
    var moment: String? { if case .text(let word)? = call[.moment] { word } else { nil } }
    /// The HTTP status of the answer.
    var status: Int64 { if case .number(let status)? = call[.status] { status } else { 0 } }
  }

  /// A call is added when it is answered, which may be after later ones.
  mutating func add(_ call: Call) {
    calls.insert(call, at: calls.firstIndex { $0.call.start > call.call.start } ?? calls.endIndex)
    if calls.count > Self.mostCalls { calls.remove(at: 1) }
  }

  /// From which every other time counts.
  var start: Timestamp { calls.first?.call.start ?? Timestamp(seconds: 0) }
}

extension FinishedSpan {
  /// What was done: the span's name, and what a provider was asked for.
  var step: String {
    if case .text(let operation)? = self[.operation] { "\(name) \(operation)" } else { name }
  }

  var answer: String? { if case .text(let word)? = self[.answer] { word } else { nil } }
}

/// A limited number of values by key: a new one replaces the oldest.
package struct NewestOnly<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let most: Int
  private var values: [Key: Value] = [:]
  /// The oldest first.
  private var order: [Key] = []

  package init(most: Int) { self.most = most }

  package var count: Int { values.count }

  package var newest: [(key: Key, value: Value)] {
    order.reversed().compactMap { key in values[key].map { (key: key, value: $0) } }
  }

  package subscript(_ key: Key) -> Value? {
    get { values[key] }
    set {
      guard let newValue else { return }
      if values.updateValue(newValue, forKey: key) == nil { order.append(key) }
      if order.count > most { values[order.removeFirst()] = nil }
    }
  }
}
