import Doctor
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import StrictJSON
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// One thing that is broken, and what the doctor must say of it.
struct Fault: Sendable, CustomTestStringConvertible {
  let code: String
  let status: DoctorStatus
  let apply: @Sendable (inout Clinic) throws -> Void

  init(_ code: String, _ status: DoctorStatus = .failed, _ apply: @escaping @Sendable (inout Clinic) throws -> Void) {
    (self.code, self.status, self.apply) = (code, status, apply)
  }

  var testDescription: String { "\(code) \(status.rawValue)" }
}

@Suite struct `The doctor` {
  @Test func `finds nothing wrong with a healthy configuration`() async throws {
    let report = try await Clinic().examine()
    let trouble = report.checks.filter { $0.status != .ok && $0.status != .skipped }
    #expect(trouble.isEmpty && report.isHealthy, "\(trouble)")
  }

  @Test func `finds nothing wrong with a PostgreSQL that is as it ought to be`() async throws {
    var clinic = try Clinic()
    clinic.database([:])
    let found = try await clinic.examine().checks.filter { $0.code.hasPrefix("database_") }
    #expect(found.count == 5 && found.allSatisfy { $0.status == .ok }, "\(found)")
  }

  @Test(arguments: Fault.all) func `names what is broken, what it means and what to do`(_ fault: Fault) async throws {
    var clinic = try Clinic()
    try fault.apply(&clinic)
    let report = try await clinic.examine()
    let found = report.checks.filter { $0.code == fault.code && $0.status == fault.status }
    #expect(!found.isEmpty, "\(report.checks.filter { $0.code == fault.code })")
    #expect(found.allSatisfy { !$0.meaning.isEmpty && !$0.remedy.isEmpty && !$0.subject.isEmpty })
    #expect(report.isHealthy == !report.checks.contains { $0.status == .failed })
  }

  @Test func `has seen every check fail`() {
    let unlike = Set(Fault.all.map(\.code)).symmetricDifference(DoctorCheck.all.map(\.code))
    #expect(unlike.isEmpty, "\(unlike.sorted()): each check has a Fault in DoctorFaults.swift, and stands in its group")
    #expect(DoctorCheck.all.count >= 40)
    #expect(Set(DoctorCheck.all.map(\.code)).count == DoctorCheck.all.count)
  }

  @Test func `reports with --until what will have expired by then`() async throws {
    let clinic = try Clinic()
    let later = clinic.now.adding(.seconds(86_400 * 365 * 3))
    let report = try await clinic.examine(until: later)
    let expired = report.checks.filter { $0.status == .failed }
    #expect(Set(expired.map(\.code)) == ["certificate_expiry", "tls_expiry"], "\(expired)")
    #expect(expired.allSatisfy { $0.finding.contains("before \(later)") })
  }

  @Test(arguments: [(59, 60), (29, 30), (13, 14), (6, 7), (2, 3), (0, 1)])
  func `warns at 60, 30, 14, 7, 3 and 1 days before the end`(_ left: Int64, _ threshold: Int) async throws {
    var clinic = try Clinic()
    clinic.handshakes["shop.example"] = try SiteCertificate.handshake(days: left, at: clinic.now)
    let report = try await clinic.examine()
    let found = report.checks.first { $0.code == "tls_expiry" }
    #expect(found?.status == .warning)
    #expect(found?.finding.contains("less than \(threshold) day") == true, "\(String(describing: found))")
  }

  @Test func `reports as not reachable what an offline machine cannot reach`() async throws {
    var clinic = try Clinic()
    (clinic.addresses, clinic.answers) = ([:], [:])
    clinic.replace("webhooks: [\"orders=https://hooks.example/tender\"]", "")
    let report = try await clinic.examine()
    for code in ["dns_resolves", "apple_reachable", "apple_session", "clock"] {
      let found = report.checks.filter { $0.code == code }
      #expect(!found.isEmpty && found.allSatisfy { $0.status == .notReachable }, "\(found)")
    }
  }

  @Test func `opens with an RSA key what it sealed to its certificate`() async throws {
    let clinic = try Clinic()
    let request = try CertificateRequest.processingInMainlandChina()
    try clinic.text(SiteCertificate.processing(request.privateKeyPEM, at: clinic.now), "processing/1.pem")
    try clinic.secret(request.privateKeyPEM, "processing/1.key")
    let found = try await clinic.examine().checks.filter { $0.code.hasPrefix("self_test") }
    #expect(found.map(\.status) == [.ok] && found[0].finding.contains("RSA_v1"), "\(found)")
  }

  @Test func `says nothing of a private key or a secret`() async throws {
    for fault in Fault.all where fault.code.hasPrefix("certificate") || fault.code.hasPrefix("self_test") {
      var clinic = try Clinic()
      try fault.apply(&clinic)
      let key = try Clinic.material.get().processing.key.split(separator: "\n")[1]
      let text = String(decoding: try JSONEncoder().encode(try await clinic.examine()), as: UTF8.self)
      #expect(!text.contains(key) && !text.contains("aaaaaaaaaaaa"))
    }
  }

  @Test func `gets from a running server what only the server knows`() async throws {
    let system = try await TestSystem.shared.value
    // The first round of recovery may still be under way.
    let facts = try await waitFor(
      "a round of recovery that has ended", { try await system.admin("POST", "/doctor/facts") }
    ) { $0["lastRecovery"] != nil && $0["lastRecovery"] != .null }
    #expect(facts["isRunning"] == .bool(true))
    #expect(facts["store"]?["quickCheck"] == .string("ok"))
    #expect(facts["keys"]?.elements.isEmpty == false)
  }

  @Test func `has the table of docs/doctor.md`() throws {
    #expect(
      try Repository.text("docs/doctor.md").contains(DoctorCheck.page),
      "replace the table by what `tender doctor --checks` prints")
  }
}

extension SiteCertificate {
  static func handshake(
    names: [String] = ["shop.example"], days: Int64 = 300, at now: Timestamp, version: String = "TLSv1.3",
    sendsChain: Bool = true, trustProblem: String? = nil
  ) throws -> TLSHandshake {
    let site = try SiteCertificate(names: names, days: days, at: now)
    return TLSHandshake(
      version: version, chain: sendsChain ? [site.der, site.issuer] : [site.der], trustProblem: trustProblem)
  }
}
