import Foundation
import LoadGenerator
import NIOCore
import TenderPayments
import TenderTesting

/// What a payment takes, counted instead of timed: counts scatter less than milliseconds, so that a change of a few per
/// cent shows. One payment after the other, on SQLite and on PostgreSQL, against a baseline that is checked in.
struct Counts: Sendable {
  private static let turns = 3
  private static let payments = 200

  let environment: BenchEnvironment
  let binary: String
  let database: BenchDatabase
  let baseline: Baseline

  /// - Returns: whether nothing has grown.
  func run() async throws -> Bool {
    let file = try await ServedStore.open(environment, "file", binary: binary)
    let node = try await ServedStore.open(
      environment, "node", binary: binary, ServerOptions(database: database.address))
    var figures: [String: Double] = [:]
    for (name, store) in [("sqlite", file), ("postgres", node)] {
      figures.merge(try await middle(store, name)) { first, _ in first }
    }
    for store in [file, node] { try await store.close() }
    return try baseline.judge(figures)
  }

  /// Of each figure the middle turn.
  private func middle(_ store: ServedStore, _ name: String) async throws -> [String: Double] {
    _ = try await turn(store, name)
    var turns: [[String: Double]] = []
    for _ in 0..<Self.turns { turns.append(try await turn(store, name)) }
    return (turns.first ?? [:]).reduce(into: [:]) { middle, figure in
      middle[figure.key] = turns.compactMap { $0[figure.key] }.sorted()[Self.turns / 2]
    }
  }

  private func turn(_ store: ServedStore, _ name: String) async throws -> [String: Double] {
    let requests = try await PaymentSupply(environment, store).payments(Self.payments)
    try await store.generator.warm(1)
    let before = try await quietReading(store, name)
    let run = try await store.generator.closedLoop(requests, width: 1, for: .seconds(120))
    try Suite.check(run)
    let after = try await quietReading(store, name)
    return after.reduce(into: [:]) { figures, end in
      figures["\(name).\(end.key)"] = (end.value - (before[end.key] ?? 0)) / Double(run.answers.count)
    }
  }

  /// When what was done before has been handed over to the webhooks and counted for the charts.
  private func quietReading(_ store: ServedStore, _ name: String) async throws -> [String: Double] {
    try await Task.sleep(for: .seconds(3))
    var reading = try ProcessCounts(of: store.process.id).figures
    reading["commits"] = try await store.metric("tender_store_commits")
    guard name == "postgres" else { return reading }
    // The store is not on the server's disk.
    reading["written"] = nil
    reading["trips"] = try await store.metric("tender_store_trips_total")
    reading.merge(try await database.counts()) { first, _ in first }
    return reading
  }
}

/// What the kernel has counted for a process since it started.
private struct ProcessCounts {
  let figures: [String: Double]

  init(of process: pid_t) throws {
    let io = Self.numbers(try String(contentsOfFile: "/proc/\(process)/io", encoding: .utf8))
    // A thread that has ended is not counted.
    let switches = try FileManager.default.contentsOfDirectory(atPath: "/proc/\(process)/task").map { thread in
      let text = (try? String(contentsOfFile: "/proc/\(process)/task/\(thread)/status", encoding: .utf8)) ?? ""
      return Self.numbers(text)["voluntary_ctxt_switches"] ?? 0
    }
    figures = [
      "switches": switches.reduce(0, +), "calls": (io["syscr"] ?? 0) + (io["syscw"] ?? 0),
      "written": io["write_bytes"] ?? 0,
    ]
  }

  /// Lines such as `syscr: 17`.
  private static func numbers(_ text: String) -> [String: Double] {
    text.split(separator: "\n").reduce(into: [:]) { numbers, line in
      let parts = line.split(separator: ":")
      guard parts.count == 2, let number = Double(parts[1].trimmingCharacters(in: .whitespaces)) else { return }
      numbers[String(parts[0])] = number
    }
  }
}

/// The figures that a change is compared with, a line each: `NAME VALUE`.
struct Baseline: Sendable {
  /// Counts of one payment after the other scatter by less.
  private static let tolerance = 0.05

  let path: String
  let isRecorded: Bool

  /// Prints the figures, and which have grown.
  func judge(_ figures: [String: Double]) throws -> Bool {
    let known = isRecorded ? [:] : try read()
    let lines = figures.sorted { $0.key < $1.key }
    for (name, value) in lines {
      let bar = known[name].map { Bar.atMost((($0 * (1 + Self.tolerance)) * 1_000).rounded() / 1_000) }
      report("payment.\(name)", value, "a-payment", bar: bar)
      if let before = known[name], value < before * (1 - Self.tolerance) {
        print("less than before: payment.\(name) was \(before); RECORD=yes makes this the baseline")
      }
    }
    if isRecorded {
      let text = lines.map { "\($0.key) \(String(format: "%.3f", $0.value))\n" }.joined()
      try text.write(toFile: path, atomically: true, encoding: .utf8)
    }
    let missing = known.keys.filter { figures[$0] == nil }
    guard missing.isEmpty else { throw BenchFailure("not measured: \(missing.sorted().joined(separator: ", "))") }
    return lines.allSatisfy { name, value in value <= (known[name] ?? value) * (1 + Self.tolerance) }
  }

  private func read() throws -> [String: Double] {
    try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n").reduce(into: [:]) { figures, line in
      let parts = line.split(separator: " ")
      guard parts.count == 2, let value = Double(parts[1]) else { throw BenchFailure("\(path): \(line)") }
      figures[String(parts[0])] = value
    }
  }
}
