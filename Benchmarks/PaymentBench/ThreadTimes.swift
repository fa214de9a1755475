import Foundation
import LoadGenerator

/// What the kernel has counted for each thread of a process since the thread began.
struct ThreadTimes: Sendable {
  struct Times: Sendable {
    /// Nanoseconds on a processor.
    var running = 0.0
    /// Nanoseconds in which it could have run and waited for a processor.
    var runnable = 0.0
    /// How often it stopped to wait for something.
    var switches = 0.0
    /// How often another thread took its processor.
    var preemptions = 0.0
  }

  fileprivate struct CountedThread: Sendable {
    let name: String
    let times: Times
  }

  /// By the thread's number.
  private let threads: [String: CountedThread]

  /// None where the kernel counts no times (it is built without `CONFIG_SCHED_INFO`).
  init(of process: pid_t) {
    let folder = "/proc/\(process)/task"
    let numbers = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
    threads = numbers.reduce(into: [:]) { threads, number in
      // A thread that has ended meanwhile has no files any more.
      threads[number] = CountedThread("\(folder)/\(number)")
    }
  }

  /// By the threads' names. A thread that has ended in between is not counted.
  func since(_ before: ThreadTimes) -> [String: Times] {
    threads.reduce(into: [:]) { times, thread in
      let earlier = before.threads[thread.key]?.times ?? Times()
      times[thread.value.name, default: Times()] += thread.value.times - earlier
    }
  }
}

extension ThreadTimes.CountedThread {
  fileprivate init?(_ folder: String) {
    func text(_ file: String) -> String? { try? String(contentsOfFile: "\(folder)/\(file)", encoding: .utf8) }
    guard let comm = text("comm"), let schedule = text("schedstat"), let status = text("status") else { return nil }
    let numbers = schedule.split { $0 == " " || $0 == "\n" }.compactMap { Double($0) }
    guard numbers.count == 3 else { return nil }
    name = Self.group(of: comm)
    times = .init(
      running: numbers[0], runnable: numbers[1], switches: Self.number("voluntary_ctxt_switches", in: status),
      preemptions: Self.number("nonvoluntary_ctxt_switches", in: status))
  }

  /// Threads of a pool differ by a number at the end: `NIO-ELT-0-#1` is one of `NIO-ELT`. Dispatch names its threads by
  /// the last 15 letters of their queue: `com.apple.root.default-qos.overcommit` runs the queues of SQLite's connections,
  /// and `com.apple.root.default-qos` Swift's tasks.
  private static func group(of comm: String) -> String {
    let name = comm.trimmingCharacters(in: .newlines)
    if name.hasSuffix(".overcommit") { return "queues" }
    if name.hasSuffix("-qos") { return "tasks" }
    let end = name.lastIndex { !" 0123456789-#".contains($0) }
    return String(end.map { name[...$0] } ?? name[...]).replacingOccurrences(of: " ", with: "-")
  }

  private static func number(_ key: String, in status: String) -> Double {
    let line = status.split(separator: "\n").first { $0.hasPrefix("\(key):") }
    return line?.split { $0 == ":" || $0 == "\t" }.last.flatMap { Double($0) } ?? 0
  }
}

extension ThreadTimes.Times {
  static func += (sum: inout Self, other: Self) { sum = sum.combined(with: other, +) }

  static func - (later: Self, earlier: Self) -> Self { later.combined(with: earlier, -) }

  private func combined(with other: Self, _ operation: (Double, Double) -> Double) -> Self {
    .init(
      running: operation(running, other.running), runnable: operation(runnable, other.runnable),
      switches: operation(switches, other.switches), preemptions: operation(preemptions, other.preemptions))
  }
}

extension [Turns.Turn] {
  /// Where the server's threads spend a payment's time: running, and ready to run without a processor. The busiest group
  /// comes first. Time on the wire, at the disk and at the acquirer is in none.
  func printThreads(_ name: String) {
    let payments = Double(reduce(0) { $0 + $1.run.answers.count })
    let groups = reduce(into: [String: ThreadTimes.Times]()) { groups, turn in
      for (group, times) in turn.spending.threads { groups[group, default: .init()] += times }
    }
    if groups.isEmpty { print("not measured: \(name), because the kernel counts no times of threads") }
    for (group, times) in groups.sorted(by: { $0.value.running > $1.value.running }) {
      report("\(name).\(group).running", times.running / payments / 1_000, "us-a-payment")
      report("\(name).\(group).runnable", times.runnable / payments / 1_000, "us-a-payment")
      report("\(name).\(group).switches", times.switches / payments, "a-payment")
      report("\(name).\(group).preemptions", times.preemptions / payments, "a-payment")
    }
  }
}
