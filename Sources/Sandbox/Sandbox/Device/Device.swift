import StrictJSON
import TenderPayments

/// The simulated device: it spends merchant sessions and mints payment tokens.
///
/// A page needs a merchant session, opened for its own domain. A program without a page stands for an iOS app, which
/// needs none: it names the merchant whose key to encrypt to.
actor Device {
  private let mint: TokenMint
  private let portal: DeveloperPortal
  private let sessions: SessionBook
  private let mischief: Mischief
  private let clock: WallClock
  private(set) var mintedCount = 0

  init(mint: TokenMint, portal: DeveloperPortal, sessions: SessionBook, mischief: Mischief, clock: WallClock) {
    self.mint = mint
    self.portal = portal
    self.sessions = sessions
    self.mischief = mischief
    self.clock = clock
  }

  /// The payment token that the shopper authorizes.
  func pay(_ wish: PaymentWish, from caller: DeviceCaller) async throws -> MintedPaymentToken {
    let merchant = try await merchant(for: wish, from: caller)
    guard let certificate = merchant.activeProcessingCertificate(at: clock.now()) else {
      throw SandboxProblem(
        status: 422, code: "no_processing_certificate",
        message: "The merchant has no active payment processing certificate, so nothing can be encrypted to it.")
    }
    if let session = wish.merchantSession { _ = try await sessions.spend(session, on: caller.host, in: wish.sheet) }
    var order = TokenOrder(
      card: wish.card, amount: wish.amount, recipient: try TokenRecipient(certificatePEM: certificate.certificate),
      applicationData: wish.applicationData)
    if mischief.take(.staleToken) { order.signingTime = clock.now().adding(.seconds(-600)) }
    var token = try mint.mint(order)
    if mischief.take(.alteredToken) { token.data[0] ^= 1 }
    mintedCount += 1
    return token
  }

  private func merchant(for wish: PaymentWish, from caller: DeviceCaller) async throws -> PortalMerchant {
    guard let presented = wish.merchantSession else { return try await merchantWithoutSession(wish, caller) }
    let session = try await sessions.check(presented, on: caller.host, in: wish.sheet)
    guard wish.merchantIdentifier == nil || wish.merchantIdentifier == session.merchantIdentifier else {
      throw SandboxProblem(
        status: 422, code: "session_merchant_mismatch", message: "The merchant session is another merchant's.")
    }
    return try await portal.merchant(session.merchantIdentifier)
  }

  private func merchantWithoutSession(_ wish: PaymentWish, _ caller: DeviceCaller) async throws -> PortalMerchant {
    guard case .program = caller else {
      throw SandboxProblem(
        status: 400, code: "session_required", message: "A page pays with the merchant session that its server got.")
    }
    guard let identifier = wish.merchantIdentifier else {
      throw SandboxProblem(
        status: 400, code: "invalid_request",
        message: "Name the merchant by publicKeyOf, or present a merchantSession.")
    }
    return try await portal.merchant(identifier)
  }
}

/// Who asks the device to pay.
enum DeviceCaller: Sendable, Hashable {
  /// A page of this host, as its browser says.
  case page(host: String)
  /// No browser: an app, or a test that plays one.
  case program

  /// From the header `Origin`, which browsers set and pages cannot forge. An origin without a host matches no domain.
  init(origin: String?) {
    guard let origin else {
      self = .program
      return
    }
    let authority = origin.split(separator: "/").dropFirst().first ?? ""
    self = .page(host: String(authority.split(separator: ":").first ?? ""))
  }

  var host: String? {
    switch self {
    case .page(let host): host
    case .program: nil
    }
  }
}
