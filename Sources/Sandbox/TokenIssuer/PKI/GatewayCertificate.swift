import Crypto
import SwiftASN1
package import TenderPayments
import X509

extension SandboxPKI {
  /// A server certificate for the simulated gateway, made anew at every start, for these host names and addresses.
  package func gatewayCertificate(hosts: [String], at now: Timestamp, random: RandomBytes) throws -> CertifiedKey {
    let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
    let form = CertificateRequestForm(
      subject: try SandboxName.make(["Tender Sandbox gateway (NOT APPLE)", SandboxName.team, SandboxName.organization]),
      publicKey: key.publicKey, notBefore: now.adding(.seconds(-86_400)), notAfter: now.adding(months: 13),
      extensions: { try CertificateExtensions.server($0, SubjectAlternativeNames(hosts.map(Self.alternativeName))) })
    return CertifiedKey(certificate: try tlsRoot.issue(form, random: random), key: key)
  }

  private static func alternativeName(_ host: String) -> GeneralName {
    let numbers = host.split(separator: ".", omittingEmptySubsequences: false).map { UInt8($0) }
    let address = numbers.compactMap { $0 }
    guard numbers.count == 4, address.count == 4 else { return .dnsName(host) }
    return .ipAddress(ASN1OctetString(contentBytes: address[...]))
  }
}
