import SwiftASN1
import TenderPayments
import TokenIssuer
import X509

/// The merchant behind a TLS connection, as its client certificate names it.
struct GatewayClient: Sendable, Hashable {
  let hash: MerchantHash
  /// The certificate's serial number in hex.
  let certificateID: String

  /// nil unless the sandbox issued the certificate as a merchant identity. TLS has checked its validity and that its
  /// key was used; that it comes from the right one of the authorities under the root is checked here.
  init?(certificate: Certificate, issuedBy pki: SandboxPKI) {
    guard pki.developerRelations.certificate.publicKey.isValidSignature(certificate.signature, for: certificate),
      let usage = try? certificate.extensions.extendedKeyUsage, usage.contains(.clientAuth),
      let hash = MerchantHash(certificate: certificate)
    else { return nil }
    self.hash = hash
    certificateID = Hex.encode(certificate.serialNumber.bytes)
  }
}

/// Validates requests for merchant sessions, and opens them.
struct SessionService: Sendable {
  let portal: DeveloperPortal
  let sessions: SessionStore
  let clock: WallClock

  /// Opens a session, or throws Apple's error. The checks are in Apple's order: certificate, merchant, registration,
  /// domain.
  func open(_ request: SessionRequest, for client: GatewayClient) async throws(GatewayError) -> PaymentSession {
    guard let merchant = await portal.merchant(identifierOrHash: request.merchantIdentifier) else {
      return try await openForPartner(request, of: client)
    }
    guard merchant.hash == client.hash else { throw .foreignMerchant(merchant.hash, certificate: client.hash) }
    guard merchant.certificates.contains(where: { $0.id == client.certificateID }),
      merchant.activeProcessingCertificate(at: clock.now()) != nil
    else { throw .notRegisteredForWeb(merchant.hash, certificate: client.hash) }
    try await requireContext(request, of: merchant)
    guard let session = try? await sessions.open(request, for: merchant) else { throw .unavailable }
    return session
  }

  /// A session for a merchant that the platform has registered: under the platform's name and for its key.
  private func openForPartner(
    _ request: SessionRequest, of client: GatewayClient
  ) async throws(GatewayError) -> PaymentSession {
    guard let platform = await portal.merchant(identifierOrHash: client.hash.description),
      let partner = await portal.partner(request.merchantIdentifier, of: platform.merchantIdentifier)
    else { throw .unknownMerchant(request.merchantIdentifier, certificate: client.hash) }
    guard partner.hasVerified(request.context) else { throw .domainNotRegistered(request.context, of: client.hash) }
    guard platform.activeProcessingCertificate(at: clock.now()) != nil else {
      throw .notRegisteredForWeb(platform.hash, certificate: client.hash)
    }
    guard let session = try? await sessions.open(request, for: platform) else { throw .unavailable }
    return session
  }

  private func requireContext(_ request: SessionRequest, of merchant: PortalMerchant) async throws(GatewayError) {
    switch request.initiative {
    case .web:
      let merchant = await portal.lookingAgain(at: merchant)
      guard merchant.hasVerified(request.context) else {
        throw .domainNotRegistered(request.context, of: merchant.hash)
      }
    case .messaging:
      guard request.context.hasPrefix("https://") else { throw .invalid("initiativeContext") }
    case .inApp:
      break
    }
  }
}
