/// One of several processes on a store: what reaches it depends on whether it lives, and whether it was stopped.
final class SimulatedProcess: @unchecked Sendable {
  let number: Int
  private let thread: SimulatedThread
  private(set) var isDead = false
  /// As by SIGSTOP.
  private(set) var isPaused = false
  /// What came meanwhile.
  private var kept: [() -> Void] = []

  init(_ number: Int, _ thread: SimulatedThread) { (self.number, self.thread) = (number, thread) }

  /// Something from outside; a dead process does not get it, and one that was stopped gets it later.
  func receive(_ news: @escaping () -> Void) {
    guard !isDead else { return }
    guard isPaused else { return news() }
    kept.append(news)
  }

  func stop(_ place: String) async { await thread.stop(place, of: self) }

  func pause() { isPaused = true }

  func goOn() {
    isPaused = false
    let news = kept
    kept = []
    for one in news { receive(one) }
  }

  func die() {
    isDead = true
    kept = []
    thread.forget(self)
  }
}
