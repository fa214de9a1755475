import StrictJSON
import TenderPayments
import TokenIssuer

/// The simulated device: it uses up merchant sessions and issues payment tokens.
///
/// A page needs a merchant session that was opened for the domain in the address bar. A caller that is no page counts as an app, which
/// names the merchant instead.
actor Device {
  private let issuer: PaymentTokenIssuer
  private let portal: DeveloperPortal
  private let sessions: SessionStore
  private let merchantTokens: MerchantTokenStore
  private let faults: InjectedFaults
  private let clock: WallClock
  private(set) var issuedCount = 0

  init(
    issuer: PaymentTokenIssuer, portal: DeveloperPortal, sessions: SessionStore,
    merchantTokens: MerchantTokenStore, faults: InjectedFaults, clock: WallClock
  ) {
    self.merchantTokens = merchantTokens
    self.issuer = issuer
    self.portal = portal
    self.sessions = sessions
    self.faults = faults
    self.clock = clock
  }

  /// The payment token that the shopper authorizes.
  func pay(_ request: DevicePaymentRequest, from caller: DeviceCaller) async throws -> IssuedPaymentToken {
    let merchant = try await merchant(for: request, from: caller)
    guard let certificate = merchant.activeProcessingCertificate(at: clock.now()) else {
      throw SandboxProblem(
        status: 422, code: "no_processing_certificate",
        message: "The merchant has no active payment processing certificate, so nothing can be encrypted to it.")
    }
    if let session = request.merchantSession {
      _ = try await sessions.spend(session, on: caller.topHost, in: request.sheet)
    }
    var contents = PaymentTokenRequest(
      card: request.card, amount: request.amount,
      recipient: try TokenRecipient(certificatePEM: certificate.certificate),
      applicationData: request.applicationData)
    if request.hasAgreement { contents.agreementMerchant = merchant.merchantIdentifier }
    if faults.take(.staleToken) { contents.signingTime = clock.now().adding(.seconds(-600)) }
    var token = try issuer.issue(contents)
    if faults.take(.alteredToken) { token.data[0] ^= 1 }
    if request.hasAgreement {
      try await merchantTokens.note(
        request.card, for: merchant.merchantIdentifier, agreement: request.agreementText,
        notificationURL: request.tokenNotificationURL)
    }
    issuedCount += 1
    return token
  }

  private func merchant(for request: DevicePaymentRequest, from caller: DeviceCaller) async throws -> PortalMerchant {
    guard let presented = request.merchantSession else { return try await merchantWithoutSession(request, caller) }
    let session = try await sessions.check(presented, on: caller.topHost, in: request.sheet)
    guard request.merchantIdentifier == nil || request.merchantIdentifier == session.merchantIdentifier else {
      throw SandboxProblem(
        status: 422, code: "session_merchant_mismatch", message: "The merchant session is another merchant's.")
    }
    return try await portal.merchant(session.merchantIdentifier)
  }

  private func merchantWithoutSession(_ request: DevicePaymentRequest, _ caller: DeviceCaller) async throws
    -> PortalMerchant
  {
    guard case .program = caller else {
      throw SandboxProblem(
        status: 400, code: "session_required", message: "A page pays with the merchant session that its server got.")
    }
    guard let identifier = request.merchantIdentifier else {
      throw SandboxProblem(
        status: 400, code: "invalid_request",
        message: "Name the merchant by publicKeyOf, or present a merchantSession.")
    }
    return try await portal.merchant(identifier)
  }
}

/// The caller that asks the device to pay.
enum DeviceCaller: Sendable, Hashable {
  /// A document of this host, as its browser says, in the page of a host that a frame does not share with it.
  case page(host: String, topHost: String)
  /// No browser: an app, or a test in place of one.
  case program

  /// From the header `Origin`, which browsers set and pages cannot forge. An origin without a host matches no domain.
  ///
  /// - Parameter topHost: the host in the address bar, as the sheet's script names it; nil for the document's own.
  init(origin: String?, topHost: String? = nil) {
    guard let origin else {
      self = .program
      return
    }
    let authority = origin.split(separator: "/").dropFirst().first ?? ""
    let host = String(authority.split(separator: ":").first ?? "")
    self = .page(host: host, topHost: topHost ?? host)
  }

  /// The host of the document that asks, in a frame or not: by it a device says whether the merchant has a card here.
  var host: String? {
    switch self {
    case .page(let host, _): host
    case .program: nil
    }
  }

  /// The host in the address bar, whose domain a merchant session names.
  ///
  /// WebKit opens the sheet with the main frame's address: [webkit.org/b/259667](https://webkit.org/b/259667).
  var topHost: String? {
    switch self {
    case .page(_, let topHost): topHost
    case .program: nil
    }
  }
}
