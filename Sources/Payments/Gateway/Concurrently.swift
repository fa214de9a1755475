// Several operations at once.
extension PaymentGateway {
  /// Works on all of them, `width` at once.
  package func concurrently<Item: Sendable, Value: Sendable>(
    _ items: [Item], width: Int, _ work: @escaping @Sendable (Item) async throws -> Value
  ) async -> [Result<Value, any Error>] {
    await withTaskGroup(of: Result<Value, any Error>.self) { group in
      var waiting = items.makeIterator()
      for _ in 0..<width {
        guard let next = waiting.next() else { break }
        group.addTask { await outcome { try await work(next) } }
      }
      var outcomes: [Result<Value, any Error>] = []
      while let done = await group.next() {
        outcomes.append(done)
        if let next = waiting.next() { group.addTask { await outcome { try await work(next) } } }
      }
      return outcomes
    }
  }
}

package func outcome<Value: Sendable>(_ work: () async throws -> Value) async -> Result<Value, any Error> {
  do { return .success(try await work()) } catch { return .failure(error) }
}
