import Foundation
import LoadGenerator

/// Seconds that processors have worked for a process, in the kernel included.
enum ProcessorTime {
  static var own: Double {
    var usage = rusage()
    getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return usage.ru_utime.seconds + usage.ru_stime.seconds
  }

  /// Of another process, from `/proc`: the 14th and 15th field, in ticks.
  static func of(_ process: pid_t) throws -> Double {
    let text = try String(contentsOfFile: "/proc/\(process)/stat", encoding: .utf8)
    // The second field is the name in brackets, which may hold blanks.
    let fields = text.drop { $0 != ")" }.split(separator: " ")
    guard fields.count > 13, let user = Double(fields[12]), let system = Double(fields[13]) else {
      throw BenchFailure("/proc/\(process)/stat is not as expected")
    }
    return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  static var count: Int { ProcessInfo.processInfo.activeProcessorCount }

  /// Seconds that this machine's processors had work while its host ran another machine, since it started: the eighth figure
  /// of `/proc/stat`, in ticks.
  static func stolen() throws -> Double {
    let line = try String(contentsOfFile: "/proc/stat", encoding: .utf8).prefix { $0 != "\n" }
    let fields = line.split(separator: " ")
    guard fields.count > 8, let ticks = Double(fields[8]) else { throw BenchFailure("/proc/stat is not as expected") }
    return ticks / Double(sysconf(Int32(_SC_CLK_TCK)))
  }

  /// How many processors this machine gives us at the moment: as many threads as it has spin for a while.
  static func free(for length: Duration = .milliseconds(400)) async -> Double {
    let (start, before) = (ContinuousClock.now, own)
    await withTaskGroup(of: Void.self) { group in
      for _ in 0..<count {
        group.addTask { while ContinuousClock.now - start < length {} }
      }
    }
    return (own - before) / (ContinuousClock.now - start).seconds
  }
}

extension timeval {
  fileprivate var seconds: Double { Double(tv_sec) + Double(tv_usec) / 1e6 }
}
