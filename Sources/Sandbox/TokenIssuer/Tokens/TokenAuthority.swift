import SwiftASN1
import TenderPayments
import X509

/// The sandbox's token authorities together with their keys, to issue certificates that no real authority would.
struct TokenAuthority {
  struct Signer {
    var certificate: [UInt8]
    var key: SigningKey
    var issuer: [UInt8]
    var serialNumber: [UInt8]
  }

  let pki: SandboxPKI
  let rootKey: SigningKey
  let root: [UInt8]
  let rootName: [UInt8]
  let intermediateKey: SigningKey
  let intermediate: [UInt8]
  let intermediateName: [UInt8]

  init(_ pki: SandboxPKI) throws {
    self.pki = pki
    rootKey = try SigningKey(pki.tokenRoot.key)
    root = try pki.tokenRoot.der
    rootName = try DERName.subject(of: pki.tokenRoot.certificate)
    intermediateKey = try SigningKey(pki.tokenIntermediate.key)
    intermediate = try pki.tokenIntermediate.der
    intermediateName = try DERName.subject(of: pki.tokenIntermediate.certificate)
  }

  func signer(isRSA: Bool, _ random: RandomBytes) throws -> Signer {
    let signer = try pki.signer(isRSA: isRSA, random: random)
    return Signer(
      certificate: try signer.der, key: try SigningKey(signer.key), issuer: intermediateName,
      serialNumber: BERWriter.integer(signer.certificate.serialNumber.bytes))
  }

  /// The serial number of the intermediate's certificate.
  var intermediateSerialNumber: [UInt8] { BERWriter.integer(pki.tokenIntermediate.certificate.serialNumber.bytes) }

  /// The signer's certificate as it was issued, to be issued once more.
  func signerBuilder(isRSA: Bool, _ random: RandomBytes) throws -> CertificateBuilder {
    let signer = try pki.signer(isRSA: isRSA, random: random)
    return try builder(for: signer, issuer: intermediateName, issuerKey: intermediateKey, random)
  }

  /// The intermediate's certificate as it was issued, to be issued once more.
  func intermediateBuilder(_ random: RandomBytes) throws -> CertificateBuilder {
    try builder(for: pki.tokenIntermediate, issuer: rootName, issuerKey: rootKey, random)
  }

  private func builder(
    for owner: CertifiedKey, issuer: [UInt8], issuerKey: SigningKey, _ random: RandomBytes
  ) throws -> CertificateBuilder {
    let key = try SigningKey(owner.key).publicKeyInfo
    return CertificateBuilder(
      serialNumber: CertificateBuilder.serialNumber(random), issuer: issuer,
      subject: try DERName.subject(of: owner.certificate), notBefore: Timestamp(owner.certificate.notValidBefore),
      notAfter: Timestamp(owner.certificate.notValidAfter), publicKeyInfo: key,
      extensions: try owner.certificate.extensions.map(CertificateBuilder.Extension.init), issuerKey: issuerKey)
  }
}

extension CertificateBuilder {
  /// Eight bytes like Apple's: positive, and never shortened by a leading zero.
  static func serialNumber(_ random: RandomBytes) -> [UInt8] {
    var bytes = random.next(8)
    bytes[0] = bytes[0] & 0x3F | 0x40
    return BERWriter.integer(bytes)
  }
}
