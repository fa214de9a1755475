import Doctor
import Synchronization

/// What the doctor found last.
final class DoctorLog: Sendable {
  private let last = Mutex<[DoctorFinding]>([])

  /// - Returns: what is new since the last time.
  func note(_ report: DoctorReport) -> [DoctorFinding] {
    last.withLock { last in
      let known = Set(last)
      last = report.checks
      return report.checks.filter { !known.contains($0) }
    }
  }

  /// The findings of the last time.
  var findings: [DoctorFinding] { last.withLock(\.self) }

  /// One a check and subject: 1 while it fails or warns. What was skipped or not reached has none.
  var gauges: [Gauge] {
    last.withLock(\.self).filter { $0.status != .skipped && $0.status != .notReachable }.map { finding in
      Gauge(
        name: "tender_doctor_check", help: "1 while a check of the doctor fails or warns, by code and subject.",
        labels: ["code": finding.code, "subject": finding.subject], value: finding.status == .ok ? 0 : 1)
    }
  }
}
