import Foundation
import TenderPayments
import TenderTesting

/// One thread, one clock, one order of events: everything that the engine would leave to the machine is decided here.
///
/// Swift's own jobs come here instead of to a thread pool, and run one after another as soon as they are ready. What is
/// left to decide is who goes on next of those who stopped at a *stop*, and when something from outside happens.
///
/// Not sendable in truth: everything in a simulation happens on the thread that called ``run(until:)``.
final class SimulatedThread: @unchecked Sendable {
  /// A coroutine that stopped and waits to be resumed.
  struct Stopped {
    let place: String
    /// Nil where there is only one.
    let process: SimulatedProcess?
    let go: () -> Void
  }

  private struct Event {
    let time: Duration
    let number: Int
    let name: String
    let action: () -> Void
  }

  private(set) var uptime: Duration = .zero
  /// What the wall clock says beyond the uptime: it jumps.
  var offset: Duration = .zero
  private let start: Timestamp
  let choices: Choices
  private(set) var trace = Trace()
  private var jobs: [UnownedJob] = []
  private var firstJob = 0
  private var stopped: [Stopped] = []
  private var events: [Event] = []
  private var count = 0
  /// Asked at every step: whether the engine dies here.
  var dies: (_ place: String, _ process: SimulatedProcess?) -> Bool = { _, _ in false }
  /// What happens then.
  var death: (_ place: String, _ process: SimulatedProcess?) -> Void = { _, _ in }

  init(start: Timestamp, choices: Choices) {
    self.start = start
    self.choices = choices
  }

  var clock: WallClock { clock(beside: .zero) }

  /// A clock that is so far beside the store's.
  func clock(beside skew: Duration) -> WallClock {
    WallClock { self.start.adding(self.uptime + self.offset + skew) }
  }

  func note(_ text: String) { trace.note(text) }

  /// Something from outside, after so much time.
  func after(_ delay: Duration, _ name: String, _ action: @escaping () -> Void) {
    count += 1
    events.append(Event(time: uptime + delay, number: count, name: name, action: action))
  }

  /// Stops the calling task until the simulation picks it.
  func stop(_ place: String, of process: SimulatedProcess? = nil) async {
    await withUnsafeContinuation { (continuation: UnsafeContinuation<Void, Never>) in
      guard process?.isDead != true else { return }
      stopped.append(Stopped(place: place, process: process) { continuation.resume() })
    }
  }

  /// Ends the calling task, as if its process were dead already.
  func end() async { await withUnsafeContinuation { (_: UnsafeContinuation<Void, Never>) in } }

  /// Suspends the calling task until the closure that `begin` gets is called.
  func suspended<Value>(
    of process: SimulatedProcess? = nil, _ begin: (@escaping (Value) -> Void) -> Void
  ) async -> Value {
    let box = await withUnsafeContinuation { (continuation: UnsafeContinuation<Box<Value>, Never>) in
      begin { value in
        let go = { continuation.resume(returning: Box(value: value)) }
        if let process { process.receive(go) } else { go() }
      }
    }
    return box.value
  }

  private struct Box<Value>: @unchecked Sendable { let value: Value }

  /// Takes over Swift's own jobs. For the rest of the process.
  func takeJobs() { JobTap.install(self) }

  fileprivate func enqueue(_ job: UnownedJob) { jobs.append(job) }

  /// What was to happen happens so much later, and outside the time has passed: a machine that stood still.
  func slumber(_ duration: Duration) {
    uptime += duration
    events = events.map { Event(time: $0.time + duration, number: $0.number, name: $0.name, action: $0.action) }
  }

  /// Everything that runs inside the engine is gone, wherever it was.
  func forgetEverybody() {
    jobs.removeAll(keepingCapacity: true)
    firstJob = 0
    stopped.removeAll(keepingCapacity: true)
  }

  /// Everything that runs inside one process is gone.
  func forget(_ process: SimulatedProcess) { stopped.removeAll { $0.process === process } }

  /// Goes on until nothing is left to do, or the time has come.
  func run(until end: Duration) {
    while step(until: end) {}
  }

  private func step(until end: Duration) -> Bool {
    drain()
    let next = events.indices.min { (events[$0].time, events[$0].number) < (events[$1].time, events[$1].number) }
    let ready = stopped.indices.filter { stopped[$0].process?.isPaused != true }
    guard !ready.isEmpty else {
      guard let next, events[next].time <= end else { return false }
      happen(next)
      return true
    }
    // Time goes on also while a task is ready, as with a slow disk.
    if let next, events[next].time <= end, choices.passesTime() {
      happen(next)
      return true
    }
    let picked = stopped.remove(at: ready[choices.next(of: ready.count)])
    guard !dies(picked.place, picked.process) else {
      die(picked.place, picked.process)
      return true
    }
    trace.note(picked.place)
    picked.go()
    return true
  }

  private func happen(_ index: Int) {
    let event = events.remove(at: index)
    uptime = max(uptime, event.time)
    guard !dies("waiting", nil) else {
      die("waiting", nil)
      // What is on its way outside the process arrives all the same.
      return event.action()
    }
    trace.note(event.name)
    event.action()
  }

  private func die(_ place: String, _ process: SimulatedProcess?) {
    trace.note("dies at \(place)")
    death(place, process)
  }

  private func drain() {
    while firstJob < jobs.count {
      let job = jobs[firstJob]
      firstJob += 1
      job.runSynchronously(on: JobTap.executor.asUnownedTaskExecutor())
    }
    jobs.removeAll(keepingCapacity: true)
    firstJob = 0
  }
}

/// Where Swift's jobs are led to the simulation: the runtime's own hook, which is empty otherwise.
enum JobTap {
  fileprivate static let executor = SimulationExecutor()
  private typealias Original = @convention(thin) (UnownedJob) -> Void
  private typealias Hook = @convention(thin) (UnownedJob, Original) -> Void
  nonisolated(unsafe) private static var thread: SimulatedThread?

  static func install(_ simulated: SimulatedThread) {
    thread = simulated
    guard let symbol = dlsym(dlopen(nil, RTLD_LAZY), "swift_task_enqueueGlobal_hook") else { return }
    symbol.assumingMemoryBound(to: Hook?.self).pointee = { job, _ in JobTap.take(job) }
  }

  fileprivate static func take(_ job: UnownedJob) { thread?.enqueue(job) }
}

private final class SimulationExecutor: TaskExecutor {
  func enqueue(_ job: consuming ExecutorJob) { JobTap.take(UnownedJob(job)) }
}

/// What happened, in one number.
struct Trace {
  private(set) var hash: UInt64 = 0xCBF2_9CE4_8422_2325
  private(set) var steps = 0
  var keeps = false
  private(set) var lines: [String] = []

  mutating func note(_ text: String) {
    for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
    hash = (hash ^ 10) &* 0x0000_0100_0000_01B3
    steps += 1
    if keeps { lines.append(text) }
  }
}

extension SimulatedThread {
  func keepTrace() { trace.keeps = true }
}
