/// What can be measured alone: `PART='slow forms' make bench-payments`. They run in this order.
enum Part: String, CaseIterable, Sendable {
  case capacity, immediate, forms, webhooks, slow, overload, burst, standstill, store, hostile, start

  /// - Parameter words: names; all parts where there is none.
  /// - Throws: ``BenchFailure`` for a name that is none.
  static func chosen(_ words: ArraySlice<String>) throws -> [Part] {
    for word in words where Part(rawValue: word) == nil {
      let names = allCases.map(\.rawValue).joined(separator: ", ")
      throw BenchFailure("there is no part “\(word)”; the parts are: \(names)")
    }
    return words.isEmpty ? allCases : allCases.filter { words.contains($0.rawValue) }
  }

  /// Whether it runs at a share of the highest rate, or is compared with it.
  var needsHighestRate: Bool {
    switch self {
    case .standstill, .hostile, .start: false
    default: true
    }
  }

  /// - Parameter most: there for every part that needs it.
  func measure(_ suite: Suite, _ most: HighestRate.Run?) async throws {
    switch (self, most) {
    case (.capacity, let most?): try await Capacity(suite: suite, most: most).measure()
    case (.immediate, let most?): try await CapturedAtOnce(suite: suite, most: most).measure()
    case (.forms, let most?): try await RateForms(suite: suite, plain: most).measure()
    case (.webhooks, let most?): try await WebhookRates(suite: suite, most: most).measure()
    case (.slow, let most?): try await SlowAcquirer(suite: suite, most: most).measure()
    case (.overload, let most?): try await Overload(suite: suite, most: most.rate).measure()
    case (.burst, let most?): try await Burst(suite: suite, most: most.rate).measure()
    case (.store, let most?) where suite.filling > 0:
      try await FullStore(suite: suite, most: most.rate).compare()
    case (.standstill, _): try await suite.checkGenerator()
    case (.hostile, _): try await CostOfRequests(suite: suite).measure()
    case (.start, _): try await ServerStart(suite: suite).measure()
    default: break
    }
  }
}
