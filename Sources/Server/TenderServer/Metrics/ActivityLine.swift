import Logging
import Telemetry
import TenderPayments

extension Logger {
  /// The line of a call, or of what the server does by itself.
  func note(
    _ activity: Activity?, _ message: Message, _ time: Duration, _ more: Metadata = [:], at level: Level = .info
  ) {
    var metadata = more
    metadata["microseconds"] = .stringConvertible(time.microseconds)
    for (key, value) in activity?.line ?? [] where metadata[key] == nil {
      switch value {
      case .text(let text): metadata[key] = .string(text)
      case .number(let number): metadata[key] = .stringConvertible(number)
      }
    }
    log(level: level, message, metadata: metadata)
  }
}
