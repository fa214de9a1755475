import Administration
import BackOffice
import Gateway
import HTTPServing
import Hummingbird
import Settings

/// The administration, which the command line calls on a socket that only the server's own user can open.
struct AdministrationRoutes: Sendable {
  let payments: PaymentAdministrationController
  let agreements: AgreementAdministrationController
  let keys: KeyAdministrationController
  let webhooks: WebhookAdministrationController
  let reconciliation: ReconciliationController
  let routes: RouteAdministrationController
  let doctor: DoctorController
  let mail: MailAdministrationController
  let shadow: ShadowController
  let merchants: MerchantAdministrationController
  let users: UserAdministrationController
  let restore: RestoreController
  let privacy: PrivacyController

  func add(to router: Router<ServerContext>) {
    let router = router.group().add(middleware: ConfigurationRefusals())
    // `tender payment`
    router.get("/payments", use: payments.newest)
    router.get("/payments/:payment", use: payments.show)
    router.post("/payments/search", use: payments.list)
    router.post("/payments/:payment/resolve", use: payments.resolve)
    router.post("/payments/:payment/:operation", use: payments.operate)
    router.get("/journal/verification", use: payments.verify)

    // `tender agreement`
    router.get("/agreements", use: agreements.list)
    router.get("/agreements/:agreement", use: agreements.show)
    router.post("/agreements/:agreement/charge", use: agreements.charge)
    router.post("/agreements/:agreement/end", use: agreements.end)
    router.post("/agreements/:agreement/change", use: agreements.change)

    // `tender certificate keys` and `retire-key`
    router.get("/keys", use: keys.list)
    router.post("/keys/retire", use: keys.retire)

    // `tender webhooks`
    router.get("/webhooks/deliveries", use: webhooks.deliveries)
    router.get("/webhooks/events", use: webhooks.events)
    router.post("/webhooks/replay", use: webhooks.replay)

    // `tender connector` and `tender route`
    router.get("/routes", use: routes.list)
    router.post("/routes/check", use: routes.check)
    router.post("/routes/explain", use: routes.explain)

    // `tender shadow`
    router.post("/shadow", use: shadow.examine)

    // `tender doctor`
    router.post("/doctor", use: doctor.examine)
    router.post("/doctor/merchants", use: doctor.examineStoredMerchants)
    router.post("/doctor/facts", use: doctor.facts)

    // `tender mail`
    router.get("/mail", use: mail.list)
    router.get("/mail/:mail", use: mail.show)
    router.post("/mail/retry", use: mail.retry)
    router.post("/mail/test", use: mail.test)
    router.post("/mail/warnings", use: mail.warn)

    // `tender reconcile`
    router.post("/reconcile", use: reconciliation.reconcile)

    // `tender restore`
    router.get("/restore", use: restore.show)
    router.post("/restore/gap", use: restore.acceptGap)
    router.post("/restore/schedules", use: restore.resumeSchedules)
    router.post("/restore/:source", use: restore.adopt)

    // `tender merchant`, `certificate`, `domain` and `secret`
    router.post("/merchants/calls", use: merchants.perform)

    // `tender reload`
    router.post("/merchants/reload", use: merchants.reload)

    // `tender user`
    router.post("/users/calls", use: users.perform)

    // `tender privacy`
    router.post("/privacy/export", use: privacy.export)
    router.post("/privacy/erase", use: privacy.erase)
  }
}

/// Answers what the configuration or a merchant's settings do not allow, whatever call met it.
private struct ConfigurationRefusals: RouterMiddleware {
  func handle(
    _ request: Request, context: ServerContext, next: (Request, ServerContext) async throws -> Response
  ) async throws -> Response {
    do { return try await next(request, context) } catch let error as ConfigurationError {
      throw Problem(.conflict, "merchant_not_served", "\(error)")
    }
  }
}

extension AdministrationRoutes {
  init(_ parts: Composition, _ office: BackOffice) {
    payments = PaymentAdministrationController(
      administration: PaymentAdministration(
        gateway: parts.gateway, journal: parts.journal, random: parts.runtime.random))
    agreements = AgreementAdministrationController(administration: payments.administration)
    keys = KeyAdministrationController(keys: parts.keys, clock: parts.runtime.clock)
    webhooks = WebhookAdministrationController(
      administration: WebhookAdministration(parts.database), merchants: parts.merchants)
    reconciliation = ReconciliationController(reconciliation: parts.reconciliation)
    doctor = DoctorController(doctor: ServerDoctor(parts))
    mail = MailAdministrationController(
      administration: MailAdministration(parts.database), environment: parts.configuration.environment,
      mail: parts.mail)
    shadow = ShadowController(gateway: parts.gateway, configuration: parts.configuration, apple: parts.apple)
    routes = RouteAdministrationController(
      routes: parts.gateway.routes, breakers: parts.breakers, merchants: parts.merchants)
    merchants = MerchantAdministrationController(
      administration: office.services.merchants, merchants: parts.merchants)
    users = UserAdministrationController(office: office)
    restore = RestoreController(
      administration: RestoreAdministration(parts.journal, gateway: parts.gateway))
    privacy = PrivacyController(privacy: Privacy(parts.database))
  }
}
