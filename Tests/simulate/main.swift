import Foundation
import Simulation

// `payment-simulator --seeds 0..<5000 [--trace]`

/// What is to be run, as it was typed.
struct Wish {
  var seeds: Range<UInt64> = 0..<100
  var keepsTrace = false

  init(_ arguments: [String]) throws {
    var rest = arguments.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--seeds": seeds = try Self.range(rest.popFirst() ?? "")
      case "--trace": keepsTrace = true
      default: throw Misunderstood(text: "unknown word \(word)")
      }
    }
  }

  struct Misunderstood: Error { let text: String }

  /// `5000`, `100..<200`, or `seed=7` alone.
  private static func range(_ text: String) throws -> Range<UInt64> {
    let parts = text.components(separatedBy: "..<")
    if parts.count == 1, let count = UInt64(text) { return 0..<count }
    guard parts.count == 2, let low = UInt64(parts[0]), let high = UInt64(parts[1]), low < high else {
      throw Misunderstood(text: "\(text) is no range of seeds")
    }
    return low..<high
  }
}

let wish = try Wish(CommandLine.arguments)
let supplies = try Supplies()
var coverage = Coverage()
var (violations, steps, payments) = (0, 0, 0)
let begin = ContinuousClock.now
for seed in wish.seeds {
  var simulation = Simulation(seed: seed)
  simulation.keepsTrace = wish.keepsTrace
  let outcome = try simulation.run(with: supplies)
  coverage.add(outcome.coverage)
  steps += outcome.steps
  payments += outcome.payments
  if wish.keepsTrace { for line in outcome.lines { print(line) } }
  // Some seeds twice: the same seed must give the same history.
  if seed.isMultiple(of: 50), try simulation.run(with: supplies).trace != outcome.trace {
    violations += 1
    print("seed \(seed): another history the second time")
  }
  guard !outcome.violations.isEmpty else { continue }
  violations += 1
  for violation in outcome.violations { print("seed \(seed): \(violation)") }
}
let seconds = (ContinuousClock.now - begin).components.seconds
for line in coverage.table { print(line) }
for line in coverage.missing { print("not reached: \(line)") }
print("steps \(steps), payments \(payments), \(seconds) s")
print("simulate: \(wish.seeds.count) runs, \(violations) violations")
exit(violations == 0 ? 0 : 1)
