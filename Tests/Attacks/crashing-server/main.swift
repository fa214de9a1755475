import Foundation
import Gateway
import Logging
import ServiceLifecycle
import Settings
import Storage
import Synchronization
import TenderPayments
import TenderServer
import UnixSignals

// crashing-server --config FILE
//
// `tender serve`, and one thing more, for `scripts/attack crash`:
//
//     CRASHPOINT=capture.answered:2   kills the process with SIGKILL when it comes to the place for the second time
//     CRASHPOINTS=list                prints the names of all places, one a line
//
// and for `scripts/attack restarts`:
//
//     NEXT_VERSION=yes                a version to come, whose expanding migration the store gets

/// What the environment asks for.
struct CrashSettings {
  var point: CrashPoint?
  var visits = 1

  struct Misunderstood: Error { let text: String }

  init(_ environment: [String: String]) throws {
    guard let text = environment["CRASHPOINT"] else { return }
    let parts = text.split(separator: ":")
    guard let name = parts.first, let point = CrashPoint(rawValue: String(name)) else {
      throw Misunderstood(text: "CRASHPOINT=\(text)")
    }
    self.point = point
    if parts.count == 2 { visits = Int(parts[1]) ?? 1 }
  }

  /// No clean-up, no flush, no answer: the process is gone.
  var crashes: CrashPoints {
    guard let point else { return .none }
    let left = Mutex(visits)
    return CrashPoints { reached in
      guard reached == point else { return }
      let isNow = left.withLock { left in
        left -= 1
        return left == 0
      }
      if isNow { kill(getpid(), SIGKILL) }
    }
  }
}

let environment = ProcessInfo.processInfo.environment
guard environment["CRASHPOINTS"] == nil else {
  for point in CrashPoint.allCases { print(point.rawValue) }
  exit(0)
}
let settings = try CrashSettings(environment)
let nextVersion = Migration(
  "next-version-1",
  """
  ALTER TABLE payments ADD COLUMN next_note TEXT;
  CREATE TABLE next_notes (payment TEXT PRIMARY KEY NOT NULL, note TEXT NOT NULL);
  CREATE INDEX payments_by_next_note ON payments (next_note);

  """)
let arguments = CommandLine.arguments
let file = arguments.firstIndex(of: "--config").flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
var logger = Logger(label: "tender") { JSONLogHandler(label: $0) }
logger.logLevel = .info
let server = try await TenderServer(
  try await ServerConfiguration.load(file: file), crashes: settings.crashes,
  later: environment["NEXT_VERSION"] == nil ? [] : [nextVersion], sockets: try InheritedSockets.take(), logger: logger)
try await ServiceGroup(
  configuration: .init(services: [server], gracefulShutdownSignals: [.sigterm], logger: logger)
).run()
