package import TenderPayments

/// What the doctor can look at: one row of the table in docs/doctor.md. A check is defined beside the code that does it.
package struct DoctorCheck: Sendable, Hashable {
  /// Stable: alerts and scripts depend on it.
  package let code: String
  /// What holds when the check passes.
  package let claim: String
  /// What happens to payments when it does not.
  package let meaning: String
  /// What the operator does then.
  package let remedy: String

  init(_ code: String, _ claim: String, meaning: String, remedy: String) {
    (self.code, self.claim, self.meaning, self.remedy) = (code, claim, meaning, remedy)
  }
}

/// The result of one check.
package enum DoctorStatus: String, Sendable, Hashable, Codable, CaseIterable {
  case ok
  /// It works, and somebody should act before it stops.
  case warning
  case failed
  /// It was tried, and the network or the other side is not there.
  case notReachable = "not_reachable"
  /// It was not tried: something that it needs is missing, or does not apply.
  case skipped
}

/// What one check found of one thing: a file, a certificate, a domain, a route.
package struct DoctorFinding: Sendable, Hashable, Codable {
  package let code: String
  package let status: DoctorStatus
  package let subject: String
  package let finding: String
  package let meaning: String
  /// Empty where there is nothing to do.
  package let remedy: String
}

/// All that the doctor found, in the order of the groups.
package struct DoctorReport: Sendable, Hashable, Codable {
  /// Nil where some of the checks were done alone.
  package let environment: TenderPayments.Environment?
  package let checks: [DoctorFinding]

  package init(in environment: TenderPayments.Environment? = nil, checks: [DoctorFinding]) {
    (self.environment, self.checks) = (environment, checks)
  }

  /// Whether no check failed. Warnings, and what could not be reached, are no failures.
  package var isHealthy: Bool { !checks.contains { $0.status == .failed } }
}

extension DoctorCheck {
  func ok(_ subject: String, _ finding: String) -> DoctorFinding { found(.ok, subject, finding, remedy: "") }

  func warning(_ subject: String, _ finding: String, remedy: String? = nil) -> DoctorFinding {
    found(.warning, subject, finding, remedy: remedy ?? self.remedy)
  }

  func failed(_ subject: String, _ finding: String, remedy: String? = nil) -> DoctorFinding {
    found(.failed, subject, finding, remedy: remedy ?? self.remedy)
  }

  func notReachable(_ subject: String, _ finding: String, remedy: String? = nil) -> DoctorFinding {
    found(.notReachable, subject, finding, remedy: remedy ?? self.remedy)
  }

  func skipped(_ subject: String, _ finding: String) -> DoctorFinding { found(.skipped, subject, finding, remedy: "") }

  /// `ok` where the condition holds, and failed where it does not.
  func require(_ holds: Bool, _ subject: String, ok: String, failed: String, remedy: String? = nil) -> DoctorFinding {
    holds ? self.ok(subject, ok) : self.failed(subject, failed, remedy: remedy)
  }

  private func found(
    _ status: DoctorStatus, _ subject: String, _ finding: String, remedy: String
  ) -> DoctorFinding {
    DoctorFinding(
      code: code, status: status, subject: subject, finding: finding, meaning: status == .ok ? claim : meaning,
      remedy: remedy)
  }
}
