import Acquiring
import Administration
import ApplePayToken
import Doctor
import Gateway
import HTTPServing
import Hummingbird
import Logging
import MerchantIdentity
import ServiceLifecycle
import Settings
import Synchronization
import TenderPayments

/// The doctor inside a running server, which has the configuration and the store at hand.
struct ServerDoctor: Sendable {
  let parts: Composition

  init(_ parts: Composition) { self.parts = parts }

  /// - Parameters:
  ///   - until: the moment at which validity is judged; nil for now.
  ///   - isDeep: whether every page of the store is read.
  func run(until: Timestamp? = nil, isDeep: Bool) async throws -> DoctorReport {
    let (merchants, problem) = try await storedMerchants()
    let facts = try await facts(isDeep: isDeep, secretsProblem: problem)
    // A network of its own, so that a connection for each identity certificate is closed after the run.
    let network = try Network.live(parts.configuration.outbound)
    let doctor = Doctor(
      DoctorSubject(parts.configuration, stored: merchants),
      .live(network, parts.configuration, clock: parts.runtime.clock), facts: facts, until: until)
    let report = await doctor.run()
    await network.close()
    return report
  }

  /// The checks of the merchants in the store, for a command line that cannot open it beside the server.
  func runOnStoredMerchants(until: Timestamp?) async throws -> DoctorReport {
    let (merchants, problem) = try await storedMerchants()
    let facts = try await facts(isDeep: false, secretsProblem: problem)
    let network = try Network.live(parts.configuration.outbound)
    let doctor = Doctor(
      DoctorSubject(parts.configuration, merchants: merchants.map { ExaminedMerchant($0) }),
      .live(network, parts.configuration, clock: parts.runtime.clock), facts: facts, until: until)
    let report = await doctor.runOnMerchants()
    await network.close()
    return report
  }

  private func storedMerchants() async throws -> (merchants: [StoredMerchant], problem: String?) {
    try await parts.configuration.storedMerchants(parts.database, at: parts.runtime.clock.now())
  }

  func facts(isDeep: Bool) async throws -> ServerFacts {
    try await facts(isDeep: isDeep, secretsProblem: storedMerchants().problem)
  }

  private func facts(isDeep: Bool, secretsProblem: String?) async throws -> ServerFacts {
    let isFile = parts.configuration.store.path != nil
    // Where secrets do not open, the merchants go on as they were read before.
    let former = parts.merchants.current.served
    let served =
      secretsProblem != nil
      ? former
      : try await ServedMerchants(
        parts.configuration, parts.database, parts.gateway.routes, after: former, at: parts.runtime.clock.now())
    return ServerFacts(
      isRunning: true, store: try await StoreFacts(parts.journal, isDeep: isDeep && isFile),
      routes: await CredentialReport.all(parts.gateway.routes),
      openCircuits: parts.breakers.filter(\.value.isOpen).keys.sorted(),
      keys: parts.keys.ring.entries.map { KeyReport(.init($0)) }, lastRecovery: parts.lastRecovery.time,
      openFiles: FileDescriptors.limit, leftOut: served.broken,
      secretsProblem: secretsProblem,
      keysOfErased: try await Privacy.countKeysOfErased(in: parts.configuration.contactKeys, parts.database))
  }
}

/// What `tender doctor` asks of a running server.
struct DoctorController: Sendable {
  let doctor: ServerDoctor

  /// `POST /doctor?until=2028-01-01T00:00:00Z`: every check, now.
  func examine(_ request: Request, _ context: ServerContext) async throws -> Response {
    let until = request.query["until"].flatMap { Timestamp(rfc3339: $0) }
    return JSONAnswer.response(try await doctor.run(until: until, isDeep: true))
  }

  /// `POST /doctor/merchants?until=…`: the checks of the merchants in the store.
  func examineStoredMerchants(_ request: Request, _ context: ServerContext) async throws -> Response {
    let until = request.query["until"].flatMap { Timestamp(rfc3339: $0) }
    return JSONAnswer.response(try await doctor.runOnStoredMerchants(until: until))
  }

  /// `POST /doctor/facts`
  func facts(_ request: Request, _ context: ServerContext) async throws -> Response {
    JSONAnswer.response(try await doctor.facts(isDeep: true))
  }
}

/// Runs the doctor once a minute after the start, then every hour, for the metrics and the log.
struct DoctorService: Service {
  let doctor: ServerDoctor
  let log: DoctorLog
  let scheduler: Scheduler
  let logger: Logger

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var pause = Duration.seconds(60)
      while !Task.isCancelled {
        do { try await scheduler.sleep(pause) } catch { return }
        await examine()
        pause = .seconds(3_600)
      }
    }
  }

  private func examine() async {
    do { note(try await doctor.run(isDeep: false), at: doctor.parts.runtime.clock.now()) } catch {
      logger.warning("the doctor could not run", metadata: ["reason": .string("\(error)")])
    }
  }

  private func note(_ report: DoctorReport, at now: Timestamp) {
    for finding in log.note(report, at: now) where finding.status == .failed || finding.status == .warning {
      logger.warning(
        "doctor: \(finding.finding)",
        metadata: [
          "code": .string(finding.code), "status": .string(finding.status.rawValue),
          "subject": .string(finding.subject), "remedy": .string(finding.remedy),
        ])
    }
  }
}
