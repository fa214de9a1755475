import Doctor
import Synchronization
import TenderPayments

/// What the doctor found last.
final class DoctorLog: Sendable {
  private let last = Mutex<(findings: [DoctorFinding], time: Timestamp?)>(([], nil))

  /// - Returns: what is new since the last time.
  @discardableResult
  func note(_ report: DoctorReport, at now: Timestamp) -> [DoctorFinding] {
    last.withLock { last in
      let known = Set(last.findings)
      last = (report.checks, now)
      return report.checks.filter { !known.contains($0) }
    }
  }

  /// The findings of the last time, and when that was; nil before the first.
  var latest: (findings: [DoctorFinding], time: Timestamp?) { last.withLock(\.self) }

  /// One a check and subject: 1 while it fails or warns. What was skipped or not reached has none.
  var gauges: [Gauge] {
    latest.findings.filter { $0.status != .skipped && $0.status != .notReachable }.map { finding in
      Gauge(
        name: "tender_doctor_check", help: "1 while a check of the doctor fails or warns, by code and subject.",
        labels: ["code": finding.code, "subject": finding.subject, "status": finding.status.rawValue],
        value: finding.status == .ok ? 0 : 1)
    }
  }
}
