import AcquirerSandbox
import Hummingbird

extension SandboxServer {
  /// Every route of the sandbox's own port: portal, device, management, acquirer, pages.
  func frontRouter() -> Router<SandboxContext> {
    let router = Router(context: SandboxContext.self, options: [.autoGenerateHeadEndpoints])
    router.addMiddleware {
      MediaTypeMiddleware()
      PageAccessMiddleware(host: configuration.host)
      ProblemMiddleware()
    }
    router.get("/", use: pages.front)
    router.get("/device", use: pages.device)
    router.get("/code", use: pages.code)
    router.get("/agreements", use: pages.agreements)
    router.get("/agreements/list", use: merchantTokenRoutes.list)
    router.post("/agreements/:token", use: merchantTokenRoutes.happen)
    router.get("/recent", use: pages.recent)
    router.get("/mail", use: mailboxPages.list)
    router.get("/mail/:number", use: mailboxPages.message)
    router.get("/mail/:number/html", use: mailboxPages.html)
    router.get("/mail/:number/raw", use: mailboxPages.raw)
    PublicFiles.addRoutes(to: router)
    addPhoneWallet(to: router)

    addPortal(to: router)
    addDevice(to: router)
    addManagement(to: router)
    acquirers.addRoutes(to: router)
    return router
  }

  private func addPortal(to router: Router<SandboxContext>) {
    let portal = router.group("portal/merchants")
    portal.get(use: portalRoutes.list)
    portal.post(use: portalRoutes.register)
    portal.get(":merchant", use: portalRoutes.show)
    portal.post(":merchant/certificates", use: portalRoutes.issueCertificate)
    portal.post(":merchant/certificates/:certificate/activate", use: portalRoutes.activate)
    portal.delete(":merchant/certificates/:certificate", use: portalRoutes.revoke)
    portal.post(":merchant/platform", use: portalRoutes.becomePlatform)
    portal.post(":merchant/domains", use: portalRoutes.addDomain)
    portal.post(":merchant/domains/:domain/verify", use: portalRoutes.verifyDomain)
  }

  /// The device of the shopper, and those that are paired with it.
  private func addDevice(to router: Router<SandboxContext>) {
    let device = router.group("device")
    device.get("cards", use: deviceRoutes.cards)
    device.get("contacts", use: deviceRoutes.contacts)
    device.post("sessions/check", use: deviceRoutes.checkSession)
    device.post("tokens", use: deviceRoutes.pay)
    device.get("merchants/:merchant", use: deviceRoutes.availability)
    device.get("paired", use: pairingRoutes.list)
    device.post("confirmations", use: pairingRoutes.ask)
    device.get("confirmations/:confirmation", use: pairingRoutes.confirmation)
    device.post("confirmations/:confirmation/withdraw", use: pairingRoutes.withdraw)
    device.post("sheets", use: phoneWalletRoutes.open)
    device.post("sheets/pair", use: phoneWalletRoutes.pair)
    device.post("sheets/:sheet", use: phoneWalletRoutes.exchange)
    device.post("sheets/:sheet/close", use: phoneWalletRoutes.close)

    let paired = router.group("paired")
    paired.post(use: pairingRoutes.pair)
    paired.get(":device/confirmation", use: pairingRoutes.waiting)
    paired.post(":device/answer", use: pairingRoutes.answer)
    paired.post(":device/leave", use: pairingRoutes.leave)
  }

  /// The page of a phone that scanned a sheet's code, and its calls.
  private func addPhoneWallet(to router: Router<SandboxContext>) {
    router.get("/wallet", use: pages.wallet)
    router.post("/wallet/pair", use: phoneWalletRoutes.pair)
    router.get("/wallet/:wallet", use: phoneWalletRoutes.show)
    router.post("/wallet/:wallet/choices", use: phoneWalletRoutes.choose)
  }

  /// What phones on the network reach: that page, and nothing else of the sandbox.
  func phoneWalletRouter() -> Router<SandboxContext> {
    let router = Router(context: SandboxContext.self, options: [.autoGenerateHeadEndpoints])
    router.addMiddleware {
      MediaTypeMiddleware()
      ProblemMiddleware()
    }
    addPhoneWallet(to: router)
    PublicFiles.addWalletRoutes(to: router)
    return router
  }

  private func addManagement(to router: Router<SandboxContext>) {
    let management = router.group("sandbox")
    router.get("crl/:file", use: revocationRoutes.list)
    router.post("ocsp/:authority", use: revocationRoutes.statusByPost)
    router.get("ocsp/:authority/**", use: revocationRoutes.statusByGet)
    management.get("ca.json", use: managementRoutes.certificateAuthorities)
    management.get("clock", use: clockRoutes.show)
    management.post("clock", use: clockRoutes.move)
    management.get("state", use: managementRoutes.state)
    management.get("recent", use: pages.recentAsJSON)
    management.get("mail", use: mailboxPages.json)
    management.post("reset-sessions", use: managementRoutes.resetSessions)
    management.post("misbehave", use: managementRoutes.misbehave)
  }

  /// Every route of Apple's gateway.
  func gatewayRouter() -> Router<SandboxContext> {
    let router = Router(context: SandboxContext.self, options: [.autoGenerateHeadEndpoints])
    router.addMiddleware { GatewayErrorMiddleware(activity: activity) }
    router.post("paymentservices/paymentSession", use: gatewayRoutes.paymentSession)
    router.post("paymentservices/startSession", use: gatewayRoutes.startSession)
    router.post("paymentservices/registerMerchant", use: gatewayRoutes.registerMerchant)
    router.post("paymentservices/unregisterMerchant", use: gatewayRoutes.unregisterMerchant)
    router.get("paymentservices/merchant/:merchant", use: gatewayRoutes.merchantDetails)
    let tokens = router.group("paymentservices/v1/merchantId/:merchant/merchantToken")
    tokens.get("event/:event", use: merchantTokenRoutes.event)
    tokens.post("unlink", use: merchantTokenRoutes.unlink)
    return router
  }
}
