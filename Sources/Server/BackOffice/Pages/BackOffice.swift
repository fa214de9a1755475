package import Administration
import HTTPServing
import HTTPTypes
package import Hummingbird
import Ledger
import Logging
package import Settings
package import Storage
package import TenderPayments
package import Webhooks

/// The operators' web pages: who may sign in, what they see, and what they may change.
///
/// It reads the store itself, and changes what is in it by `Administration` alone.
package struct BackOffice: Sendable {
  let configuration: ServerConfiguration
  let settings: OfficeSettings
  package let services: OfficeServices
  let accounts: OfficeAccounts
  let pages: OfficePages
  /// When this server was started.
  let startedAt: Timestamp
  private let random: RandomBytes
  private let bodies = BodyBudget(OfficeForm.limitOfAll, ofCaller: OfficeForm.fileLimit)

  package init(
    _ configuration: ServerConfiguration, _ services: OfficeServices, _ database: Database, clock: WallClock = .system,
    random: RandomBytes = .system
  ) {
    (self.configuration, self.services, self.random) = (configuration, services, random)
    settings = configuration.officeSettings
    pages = OfficePages(settings)
    startedAt = clock.now()
    accounts = OfficeAccounts(
      configuration, database, mailing: configuration.mail.brand, clock: clock, random: random)
  }

  /// - Parameter actor: who asks, for the audit chain.
  package func users(actor: String = "command line", address: String = "") -> UserAdministration {
    UserAdministration(accounts, settings, actor: actor, address: address) { [merchants = services.merchants] in
      try await merchants.merchant($0) != nil
    }
  }

  func newID() -> String { random.timeOrderedID(clock) }

  var database: Database { accounts.database }
  var clock: WallClock { accounts.clock }
  var gate: OfficeGate {
    OfficeGate(accounts: accounts, settings: settings, pages: pages, random: random, bodies: bodies)
  }

  /// Every address of the office.
  package func router() -> Router<OfficeContext> {
    let (router, gate) = (Router(context: OfficeContext.self, options: [.autoGenerateHeadEndpoints]), gate)
    for route in routes {
      router.on(RouterPath(route.path), method: route.method) { request, context in
        await gate.answer(request, context, route)
      }
    }
    router.add(middleware: NoSuchPage(gate: gate))
    return router
  }

  /// Who may call an address of the router; nil for one that is not the office's own.
  package func access(_ method: HTTPRequest.Method, _ path: RouterPath) -> Access? {
    let method = method == .head ? .get : method
    return routes.first { $0.method == method && RouterPath($0.path).description == path.description }?.access
  }

  private var routes: [OfficeRoute] {
    SignInController(office: self).routes + PasskeyController(office: self).routes
      + OpenIDController(office: self).routes + AccountController(office: self).routes
      + FormatController(office: self).routes
      + PaymentListController(office: self).routes + PaymentController(office: self).routes
      + AgreementController(office: self).routes
      + HomeController(office: self).routes + OverviewController(office: self).routes
      + WebhookController(office: self).routes + MerchantController(office: self).routes
      + UserController(office: self).routes + RecordController(office: self).routes
      + ReconciliationController(office: self).routes + SequenceController(office: self).routes
      + PrivacyController(office: self).routes + PartsController(office: self).routes
  }
}

/// What the office is handed: the administration of the running server, and what the server knows of its surroundings.
package struct OfficeServices: Sendable {
  package let payments: PaymentAdministration
  package let merchants: MerchantAdministration
  package let reconciliation: Reconciliation
  /// The state of the server's surroundings, as it was last looked at.
  package let health: @Sendable () async throws -> OfficeHealth
  /// Has the doctor look at the surroundings now.
  package var checkAgain: @Sendable () async throws -> Void = {}
  package let webhooks: WebhookDispatcher
  /// The calls of the newest baskets, the newest basket first; nil outside `simulated`.
  package var sequences: (@Sendable () -> [OfficeSequence])?
  /// The provider at which operators sign in; nil for none.
  package var openID: OpenIDProvider?

  package init(
    payments: PaymentAdministration, merchants: MerchantAdministration, reconciliation: Reconciliation,
    webhooks: WebhookDispatcher, health: @escaping @Sendable () async throws -> OfficeHealth
  ) {
    (self.payments, self.merchants) = (payments, merchants)
    (self.reconciliation, self.webhooks, self.health) = (reconciliation, webhooks, health)
  }
}

/// What the server knows of its surroundings.
package struct OfficeHealth: Sendable {
  package struct Route: Sendable {
    package let name: String
    /// Whether calls are suspended because the provider does not answer.
    package let isSuspended: Bool

    package init(name: String, isSuspended: Bool) { (self.name, self.isSuspended) = (name, isSuspended) }
  }

  /// A finding of the doctor's that is not good.
  package struct Finding: Sendable {
    package let code: String
    package let subject: String
    package let meaning: String
    package let remedy: String
    package let isError: Bool

    package init(code: String, subject: String, meaning: String, remedy: String, isError: Bool) {
      (self.code, self.subject, self.meaning) = (code, subject, meaning)
      (self.remedy, self.isError) = (remedy, isError)
    }
  }

  package let routes: [Route]
  package let findings: [Finding]
  /// When the doctor found them; nil before its first run.
  package let checkedAt: Timestamp?

  package init(routes: [Route], findings: [Finding], checkedAt: Timestamp? = nil) {
    (self.routes, self.findings, self.checkedAt) = (routes, findings, checkedAt)
  }
}

/// Answers addresses that the office does not have with a page of its own.
struct NoSuchPage: RouterMiddleware {
  let gate: OfficeGate

  func handle(
    _ request: Request, context: OfficeContext, next: (Request, OfficeContext) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch let error as HTTPError where error.status == .notFound {
      let route = OfficeRoute(method: request.method, path: "", access: .everyone) { _ in throw OfficeRefusal.nothing }
      let response = await gate.answer(request, context, route)
      return request.method == .head ? response.createHeadResponse() : response
    }
  }
}
