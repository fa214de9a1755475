import Foundation
import Simulation

/// Where a mutant can be noticed: in the history of a seed, or in a small setting.
enum MutantPlace: CustomStringConvertible {
  case seed(UInt64)
  /// Of several processes on one database.
  case nodes(UInt64)
  case setting(Exploration.Setting)

  init?(_ text: String) {
    let words = text.split(separator: " ").map(String.init)
    guard words.count == 2 else { return nil }
    switch words[0] {
    case "seed", "nodes":
      guard let seed = UInt64(words[1]) else { return nil }
      self = words[0] == "nodes" ? .nodes(seed) : .seed(seed)
    case "setting":
      guard let setting = Exploration.Setting(rawValue: words[1]) else { return nil }
      self = .setting(setting)
    default: return nil
    }
  }

  /// Most mutants are noticed in one of so many seeds.
  static let commonSeeds: UInt64 = 40

  /// Whether few seeds notice the mutant.
  var isRare: Bool {
    switch self {
    case .seed(let seed), .nodes(let seed): seed >= Self.commonSeeds
    case .setting: true
    }
  }

  var description: String {
    switch self {
    case .seed(let seed): "seed \(seed)"
    case .nodes(let seed): "nodes \(seed)"
    case .setting(let setting): "setting \(setting.rawValue)"
    }
  }
}

/// What noticed a mutant.
struct MutantNotice: CustomStringConvertible {
  let place: MutantPlace
  let invariant: String
  var description: String { "\(place): \(invariant)" }
}

/// Where each mutant was noticed last time: one line a mutant, its name and its place with a colon between.
struct MutantRecords {
  private static let file = "Tests/Attacks/Mutants/seeds.txt"
  private var places: [String: MutantPlace] = [:]

  init() throws {
    guard FileManager.default.fileExists(atPath: Self.file) else { return }
    for line in try String(contentsOfFile: Self.file, encoding: .utf8).split(separator: "\n") {
      let parts = line.components(separatedBy: ": ")
      guard parts.count == 2, let place = MutantPlace(parts[1]) else {
        throw Options.UsageError(text: "\(Self.file) has no place in: \(line)")
      }
      places[parts[0]] = place
    }
  }

  subscript(mutant: Mutant) -> MutantPlace? {
    get { places[mutant.name] }
    set { places[mutant.name] = newValue }
  }

  /// Keeps the order of the mutants, and none that no longer exists.
  func write() throws {
    let lines = Mutant.all.compactMap { mutant in places[mutant.name].map { "\(mutant.name): \($0)\n" } }
    try lines.joined().write(toFile: Self.file, atomically: true, encoding: .utf8)
  }
}
