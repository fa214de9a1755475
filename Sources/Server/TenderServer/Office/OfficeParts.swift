import Acquiring
import Connectors
package import BackOffice
import Gateway
import HTTPServing
import Hummingbird
import Ledger
import Logging
import MerchantIdentity
import NIOCore
import Orders
package import Settings
package import Storage
import StrictJSON
import TenderPayments

/// The back office of a running server: what it is handed.
struct OfficeParts: Sendable {
  let parts: Composition
  let administration: PaymentAdministration
  /// Reads the merchants again after a change.
  let reload: @Sendable () async throws -> Void
  /// The merchants as they were read last.
  let served: @Sendable () -> ServedMerchants

  init(
    _ parts: Composition, reload: @escaping @Sendable () async throws -> Void,
    served: @escaping @Sendable () -> ServedMerchants
  ) {
    (self.parts, self.served) = (parts, served)
    self.reload = { [logger = parts.runtime.logger] in
      do { try await reload() } catch {
        // It may name another merchant.
        logger.error("the merchants were not read again", metadata: ["reason": .string("\(error)")])
        throw OfficeRefusal.refused(
          "The running server goes on with the merchants that it had. Its log says why; the operator of the server can "
            + "read it.")
      }
    }
    administration = PaymentAdministration(
      gateway: parts.gateway, journal: parts.journal, random: parts.runtime.random)
  }

  /// Reads the merchants again, and waits until the other servers on the store have done so too: Apple's call may come to
  /// any of them.
  private var reloadEverywhere: @Sendable () async throws -> Void {
    let (reload, isShared, scheduler) = (reload, parts.database.isShared, parts.runtime.scheduler)
    return {
      try await reload()
      if isShared { try await scheduler.sleep(MerchantPolling.interval * 2) }
    }
  }

  func office() throws -> BackOffice {
    let (configuration, runtime) = (parts.configuration, parts.runtime)
    let merchantCalls = MerchantAdministration(
      configuration, parts.database, clock: runtime.clock, random: runtime.random)
    let merchants = ServerMerchants(
      administration: merchantCalls,
      apple: AppleRegistration(
        administration: merchantCalls, network: runtime.network,
        checks: CallsUnderWay(parts.budget.domainChecks, ofMerchant: 4), reload: reloadEverywhere),
      reload: reload, served: served)
    var services = OfficeServices(
      vault: StoreVault(configuration: configuration, database: parts.database, random: runtime.random),
      payments: ServerPayments(administration: administration), merchants: merchants,
      reconciliation: ServerReconciliation(routes: parts.gateway.routes, journal: parts.journal),
      webhooks: ServerWebhooks(parts), health: { [parts] in parts.officeHealth }, settings: configuration.shownSettings)
    services.mail = OfficeMail(parts)
    if let store = parts.traces?.store { services.sequences = { store.sequences } }
    return try BackOffice(
      configuration.officeSettings, services, parts.database, clock: runtime.clock, random: runtime.random)
  }
}

extension BackOffice {
  /// For `tender user`, while no server runs: users alone.
  package static func users(_ configuration: ServerConfiguration, _ database: Database) throws -> BackOffice {
    let none = NoServer(administration: MerchantAdministration(configuration, database))
    let services = OfficeServices(
      vault: StoreVault(configuration: configuration, database: database, random: .system),
      payments: none, merchants: none, reconciliation: none, webhooks: none,
      health: { OfficeHealth(routes: [], findings: []) }, settings: [])
    return try BackOffice(configuration.officeSettings, services, database)
  }
}

/// Stands where no server runs: `tender user` asks whether a merchant is there, and calls nothing else.
private struct NoServer: PaymentUseCases, MerchantUseCases, ReconciliationUseCase, WebhookUseCases {
  let administration: MerchantAdministration
  let routes: [String] = []
  private var refusal: OfficeRefusal { .refused("No server runs.") }

