import Foundation
import LoadGenerator

/// How long the disk takes to keep what a commit under load writes, with nothing else at work: a payment that waits for
/// two of them cannot be faster, and where a flush now and then takes long, one payment in so many does.
struct DiskFlush {
  /// Bytes, about what twenty payments write.
  private static let size = 100_000
  /// Of a write-ahead log that begins anew: a file that grows is slower.
  private static let turn = 160
  private static let pause: Duration = .milliseconds(5)

  let directory: String

  /// Milliseconds.
  func measure(for length: Duration) async throws -> Latencies {
    let path = directory + "/flush"
    let file = open(path, O_CREAT | O_RDWR, 0o600)
    guard file >= 0 else { throw BenchFailure("cannot write \(path)") }
    defer {
      close(file)
      unlink(path)
    }
    let (start, bytes) = (ContinuousClock.now, [UInt8](repeating: 7, count: Self.size))
    var times: [Int64] = []
    while ContinuousClock.now - start < length {
      guard pwrite(file, bytes, bytes.count, off_t(times.count % Self.turn * Self.size)) == bytes.count else {
        throw BenchFailure("the disk took no write")
      }
      let began = ContinuousClock.now
      guard fdatasync(file) == 0 else { throw BenchFailure("the disk kept no write") }
      times.append(Int64((ContinuousClock.now - began).seconds * 1e6))
      try await Task.sleep(for: Self.pause)
    }
    return Latencies(times)
  }
}
