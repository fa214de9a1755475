import ArgumentParser
import Foundation
import TenderPayments

/// A moment as it is typed, or a day, which stands for its begin in UTC.
struct Moment: ExpressibleByArgument, Sendable {
  let time: Timestamp
  init?(argument: String) {
    guard let time = Timestamp(rfc3339: argument) ?? Timestamp(rfc3339: argument + "T00:00:00Z") else { return nil }
    self.time = time
  }

  /// - Throws: where the period has no moment, or has not begun.
  static func require(_ from: Moment?, before until: Moment?) throws {
    if let from, let until, until.time <= from.time {
      throw ValidationError("--from \(from.time) is not before --until \(until.time).")
    }
    if let from, from.time > WallClock.system.now() {
      throw ValidationError("--from \(from.time) is later than now, so there is nothing yet.")
    }
  }
}
