import SwiftASN1
import TenderPayments
import X509

/// The sandbox's token authorities with their keys in hand, so that certificates can be issued that no authority
/// would issue.
struct MintAuthority {
  struct Signer {
    var certificate: [UInt8]
    var key: MintKey
    var issuer: [UInt8]
    var serialNumber: [UInt8]
  }

  let pki: SandboxPKI
  let rootKey: MintKey
  let root: [UInt8]
  let rootName: [UInt8]
  let intermediateKey: MintKey
  let intermediate: [UInt8]
  let intermediateName: [UInt8]

  init(_ pki: SandboxPKI) throws {
    self.pki = pki
    rootKey = try MintKey(pki.tokenRoot.key)
    root = try pki.tokenRoot.der
    rootName = try DERName.subject(of: pki.tokenRoot.certificate)
    intermediateKey = try MintKey(pki.tokenIntermediate.key)
    intermediate = try pki.tokenIntermediate.der
    intermediateName = try DERName.subject(of: pki.tokenIntermediate.certificate)
  }

  func signer(isRSA: Bool, _ random: RandomBytes) throws -> Signer {
    let signer = try pki.signer(isRSA: isRSA, random: random)
    return Signer(
      certificate: try signer.der, key: try MintKey(signer.key), issuer: intermediateName,
      serialNumber: BERWriter.integer(signer.certificate.serialNumber.bytes))
  }

  /// The serial number of the intermediate's certificate.
  var intermediateSerialNumber: [UInt8] { BERWriter.integer(pki.tokenIntermediate.certificate.serialNumber.bytes) }

  /// The signer's certificate as it was issued, to be issued once more.
  func signerRecipe(isRSA: Bool, _ random: RandomBytes) throws -> CertificateRecipe {
    let signer = try pki.signer(isRSA: isRSA, random: random)
    return try recipe(
      for: signer, issuer: intermediateName, issuerKey: intermediateKey, random,
      [.basicConstraints(isAuthority: false), .keyUsage(0x80), .signerMarker])
  }

  /// The intermediate's certificate as it was issued, to be issued once more.
  func intermediateRecipe(_ random: RandomBytes) throws -> CertificateRecipe {
    try recipe(
      for: pki.tokenIntermediate, issuer: rootName, issuerKey: rootKey, random,
      [.basicConstraints(isAuthority: true, pathLength: 0), .keyUsage(0x06), .intermediateMarker])
  }

  private func recipe(
    for owner: CertifiedKey, issuer: [UInt8], issuerKey: MintKey, _ random: RandomBytes,
    _ extensions: [CertificateRecipe.Extension]
  ) throws -> CertificateRecipe {
    let key = try MintKey(owner.key).publicKeyInfo
    return CertificateRecipe(
      serialNumber: CertificateRecipe.serialNumber(random), issuer: issuer,
      subject: try DERName.subject(of: owner.certificate), notBefore: Timestamp(owner.certificate.notValidBefore),
      notAfter: Timestamp(owner.certificate.notValidAfter), publicKeyInfo: key,
      extensions: extensions + [
        .authorityKeyIdentifier(issuerKey.publicKeyInfo), .subjectKeyIdentifier(key),
      ], issuerKey: issuerKey)
  }
}

extension CertificateRecipe {
  /// Eight bytes like Apple's: positive, and never shortened by a leading zero.
  static func serialNumber(_ random: RandomBytes) -> [UInt8] {
    var bytes = random.next(8)
    bytes[0] = bytes[0] & 0x3F | 0x40
    return BERWriter.integer(bytes)
  }
}
