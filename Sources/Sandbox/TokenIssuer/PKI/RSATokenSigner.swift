import CryptoExtras
import SwiftASN1
import Synchronization
import TenderPayments
import X509

/// The signer of payment tokens of format RSA_v1, made with the first of them, because finding an RSA key
/// takes longer than making all other keys.
final class RSATokenSigner: Sendable {
  private let made: Mutex<CertifiedKey?>
  private let files: StateDirectory?

  init(_ made: CertifiedKey? = nil, files: StateDirectory? = nil) {
    self.made = Mutex(made)
    self.files = files
  }

  /// nil before the first one is made.
  var current: CertifiedKey? { made.withLock { $0 } }

  func get(orMake make: () throws -> CertifiedKey) throws -> CertifiedKey {
    try made.withLock { made in
      if let made { return made }
      let new = try make()
      try files?.write(new, as: Self.file)
      made = new
      return new
    }
  }

  static let file = "token-signer-rsa"
}

extension SandboxPKI {
  /// The signer of payment tokens: elliptic for EC_v1, RSA for RSA_v1, both under the one elliptic intermediate, as
  /// Apple has it.
  func signer(isRSA: Bool, random: RandomBytes) throws -> CertifiedKey {
    guard isRSA else { return tokenSigner }
    return try rsaSigner.get {
      let key = Certificate.PrivateKey(try _RSA.Signing.PrivateKey(keySize: .bits2048))
      let form = CertificateRequestForm(
        subject: try SandboxName.make(SandboxName.rsaTokenSigner), publicKey: key.publicKey,
        notBefore: Timestamp(tokenSigner.certificate.notValidBefore),
        notAfter: Timestamp(tokenSigner.certificate.notValidAfter),
        extensions: { try CertificateExtensions.tokenSigner($0, addresses) })
      return CertifiedKey(certificate: try tokenIntermediate.issue(form, random: random), key: key)
    }
  }
}
