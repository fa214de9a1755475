import SwiftASN1
import TenderPayments
import TokenIssuer
import X509

extension DeveloperPortal {
  /// Turns a certificate signing request into a certificate. A merchant's first processing certificate is active at
  /// once; a later one waits for ``activate(_:of:)``, so that the merchant can deploy its key before devices use it.
  func issueCertificate(_ type: MerchantCertificateKind, csr: String, to identifier: String) throws -> PortalCertificate
  {
    let now = clock.now()
    return try change(identifier) { merchant in
      if type == .processing { try requireRoom(in: merchant, at: now) }
      let issued = try pki.issue(type, to: identifier, csrPEM: csr, at: now, from: clock.machine(), random: random)
      let record = PortalCertificate(
        id: Hex.encode(issued.serialNumber.bytes), type: type, certificate: try issued.serializeAsPEM().pemString,
        expiresAt: Timestamp(issued.notValidAfter).seconds,
        isActive: type == .identity || merchant.activeProcessingCertificate(at: now) == nil)
      merchant.certificates.append(record)
      return record
    }
  }

  private func requireRoom(in merchant: PortalMerchant, at now: Timestamp) throws {
    let held = merchant.certificates.count { $0.type == .processing && now.seconds < $0.expiresAt }
    guard held < maximumProcessingCertificates else {
      throw SandboxProblem(
        status: 409, code: "too_many_certificates",
        message: "This merchant holds \(held) payment processing certificates; revoke one first.")
    }
  }

  /// Makes devices encrypt to this processing certificate from now on, and to no other.
  func activate(_ id: String, of identifier: String) throws -> PortalCertificate {
    try change(identifier) { merchant in
      guard let chosen = merchant.certificates.firstIndex(where: { $0.id == id && $0.type == .processing }) else {
        throw Self.unknownCertificate
      }
      for index in merchant.certificates.indices where merchant.certificates[index].type == .processing {
        merchant.certificates[index].isActive = index == chosen
      }
      return merchant.certificates[chosen]
    }
  }

  /// Forgets a certificate: the gateway no longer lets it in, devices no longer encrypt to it.
  func revoke(_ id: String, of identifier: String) throws {
    try change(identifier) { merchant in
      guard merchant.certificates.contains(where: { $0.id == id }) else { throw Self.unknownCertificate }
      merchant.certificates.removeAll { $0.id == id }
    }
  }

  /// Until when the simulation's clock may go. Beyond the end of a merchant's certificates the gateway lets it in no more,
  /// and devices encrypt to nothing.
  var lastTime: Timestamp {
    let ends = merchants.flatMap { merchant in
      MerchantCertificateKind.allCases.compactMap { kind in
        merchant.certificates.filter { $0.type == kind }.map(\.expiresAt).max()
      }
    }.map { Timestamp(seconds: $0) }
    // What has ended already need not be waited for.
    let (now, signer) = (clock.now(), Timestamp(pki.tokenSigner.certificate.notValidAfter))
    return ends.filter { $0 > now }.reduce(signer) { min($0, $1) }
  }

  private static let unknownCertificate = SandboxProblem(
    status: 404, code: "certificate_unknown", message: "The merchant has no such certificate.")
}
