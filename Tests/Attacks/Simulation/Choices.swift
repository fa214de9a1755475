import TenderTesting

/// Whatever a simulation leaves open is decided here: by a seed, or by a script that tries everything.
class Choices {
  /// One of so many, 0 to count - 1.
  func pick(_ count: Int) -> Int { 0 }
  /// Whether something happens that happens so many times in a thousand.
  func chance(_ thousandths: Int) -> Bool { false }
  /// Who goes on next, of so many who could.
  func next(of count: Int) -> Int { pick(count) }
  /// Whether time goes on although a task is ready.
  func passesTime() -> Bool { false }
  /// A duration in milliseconds.
  func milliseconds(_ range: ClosedRange<Int>) -> Duration { .milliseconds(range.lowerBound) }
}

/// The same choices for the same seed.
final class SeededChoices: Choices {
  private var generator: SeededGenerator

  init(seed: UInt64) { generator = SeededGenerator(seed: seed) }

  override func pick(_ count: Int) -> Int { count < 2 ? 0 : Int.random(in: 0..<count, using: &generator) }
  override func chance(_ thousandths: Int) -> Bool { Int.random(in: 0..<1000, using: &generator) < thousandths }
  override func passesTime() -> Bool { chance(80) }
  override func milliseconds(_ range: ClosedRange<Int>) -> Duration {
    .milliseconds(Int.random(in: range, using: &generator))
  }
}

/// Walks through every sequence of choices, depth first: a run follows the script as far as it goes and takes the first
/// of everything after it; then the last choice that has another side takes it.
final class ScriptedChoices: Choices {
  private var script: [Int] = []
  private var made: [(taken: Int, count: Int)] = []
  /// While it is set, everything takes its first way and nothing is remembered.
  var isFrozen = false
  /// Whether the next task is one of the choices; else it is the one that has waited longest.
  var schedules = true

  override func pick(_ count: Int) -> Int {
    guard count > 1, !isFrozen else { return 0 }
    let taken = made.count < script.count ? script[made.count] : 0
    made.append((taken, count))
    return taken
  }

  override func chance(_ thousandths: Int) -> Bool { thousandths > 0 && pick(2) == 1 }
  override func next(of count: Int) -> Int { schedules ? pick(count) : 0 }

  /// Whether there is another run to make.
  func next() -> Bool {
    while let last = made.popLast() {
      if last.taken + 1 < last.count {
        script = made.map(\.taken) + [last.taken + 1]
        made = []
        return true
      }
    }
    return false
  }
}
