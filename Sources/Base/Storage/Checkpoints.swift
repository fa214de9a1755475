import GRDB
import Synchronization

/// Moves what is committed out of the write-ahead log and into the file, on a connection of its own.
///
/// SQLite would do it inside every so many commits, and whoever waited for one of those waited for some hundred pages
/// and two more flushes. Beside the writer it holds up nobody. What it leaves behind, because the writer was faster,
/// stays in the log, which is read as well; an error leaves all of it there, and the next try writes it again.
final class Checkpoints: Sendable {
  /// So many writes, some thousand pages, are worth a try.
  private static let interval = 256
  /// The writer adds to the log meanwhile. When a pass has caught up with it, the log begins anew.
  private static let passes = 8
  /// Pages in the log at which the writer itself takes over, so that it cannot grow without end: 64 MiB.
  static let limit = 16_384

  private let connection: DatabaseQueue
  private let standing = Mutex<(writes: Int, isRunning: Bool)>((0, false))

  init(path: String) throws { connection = try DatabaseQueue(path: path) }

  /// Hears of every commit.
  func note(_ writes: Int) {
    let isDue = standing.withLock { standing in
      standing.writes += writes
      guard standing.writes >= Self.interval, !standing.isRunning else { return false }
      standing = (0, true)
      return true
    }
    guard isDue else { return }
    connection.asyncWriteWithoutTransaction { [self] connection in
      Self.catchUp(connection)
      standing.withLock { $0.isRunning = false }
    }
  }

  func close() { try? connection.close() }

  private static func catchUp(_ connection: GRDB.Database) {
    for _ in 0..<passes {
      guard let (written, moved) = try? connection.checkpoint(.passive), moved < written else { return }
    }
  }
}
