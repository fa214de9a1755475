import CostFuzzer
import Foundation
import HTTPTransport
import LoadGenerator
import NIOCore
import TenderPayments
import TenderTesting

/// A server, in a process of its own, that has only the processor time of a payment: it takes a request, works, asks the
/// acquirer, works again and answers. It reads and writes no store, locks nothing, and its work is in two pieces.
///
/// What its requests take above the acquirer's 50 ms is the share of the generator, the acquirer's timers and the kernel's
/// scheduler, for any server that works as long as Tender does.
///
///     PaymentBench relay ACQUIRER
struct RelayServer: Sendable {
  private let acquirer: String
  private let sender: HTTPSender

  /// The program of the process: prints its port and serves until it is ended.
  static func run(acquirer: String) async throws {
    let relay = RelayServer(acquirer: acquirer, sender: try LiveHTTPClient().sender)
    let server = try await MemoryServer { request, reply in
      Task {
        await relay.answer(request)
        reply.send([], after: .zero)
      }
    }
    print("relay serves \(server.url)")
    fflush(nil)
    while true { try await Task.sleep(for: .seconds(3_600)) }
  }

  private func answer(_ request: HTTPMessage) async {
    guard let microseconds = Int(request.path.split(separator: "/").last ?? "") else { return }
    Self.work(microseconds / 2)
    let call = OutboundRequest(
      method: "POST", url: acquirer + "/acquirer/v1/authorizations",
      headers: [HTTPField("Content-Type", "application/json")], body: Array("{}".utf8))
    _ = try? await sender.send(call, .seconds(20))
    Self.work(microseconds / 2)
  }

  /// Keeps the processor busy until the thread has had it for so long.
  private static func work(_ microseconds: Int) {
    let (clock, end) = (ProcessorClock.ofThread, ProcessorClock.ofThread.now + .microseconds(microseconds))
    while clock.now < end {}
  }
}

/// The relay as the benchmark starts and loads it.
struct Relay: Sendable {
  private let process: ChildProcess
  private let generator: LoadGenerator
  /// Seconds of a processor that a request takes which does no work.
  private var idleTime = 0.0

  struct Turn: Sendable {
    /// Milliseconds.
    let p99: Double
    /// Seconds of a processor that a request took.
    let processorTime: Double
  }

  /// - Parameter log: the file for what it prints.
  init(acquirer: String, log: String) async throws {
    process = try ChildProcess([CommandLine.arguments[0], "relay", acquirer], output: log)
    generator = LoadGenerator(port: try await Self.port(in: log, of: process))
  }

  private static func port(in log: String, of process: ChildProcess) async throws -> Int {
    for _ in 0..<3_000 where process.isRunning {
      let text = (try? String(contentsOfFile: log, encoding: .utf8)) ?? ""
      if text.hasSuffix("\n"), let port = text.dropLast().split(separator: ":").last.flatMap({ Int($0) }) {
        return port
      }
      try await Task.sleep(for: .milliseconds(10))
    }
    throw BenchFailure("the relay did not start")
  }

  /// A run with no work, which tells what the relay's own requests take.
  mutating func measureIdle(_ schedule: Schedule) async throws -> Turn {
    let turn = try await run(schedule, microseconds: 0)
    idleTime = turn.processorTime
    return turn
  }

  /// - Parameter time: seconds of a processor that each request takes in all.
  func run(_ schedule: Schedule, processorTime time: Double) async throws -> Turn {
    try await run(schedule, microseconds: Int(max(0, time - idleTime) * 1e6))
  }

  private func run(_ schedule: Schedule, microseconds: Int) async throws -> Turn {
    let request = ByteBuffer(string: "POST /\(microseconds) HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n")
    try await generator.warm(4 * Suite.width)
    let before = try ProcessorTime.of(process.id)
    let run = try await generator.openLoop(Array(repeating: request, count: schedule.offsets.count), schedule)
    try Suite.check(run)
    return Turn(
      p99: run.latencies { $0 == 200 }.percentile(0.99) ?? .nan,
      processorTime: (try ProcessorTime.of(process.id) - before) / Double(run.answers.count))
  }

  func close() async throws {
    try await generator.close()
    process.signal(SIGKILL)
    _ = await process.end()
  }
}
