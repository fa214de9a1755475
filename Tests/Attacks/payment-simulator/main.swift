import Auditing
import Foundation
import Simulation

// payment-simulator --seeds 5000 | 100..<200 [--trace]   the engine under faults, a history for each seed
// payment-simulator --explore 20000                       small settings, every history, so many at most
// payment-simulator --mutants 400                         planted defects, each with so many seeds at most
// payment-simulator --judge FILE…                         whether these runs together have been everywhere they can
//
// --coverage FILE keeps what the seeds have been through for --judge. --share 0/2 takes every second of the defects,
// and --share 1/2 the others.

/// At once: a run of hours is watched, or stopped.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// What is to be run, as it was typed.
struct Wish {
  var seeds: Range<UInt64>?
  var histories: Int?
  var mutantSeeds: UInt64?
  /// Which of how many shares of the mutants.
  var share = (number: 0, of: 1)
  var keepsTrace = false
  var coverage: String?
  var judged: [String] = []

  init(_ arguments: [String]) throws {
    var rest = arguments.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--seeds": seeds = try Self.range(rest.popFirst() ?? "")
      case "--explore": histories = Int(rest.popFirst() ?? "")
      case "--mutants": mutantSeeds = UInt64(rest.popFirst() ?? "")
      case "--share": share = try Self.share(rest.popFirst() ?? "")
      case "--trace": keepsTrace = true
      case "--coverage": coverage = rest.popFirst()
      case "--judge":
        judged = Array(rest)
        rest = []
      default: throw Misunderstood(text: "unknown word \(word)")
      }
    }
  }

  struct Misunderstood: Error { let text: String }

  /// `1/2`: the second of two.
  private static func share(_ text: String) throws -> (number: Int, of: Int) {
    let parts = text.components(separatedBy: "/").compactMap { Int($0) }
    guard parts.count == 2, parts[0] >= 0, parts[0] < parts[1] else {
      throw Misunderstood(text: "\(text) is no share")
    }
    return (parts[0], parts[1])
  }

  /// `5000`, or `100..<200`.
  private static func range(_ text: String) throws -> Range<UInt64> {
    let parts = text.components(separatedBy: "..<")
    if parts.count == 1, let count = UInt64(text) { return 0..<count }
    guard parts.count == 2, let low = UInt64(parts[0]), let high = UInt64(parts[1]), low < high else {
      throw Misunderstood(text: "\(text) is no range of seeds")
    }
    return low..<high
  }
}

/// Every seed of a range; how many had violations.
func simulate(_ seeds: Range<UInt64>, _ wish: Wish, _ supplies: Supplies) throws -> Int {
  var coverage = Coverage()
  var (violated, steps, payments) = (0, 0, 0)
  let begin = ContinuousClock.now
  for seed in seeds {
    var simulation = Simulation(seed: seed)
    simulation.keepsTrace = wish.keepsTrace
    let outcome = try simulation.run(with: supplies)
    coverage.add(outcome.coverage)
    steps += outcome.steps
    payments += outcome.payments
    for line in outcome.lines { say(line) }
    var found = outcome.violations.map(\.description)
    // Some seeds twice: the same seed must give the same history.
    if seed.isMultiple(of: 50), try simulation.run(with: supplies).trace != outcome.trace {
      found.append("another history the second time")
    }
    for text in found { say("seed \(seed): \(text)") }
    violated += found.isEmpty ? 0 : 1
  }
  if let file = wish.coverage {
    try coverage.table.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
  } else {
    for line in coverage.table + coverage.missing.map({ "not reached: \($0)" }) { say(line) }
  }
  say("steps \(steps), payments \(payments), \((ContinuousClock.now - begin).components.seconds) s")
  say("simulate: \(seeds.count) runs, \(violated) violations")
  return violated
}

func explore(_ limit: Int, _ supplies: Supplies) throws -> Int {
  var (runs, violated) = (0, 0)
  for setting in Exploration.Setting.allCases {
    let outcome = try Exploration(setting).run(with: supplies, limit: limit)
    for violation in outcome.violations { say("\(setting.rawValue): \(violation)") }
    say("\(setting.rawValue): \(outcome.runs) histories, \(outcome.isComplete ? "all there are" : "not all")")
    runs += outcome.runs
    violated += outcome.violations.count
  }
  say("explore: \(runs) runs, \(violated) violations")
  return violated
}

/// Every mutant until somebody notices; how many nobody noticed.
func hunt(_ limit: UInt64, _ wish: Wish, _ supplies: Supplies) throws -> Int {
  var survivors = 0
  let hunted = Mutant.all.enumerated().filter { $0.offset % wish.share.of == wish.share.number }.map(\.element)
  for mutant in hunted {
    let noticed = try noticed(mutant, limit, supplies)
    say("mutant \(mutant.name): \(noticed ?? (mutant.isPlanted ? "SURVIVED" : "PLANTED NOWHERE"))")
    survivors += noticed == nil ? 1 : 0
  }
  say("mutants: \(hunted.count) runs, \(survivors) violations")
  return survivors
}

/// Where a mutant is noticed first: in a few seeds, in the small settings, in all the other seeds.
func noticed(_ mutant: Mutant, _ limit: UInt64, _ supplies: Supplies) throws -> String? {
  func inSeeds(_ seeds: Range<UInt64>) throws -> String? {
    for seed in seeds {
      let outcome = try Simulation(seed: seed, mutant: mutant).run(with: supplies)
      if let first = outcome.violations.first { return "seed \(seed): \(first.invariant.rawValue)" }
    }
    return nil
  }
  func inSettings() throws -> String? {
    for setting in Exploration.Setting.allCases {
      let outcome = try Exploration(setting, mutant: mutant).run(with: supplies, limit: 1_000)
      if let first = outcome.violations.first { return "\(setting.rawValue): \(first.invariant.rawValue)" }
    }
    return nil
  }
  let few = min(limit, 100)
  return try inSeeds(0..<few) ?? inSettings() ?? inSeeds(few..<limit)
}

/// Lists what none of these runs has reached and one could, and what they reached that is said to be impossible; how
/// much of both.
func judge(_ files: [String]) throws -> Int {
  var coverage = Coverage()
  for file in files {
    coverage.add(Coverage(table: try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n")))
  }
  for line in coverage.missing { say("not reached: \(line)") }
  for line in coverage.surprises { say("reached, and said to be impossible: \(line)") }
  say("coverage: \(Coverage.summary), \(coverage.missing.count) not reached, \(coverage.surprises.count) surprises")
  return coverage.missing.count + coverage.surprises.count
}

let wish = try Wish(CommandLine.arguments)
guard wish.judged.isEmpty else { exit(try judge(wish.judged) == 0 ? 0 : 1) }
let supplies = try Supplies()
var failures = 0
if let seeds = wish.seeds { failures += try simulate(seeds, wish, supplies) }
if let limit = wish.histories { failures += try explore(limit, supplies) }
if let limit = wish.mutantSeeds { failures += try hunt(limit, wish, supplies) }
exit(failures == 0 ? 0 : 1)
