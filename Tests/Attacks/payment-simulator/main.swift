import Auditing
import Foundation
import Simulation

// payment-simulator --seeds 5000 | 100..<200 [--trace]      the engine under faults, a history for each seed
// payment-simulator --seeds 200 --profile adyen             the same, at banks of one kind
// payment-simulator --nodes --seeds 300                     the same, with two or three processes on one database
// payment-simulator --explore 20000                         small settings, every history, so many at most
// payment-simulator --mutants 1500 | 400..<1500 [--record]  mutants, each with so many seeds at most
// payment-simulator --mutants recorded                      mutants, each where it was detected before
// payment-simulator --check-coverage FILE…                  whether these runs together reach all that they can
//
// --coverage FILE keeps what the seeds have reached for --check-coverage. --share 0/2 takes every second of the
// mutants, and --share 1/2 the others; --only TEXT takes those that have it in their name. --record writes where each
// was noticed to Tests/Attacks/Mutants/seeds.txt.

/// At once: a run of hours is watched, or stopped.
func say(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

/// What is to be run, as it was typed.
struct Options {
  var seeds: Range<UInt64>?
  var histories: Int?
  var mutants: Mutants?
  var recordsMutants = false
  /// Which of how many shares of the mutants.
  var share = (number: 0, of: 1)
  /// A part of the mutants' names.
  var only = ""
  var keepsTrace = false
  /// The kind of bank that every seed gets; nil for the seed's own.
  var profile: String?
  /// Whether several processes share one database in every seed.
  var hasNodes = false
  var coverage: String?
  var coverageFiles: [String] = []

  /// How long mutants are searched for.
  enum Mutants {
    case recorded
    case seeds(Range<UInt64>)
  }

  init(_ arguments: [String]) throws {
    var rest = arguments.dropFirst()
    while let word = rest.popFirst() {
      switch word {
      case "--seeds": seeds = try Self.range(rest.popFirst() ?? "")
      case "--explore": histories = Int(rest.popFirst() ?? "")
      case "--mutants": mutants = try Self.mutants(rest.popFirst() ?? "")
      case "--record": recordsMutants = true
      case "--share": share = try Self.share(rest.popFirst() ?? "")
      case "--only": only = rest.popFirst() ?? ""
      case "--trace": keepsTrace = true
      case "--profile": profile = rest.popFirst()
      case "--nodes": hasNodes = true
      case "--coverage": coverage = rest.popFirst()
      case "--check-coverage":
        coverageFiles = Array(rest)
        rest = []
      default: throw UsageError(text: "unknown word \(word)")
      }
    }
  }

  struct UsageError: Error { let text: String }

  /// Those that are in its share and have the name.
  func chosen(from mutants: [Mutant]) -> [Mutant] {
    mutants.enumerated().filter { $0.offset % share.of == share.number }.map(\.element)
      .filter { only.isEmpty || $0.name.contains(only) }
  }

  /// Seeds, or `recorded`.
  private static func mutants(_ text: String) throws -> Mutants {
    if text == "recorded" { return .recorded }
    return .seeds(try range(text))
  }

  /// `1/2`: the second of two.
  private static func share(_ text: String) throws -> (number: Int, of: Int) {
    let parts = text.components(separatedBy: "/").compactMap { Int($0) }
    guard parts.count == 2, parts[0] >= 0, parts[0] < parts[1] else {
      throw UsageError(text: "\(text) is no share")
    }
    return (parts[0], parts[1])
  }

  /// `5000`, or `100..<200`.
  private static func range(_ text: String) throws -> Range<UInt64> {
    let parts = text.components(separatedBy: "..<")
    if parts.count == 1, let count = UInt64(text) { return 0..<count }
    guard parts.count == 2, let low = UInt64(parts[0]), let high = UInt64(parts[1]), low < high else {
      throw UsageError(text: "\(text) is no range of seeds")
    }
    return low..<high
  }
}

/// Every seed of a range; how many had violations.
func simulate(_ seeds: Range<UInt64>, _ options: Options, _ supplies: Supplies) throws -> Int {
  var coverage = Coverage()
  var (violated, steps, payments) = (0, 0, 0)
  let begin = ContinuousClock.now
  for seed in seeds {
    var simulation = Simulation(seed: seed)
    simulation.keepsTrace = options.keepsTrace
    simulation.profile = options.profile
    simulation.hasNodes = options.hasNodes
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
  if options.hasNodes, seeds.count >= 1_000 {
    for meeting in coverage.missingMeetings { say("not met: \(meeting)") }
    violated += coverage.missingMeetings.count
  }
  if let file = options.coverage {
    try coverage.table.joined(separator: "\n").write(toFile: file, atomically: true, encoding: .utf8)
  } else {
    let missing = options.hasNodes ? [] : coverage.missing
    for line in coverage.table + missing.map({ "not reached: \($0)" }) { say(line) }
  }
  say("steps \(steps), payments \(payments), \((ContinuousClock.now - begin).components.seconds) s")
  say("\(options.hasNodes ? "simulate nodes" : "simulate"): \(seeds.count) runs, \(violated) violations")
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

/// Every mutant until a check notices it; how many no check noticed.
func hunt(_ seeds: Range<UInt64>, _ options: Options, _ supplies: Supplies) throws -> Int {
  var records = try MutantRecords()
  var survivors = 0
  let hunted = options.chosen(from: Mutant.all)
  for mutant in hunted {
    let notice = try search(for: mutant, seeds, supplies)
    if let notice { records[mutant] = notice.place }
    say("mutant \(mutant.name): \(notice?.description ?? (mutant.isInjected ? "SURVIVED" : "NOT INJECTED"))")
    survivors += notice == nil ? 1 : 0
    // After each: a search of an hour may be stopped.
    if options.recordsMutants { try records.write() }
  }
  say("mutants: \(hunted.count) runs, \(survivors) violations")
  return survivors
}

/// Every mutant where it was noticed before; how many no check noticed.
///
/// A change of the engine changes histories, so a mutant that is not noticed there is searched for in some seeds more.
/// One that is too rare for these seeds is no violation: only a longer search can say whether a check still notices it.
func replay(_ options: Options, _ supplies: Supplies) throws -> Int {
  let records = try MutantRecords()
  var (violated, rare) = (0, 0)
  let replayed = options.chosen(from: Mutant.all)
  for mutant in replayed {
    let place = records[mutant]
    var found = try place.flatMap { try notice(of: mutant, at: $0, supplies) }
    if found == nil {
      found = try search(for: mutant, 0..<MutantPlace.commonSeeds, inSettings: false, supplies)
      let place = place?.description ?? "any recorded place"
      say("mutant \(mutant.name): not noticed at \(place); record a new one: make mutant-seeds")
    }
    let isRare = found == nil && mutant.isInjected && place?.isRare == true
    let result = found?.description ?? (isRare ? "rare" : mutant.isInjected ? "SURVIVED" : "NOT INJECTED")
    say("mutant \(mutant.name): \(result)")
    rare += isRare ? 1 : 0
    violated += found == nil && !isRare ? 1 : 0
  }
  say("mutants: \(replayed.count) runs, \(violated) violations, \(rare) rare mutants without a recorded place")
  return violated
}

/// Where a mutant is noticed first: in a few seeds, in the small settings, in all the other seeds.
func search(
  for mutant: Mutant, _ seeds: Range<UInt64>, inSettings: Bool = true, _ supplies: Supplies
) throws -> MutantNotice? {
  guard !mutant.needsNodes else {
    for seed in seeds { if let notice = try notice(of: mutant, at: .nodes(seed), supplies) { return notice } }
    return nil
  }
  let few = seeds.prefix(100)
  let settings = inSettings ? Exploration.Setting.allCases : []
  let places =
    few.map(MutantPlace.seed) + settings.map(MutantPlace.setting) + seeds.dropFirst(100).map(MutantPlace.seed)
  for place in places {
    if let notice = try notice(of: mutant, at: place, supplies) { return notice }
  }
  return nil
}

func notice(of mutant: Mutant, at place: MutantPlace, _ supplies: Supplies) throws -> MutantNotice? {
  let violations =
    switch place {
    case .seed(let seed): try Simulation(seed: seed, mutant: mutant).run(with: supplies).violations
    case .nodes(let seed):
      try Simulation(seed: seed, mutant: mutant, hasNodes: true).run(with: supplies).violations
    case .setting(let setting): try Exploration(setting, mutant: mutant).run(with: supplies, limit: 1_000).violations
    }
  return violations.first.map { MutantNotice(place: place, invariant: $0.invariant.rawValue) }
}

/// Lists what none of these runs has reached and one could, and what they reached that is said to be impossible; how
/// much of both.
func checkCoverage(_ files: [String]) throws -> Int {
  var coverage = Coverage()
  for file in files {
    coverage.add(Coverage(table: try String(contentsOfFile: file, encoding: .utf8).components(separatedBy: "\n")))
  }
  for line in coverage.missing { say("not reached: \(line)") }
  for line in coverage.surprises { say("reached, and said to be impossible: \(line)") }
  say("coverage: \(Coverage.summary), \(coverage.missing.count) not reached, \(coverage.surprises.count) surprises")
  return coverage.missing.count + coverage.surprises.count
}

let options: Options
do { options = try Options(CommandLine.arguments) } catch let error as Options.UsageError {
  FileHandle.standardError.write(
    Data("payment-simulator: \(error.text); the head of its main.swift says what there is\n".utf8))
  exit(2)
}
guard options.coverageFiles.isEmpty else { exit(try checkCoverage(options.coverageFiles) == 0 ? 0 : 1) }
let supplies = try Supplies()
var failures = 0
if let seeds = options.seeds { failures += try simulate(seeds, options, supplies) }
if let limit = options.histories { failures += try explore(limit, supplies) }
switch options.mutants {
case .recorded: failures += try replay(options, supplies)
case .seeds(let seeds): failures += try hunt(seeds, options, supplies)
case nil: break
}
exit(failures == 0 ? 0 : 1)
