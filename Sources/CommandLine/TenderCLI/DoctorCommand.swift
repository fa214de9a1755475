import ArgumentParser
import CommandSupport
import Doctor
import Foundation
import HTTPTransport
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import TenderServer

/// `tender doctor`
struct DoctorCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "doctor", abstract: "Checks everything between a shopper and the bank, and says what to do.",
    discussion: """
      Looks at the configuration, files, certificates, domains, association files, Apple's gateway, routes, webhooks, the \
      store and the machine. Nothing is changed and no money moves. What the network does not let it reach is reported \
      as not reachable. --port, or --store alone, has the server that runs examine the settings that it was started \
      with, as a demo's must be. Exit code 1 when a check failed. docs/doctor.md lists the checks.
      """)

  @OptionGroup var place: StoreOptions
  @Option(help: "Report what will have expired by this date, for example 2028-01-01.") var until: Moment?
  @Flag(help: "Print also the checks that passed or were skipped.") var all = false
  @Flag(help: "List the checks, in Markdown: the table of docs/doctor.md.") var checks = false
  @Flag(help: "Ask only whether the running server is ready, for a health check. Exit code 1 when it is not.")
  var ready = false
  @Flag(help: "Print JSON.") var json = false

  func validate() throws {
    guard until.map({ $0.time > WallClock.system.now() }) ?? true else {
      throw ValidationError("--until is a date to come: what has expired is reported without it.")
    }
  }

  func run() async throws {
    guard !checks else { return Terminal.say(String(DoctorCheck.page.dropLast())) }
    guard !ready else {
      let answer: [String: String] = try await place.access().askServer("GET", "/readyz")
      return Terminal.say(json ? try Terminal.json(answer) : "the server is ready")
    }
    let report = try await examine()
    if json { Terminal.say(try Terminal.json(report)) } else { DoctorText(report: report, showsAll: all).show() }
    guard report.isHealthy else { throw ExitCode(1) }
  }

  private var query: String { until.map { "?until=\("\($0.time)".inQuery)" } ?? "" }

  /// The store that the call names, over the configuration's.
  private var storeFlag: [String: String] {
    place.store.map { [StorePlace($0).path == nil ? "store.url" : "store.path": $0] } ?? [:]
  }

  func examine() async throws -> DoctorReport {
    guard place.config != nil || (place.port == nil && place.store == nil) else {
      return try await place.access().askServer("POST", "/doctor\(query)")
    }
    var subject: DoctorSubject
    do { subject = try DoctorSubject.read(file: place.config, flags: storeFlag) } catch let error as ConfigurationError
    {
      throw MistakenCall("\(error)")
    }
    let (facts, problem, refusal) = await facts(of: subject)
    let stored = await storedMerchants(of: subject, isRunning: facts?.isRunning ?? false)
    if facts?.isRunning == true, let store = subject.store.path, DemoFolder.holds(store) {
      Terminal.sayError(
        "Note: \(store) is a demo's, which has settings of its own: `tender doctor --store \(Shell.quoted(store))` has "
          + "the demo examine those")
    }
    subject = subject.with(stored.merchants)
    let network = try Network.live(subject.configuration.outbound)
    let doctor = Doctor(
      subject, .live(network, subject.configuration), facts: facts, factsProblem: problem,
      serverRefusal: refusal ?? stored.refusal, secretsProblem: stored.problem, until: until?.time)
    let report = await doctor.run()
    await network.close()
    return DoctorReport(in: report.environment, checks: report.checks + stored.findings)
  }

  /// The merchants in the store, or what the server that holds the store found of them.
  private func storedMerchants(
    of subject: DoctorSubject, isRunning: Bool
  ) async -> (merchants: [StoredMerchant], findings: [DoctorFinding], problem: String?, refusal: String?) {
    if isRunning {
      let access = StoreAccess(subject.store, socket: subject.adminSocketPath)
      do {
        let report: DoctorReport = try await access.askServer("POST", "/doctor/merchants\(query)")
        return ([], report.checks, nil, nil)
      } catch { return ([], [], nil, ErrorLine.text(for: error)) }
    }
    // A store that cannot be opened is `store_opens`' finding.
    let stored = try? await subject.storedMerchants()
    return (stored?.merchants ?? [], [], stored?.problem, nil)
  }

  /// From the server that holds the store, or from the file when none does. A server that refuses is there.
  private func facts(of subject: DoctorSubject) async -> (ServerFacts?, problem: String?, refusal: String?) {
    if let path = subject.store.path, !FileManager.default.fileExists(atPath: path) {
      return (nil, "there is no store yet", nil)
    }
    let access = StoreAccess(subject.store, socket: subject.adminSocketPath)
    do {
      let facts: ServerFacts? = try await access.askServerIfRunning("POST", "/doctor/facts")
      if let facts { return (facts, nil, nil) }
    } catch { return (nil, nil, ErrorLine.text(for: error)) }
    do {
      let facts = try await FolderOwner.asOwner(besides: subject.store.path) {
        try await ServerFacts(store: subject.store, keys: subject.configuration.contactKeys)
      }
      return (facts, nil, nil)
    } catch {
      return (nil, ErrorLine.text(for: error), nil)
    }
  }
}

/// The report for a person: what is not well, with its meaning and remedy, and a count of the rest.
struct DoctorText {
  let report: DoctorReport
  let showsAll: Bool
  /// Without meanings and remedies.
  var isBrief = false

  func show() {
    if let environment = report.environment { Terminal.say("environment \(environment.rawValue)") }
    for finding in report.checks where showsAll || isTrouble(finding) { show(finding) }
    let counts = DoctorStatus.allCases.compactMap { status in
      let count = report.checks.count { $0.status == status }
      return count == 0 ? nil : "\(count) \(status.words)"
    }
    Terminal.say(counts.joined(separator: ", "))
  }

  private func isTrouble(_ finding: DoctorFinding) -> Bool { finding.status != .ok && finding.status != .skipped }

  private func show(_ finding: DoctorFinding) {
    let style: Terminal.Style = finding.status == .failed ? .red : finding.status == .ok ? .green : .bold
    Terminal.say(
      "\(Terminal.styled(finding.status.words, style)) \(finding.code) \(finding.subject): \(finding.finding)")
    guard isTrouble(finding), !isBrief else { return }
    Terminal.say("  \(finding.meaning)")
    if !finding.remedy.isEmpty { Terminal.say("  Remedy: \(finding.remedy)") }
  }
}

extension DoctorStatus {
  fileprivate var words: String { self == .notReachable ? "not reachable" : rawValue }
}
