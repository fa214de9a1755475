/// Lets one test after the other use what all of them share.
actor Turn {
  /// The folder of the system's merchants: a server that starts while a test has broken it would refuse it.
  static let ofMerchantsFolder = Turn()

  private var isTaken = false
  private var waiting: [CheckedContinuation<Void, Never>] = []

  func take<R: Sendable>(_ body: @Sendable () async throws -> R) async throws -> R {
    await begin()
    defer { end() }
    return try await body()
  }

  private func begin() async {
    guard isTaken else {
      isTaken = true
      return
    }
    await withCheckedContinuation { waiting.append($0) }
  }

  /// The next one takes over without a moment in between.
  private func end() {
    guard !waiting.isEmpty else {
      isTaken = false
      return
    }
    waiting.removeFirst().resume()
  }
}