  func perform(
    _ verb: PaymentVerb, on payment: PaymentID, amount: String?, isFinal: Bool, key: String,
    adding addition: ReservationAddition?
  ) throws -> String {
    throw refusal
  }
  func resolve(_ payment: PaymentID, as: Resolution, operation: AttemptReference?, note: String) throws -> String {
    throw refusal
  }
  func endpoints(of merchant: MerchantID) -> [OfficeEndpoint] { [] }
  func sendTest(to endpoint: OfficeEndpoint, of merchant: MerchantID) throws -> String? { throw refusal }
  func add(_ merchant: NewOfficeMerchant, actor: String) throws { throw refusal }
  func registration(of merchant: MerchantID) throws -> OfficeRegistration? { throw refusal }
  func publishTerms(_ version: String, wording: String, graceDays: Int64) throws { throw refusal }
  func export(_ merchant: MerchantID) throws -> [UInt8] { throw refusal }
  func exported(_ file: [UInt8]) throws -> ExportedMerchant { throw refusal }
  func take(_ merchant: ExportedMerchant) throws { throw refusal }
  func merchants() throws -> [OfficeMerchant] { throw refusal }
  func merchant(_ id: MerchantID) async throws -> OfficeMerchant? {
    try await OfficeRefusal.translating { try await administration.reports(only: id) }.first.map { report in
      OfficeMerchant(
        id: id, identifier: report.merchantIdentifier, isDeclared: administration.isDeclared(report.id),
        isEnabled: report.enabled, refusal: report.problem ?? report.refusal)
    }
  }
  func differences(at route: String, _ period: Range<Timestamp>) throws -> [OfficeDifference] { throw refusal }
  func differences(from report: [UInt8], at route: String?) throws -> [OfficeDifference] { throw refusal }
  func parts(of merchant: MerchantID) throws -> OfficeMerchantParts { throw refusal }
  func perform(_ change: MerchantChange, on merchant: MerchantID, actor: String) throws -> MerchantChangeResult {
    throw refusal
  }
}

/// Keeps the secrets of one-time codes among the sealed secrets of the store, so that the rotation of the store's key
/// takes them along.
private struct StoreVault: OfficeVault {
  let configuration: ServerConfiguration
  let database: Database
  let random: RandomBytes

  func secret(of user: String) async throws -> OneTimeCodeSecret? {
    let store = try await configuration.merchantStore(database, random: random)
    return try await store.read { try $0.secret(Self.name(user)) }.flatMap(OneTimeCodeSecret.init(hex:))
  }

  func keep(_ secret: OneTimeCodeSecret, of user: String) async throws {
    let (store, text) = (
      try await configuration.merchantStoreMakingKeys(database, random: random), secret.sealedText
    )
    try await store.note { try $0.keep(text, as: Self.name(user)) }
  }

  private static func name(_ user: String) -> SecretName { SecretName(MerchantID(""), .oneTimeCode, user) }
}

/// The use cases of `tender payment`.
private struct ServerPayments: PaymentUseCases {
  let administration: PaymentAdministration

  func perform(
    _ verb: PaymentVerb, on payment: PaymentID, amount: String?, isFinal: Bool, key: String,
    adding addition: ReservationAddition?
  ) async throws -> String {
    func once() async throws -> String {
      try await administration.perform(
        PaymentAdministration.Operation(verb), on: payment, amount: amount, isFinal: isFinal, key: key,
        adding: addition
      ).outcome
    }
    return try await OfficeRefusal.translating { () async throws -> String in
      for _ in 0..<Self.repeats {
        do { return try await once() } catch GatewayError.callInProgress {
          try await Task.sleep(for: .milliseconds(200))
        } catch let problem as Problem where problem.code == "idempotency_key_reused" {
          var refusal = OfficeRefusal.refused(
            "This form was sent before, with another amount. Look at what was done, and send it again if you mean more.",
            at: "amount")
          refusal.isKeySpent = true
          throw refusal
        }
      }
      return try await once()
    }
  }

  /// A second click, or another operator at the same moment, waits so often for the answer of the first call.
  private static let repeats = 20

  func resolve(
    _ payment: PaymentID, as resolution: Resolution, operation: AttemptReference?, note: String
  ) async throws -> String {
    try await OfficeRefusal.translating {
      try await administration.resolve(payment, as: resolution, operation: operation, note: note).outcome
    }
  }
}

/// The use case of `tender reconcile --route`.
private struct ServerReconciliation: ReconciliationUseCase {
  let table: RouteTable
  let journal: Journal

  init(routes: RouteTable, journal: Journal) { (table, self.journal) = (routes, journal) }

  var routes: [String] { table.routes.filter { $0.acquirer.report != nil }.map(\.name) }

  func differences(at route: String, _ period: Range<Timestamp>) async throws -> [OfficeDifference] {
    try await OfficeRefusal.translating {
      try await Reconciliation(journal, routes: table).differences(at: route, period).map(OfficeDifference.init)
    }
  }

