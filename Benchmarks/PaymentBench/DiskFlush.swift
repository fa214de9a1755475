import Foundation
import LoadGenerator

/// What the disk alone does to payments: commits like those under load, one after another, with nothing else at work.
struct DiskFlush {
  /// Bytes, about what twenty payments write.
  private static let size = 100_000
  /// Of a write-ahead log that begins anew: a file that grows is slower.
  private static let turn = 160
  /// About what the writer works on a batch.
  private static let pause: Duration = .milliseconds(1)

  let directory: String

  func measure(for length: Duration) async throws -> Flushes {
    let path = directory + "/flush"
    let file = open(path, O_CREAT | O_RDWR, 0o600)
    guard file >= 0 else { throw BenchFailure("cannot write \(path)") }
    defer {
      close(file)
      unlink(path)
    }
    let (start, bytes) = (ContinuousClock.now, [UInt8](repeating: 7, count: Self.size))
    var flushes: [Flushes.Flush] = []
    while ContinuousClock.now - start < length {
      let began = ContinuousClock.now - start
      guard pwrite(file, bytes, bytes.count, off_t(flushes.count % Self.turn * Self.size)) == bytes.count else {
        throw BenchFailure("the disk took no write")
      }
      guard fdatasync(file) == 0 else { throw BenchFailure("the disk kept no write") }
      flushes.append(.init(began: began, ended: ContinuousClock.now - start))
      try await Task.sleep(for: Self.pause)
    }
    return Flushes(flushes)
  }
}
