import GRDB
import Synchronization

/// Moves committed pages from the write-ahead log into the file, on a separate connection.
///
/// SQLite's automatic checkpoint runs inside a commit, whose caller then waits for hundreds of pages and two more
/// flushes. A separate connection delays no commit. Pages that a checkpoint leaves, because the writer was faster or an
/// error occurred, stay in the log, which readers use too, until the next checkpoint.
final class Checkpoints: Sendable {
  /// Writes between two checkpoints. The disk flushes the pages of a checkpoint together with those of the next commits,
  /// which wait for them: some hundred pages delay payments by a few milliseconds, a thousand by twenty.
  private static let interval = 32
  /// The most passes: the writer adds to the log meanwhile, and once a pass has caught up, the log restarts.
  private static let passes = 8
  /// Pages in the log at which the writer itself checkpoints, so that the log stays bounded: 64 MiB.
  static let limit = 16_384

  private let connection: DatabaseQueue
  private let status = Mutex<(writes: Int, isRunning: Bool)>((0, false))

  init(path: String) throws {
    var configuration = Configuration()
    // What empties the log waits so long for the writer and for readers. Other checkpoints do not wait.
    configuration.busyMode = .timeout(1)
    connection = try DatabaseQueue(path: path, configuration: configuration)
  }

  /// Counts the writes of a commit and starts a checkpoint when one is due.
  func note(_ writes: Int) {
    let isDue = status.withLock { status in
      status.writes += writes
      guard status.writes >= Self.interval, !status.isRunning else { return false }
      status = (0, true)
      return true
    }
    guard isDue else { return }
    connection.asyncWriteWithoutTransaction { [self] connection in
      Self.catchUp(connection)
      status.withLock { $0.isRunning = false }
    }
  }

  /// Moves all of the log into the file and cuts it off.
  ///
  /// - Returns: false where readers or the writer left no moment for it.
  func emptyLog() async -> Bool {
    for _ in 0..<Self.passes {
      let isEmpty = try? await connection.writeWithoutTransaction { connection in
        Self.catchUp(connection)
        return try connection.checkpoint(.truncate).walFrameCount == 0
      }
      if isEmpty == true { return true }
    }
    return false
  }

  func close() { try? connection.close() }

  private static func catchUp(_ connection: GRDB.Database) {
    for _ in 0..<passes {
      guard let (written, moved) = try? connection.checkpoint(.passive), moved < written else { return }
    }
  }
}