  func differences(from report: [UInt8], at route: String?) async throws -> [OfficeDifference] {
    try await OfficeRefusal.translating {
      do {
        return try await Reconciliation(journal, routes: table).differences(from: report, nil, nil, through: route)
          .map(OfficeDifference.init)
      } catch let error as ReportError {
        throw OfficeRefusal.refused("The report cannot be read: \(error).", at: "report")
      }
    }
  }
}

extension OfficeDifference {
  fileprivate init(_ difference: Difference) {
    self.init(
      kind: difference.kind.rawValue, reference: difference.reference.rawValue, payment: difference.payment,
      here: difference.here, there: difference.there)
  }
}

extension PaymentAdministration.Operation {
  fileprivate init(_ verb: PaymentVerb) {
    self =
      switch verb {
      case .capture: .capture
      case .void: .void
      case .refund: .refund
      case .inquire: .inquire
      case .acknowledge: .acknowledge
      }
  }
}

extension OfficeRefusal {
  /// Says in words what the server refuses; what is our own fault is thrown on.
  static func translating<R>(_ work: () async throws -> R) async throws -> R {
    do { return try await work() } catch let refusal as OfficeRefusal { throw refusal } catch {
      let problem = ProblemTable.problem(for: error)
      if let error = error as? ConfigurationError {
        throw fields[error.key].map { refused(error.reason, at: $0) } ?? refused("\(error)")
      }
      if let error = error as? MerchantIdentityError {
        throw refused("\(error.reason) \(error.advice)", at: fields[error.code.rawValue] ?? "certificate")
      }
      guard problem.status.code < 500 || problem.status == .serviceUnavailable else { throw error }
      throw refused(problem.detail, at: fields[problem.code])
    }
  }

  /// How an attempt that this error ended stands in the audit chain.
  static func ending(_ error: any Error) async -> (end: AttemptEnd, words: String) {
    do { return try await translating { throw error } } catch { return AttemptEnd.of(error) }
  }

  /// The forms' fields by what is wrong with them: an option of the command line, or the code of an error.
  private static let fields = [
    "--id": "id", "--merchant-identifier": "identifier", "--name": "name", "--country": "country",
    "--currency": "currency", "--domain": "domains", "bad_domain": "domain", "duplicate_domain": "domain",
    "bad_association_file": "association", "amount_exceeds_available": "amount", "invalid_amount": "amount",
    "amount_too_fine_for_acquirer": "amount", "unknown_route": "route", "no_listing": "route",
    "nothing_to_compare": "report", "webhooks": "url",
  ]
}

extension Composition {
  fileprivate var officeHealth: OfficeHealth {
    OfficeHealth(
      routes: gateway.routes.routes.map { .init(name: $0.name, isSuspended: breakers[$0.name]?.isOpen ?? false) },
      findings: doctor.findings.filter { $0.status == .failed || $0.status == .warning }.map {
        .init(
          code: $0.code, subject: $0.subject, meaning: $0.finding, remedy: $0.remedy, isError: $0.status == .failed)
      })
  }
}

extension ServerConfiguration {
  fileprivate var officeSettings: OfficeSettings {
    var settings = OfficeSettings(
      url: office.url ?? "http://localhost:\(office.port ?? 0)", environment: environment.rawValue,
      isSimulated: environment == .simulated)
    settings.isServed = office.url != nil || office.port != nil
    settings.sessions.idle = .seconds(office.idleMinutes * 60)
    settings.sessions.whole = .seconds(office.sessionHours * 3_600)
    settings.passwordCost = office.passwordCost
    return settings
  }

  /// Every setting with its value; secrets masked.
  fileprivate var shownSettings: [(name: String, value: String)] {
    SettingsTable.server.settings.map { setting in
      let text = setting.text(self) ?? ""
      return (setting.key, text.isEmpty ? "–" : setting.isSecret ? "•••" : text)
    }
  }
}

/// `POST /users/calls` on the administration socket, with a ``UserCall``.
struct UserAdministrationController: Sendable {
  let office: BackOffice

  func perform(_ request: Request, _ context: ServerContext) async throws -> Response {
    let body = try await BodyReader.collect(request, limit: 65_536)
    let call = try RequestBody.refusing {
      try StrictJSONDecoder().decode(UserCall.self, from: body)
    }
    do { return JSONAnswer.response(try await UserAdministration(office).perform(call)) } catch let refusal
      as OfficeRefusal
    {
      throw Problem(.conflict, "office_refused", refusal.reason)
    }
  }
}
