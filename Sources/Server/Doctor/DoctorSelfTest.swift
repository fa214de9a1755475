import ApplePayToken
import Crypto
import CryptoExtras
import MerchantIdentity
import Settings
import TenderPayments

extension DoctorCheck {
  static let selfTestGroup = [selfTestData]

  static let selfTestData = DoctorCheck(
    "self_test_payment_data",
    "Payment data sealed to the installed certificate, for the merchant identifier, opens with the installed key.",
    meaning: "Certificate, key and merchant identifier do not belong together: no payment token can be opened.",
    remedy: "Install the certificate and the key of one request, made under the identifier in merchant.yaml.")
}

extension Doctor {
  func selfTestFindings() -> [DoctorFinding] {
    subject.merchants.flatMap { merchant in merchant.processing.map { sealedData($0, merchant) } }
  }

  private func sealedData(_ examined: ExaminedCertificate, _ merchant: ExaminedMerchant) -> DoctorFinding {
    let check = DoctorCheck.selfTestData
    guard let identifier = merchant.identifier else { return check.skipped(examined.file, "no merchant identifier") }
    guard let key = examined.keyPEM else { return check.skipped(examined.file, "there is no key in a file here") }
    do {
      let sealed = try SealedTestData(to: examined, for: identifier.text)
      let opened = try sealed.open(with: ProcessingKey(privateKeyPEM: key, certificatePEM: examined.pem))
      return check.require(
        opened, examined.file, ok: "sealed and opened, \(sealed.version.rawValue)",
        failed: "what was sealed for \(identifier) cannot be opened with the key beside the certificate")
    } catch {
      return check.failed(examined.file, Self.words(error))
    }
  }

  private static func words(_ error: any Error) -> String {
    guard let error = error as? PaymentTokenError else { return "\(error)" }
    return "\(error.stage.rawValue): \(error.reason)"
  }
}

/// Data sealed as a device seals it: with the public key of the certificate and the merchant identifier alone. No signer
/// is needed for it.
private struct SealedTestData {
  let version: EncryptedPaymentToken.Version
  private let material: EncryptedPaymentToken.KeyMaterial
  private let data: [UInt8]

  private static let plaintext = Array("a self-test, and no payment data".utf8)

  init(to examined: ExaminedCertificate, for merchantIdentifier: String) throws {
    guard let key = examined.publicKeyInfo else { throw ConfigurationError(examined.file, "no key of a usable type") }
    if examined.keyType == .p256 {
      let device = P256.KeyAgreement.PrivateKey()
      let secret = try device.sharedSecretFromKeyAgreement(with: .init(derRepresentation: key))
      let contentKey = KeyDerivation.contentKey(
        sharedSecret: secret, party: PartyInfo(merchantIdentifier: merchantIdentifier))
      version = .ecV1
      material = .ephemeralPublicKey(Array(device.publicKey.derRepresentation))
      data = try Self.seal(with: contentKey)
    } else {
      let contentKey = SymmetricKey(size: .bits128)
      let wrapped = try _RSA.Encryption.PublicKey(derRepresentation: key)
        .encrypt(contentKey.withUnsafeBytes { Array($0) }, padding: .PKCS1_OAEP_SHA256)
      version = .rsaV1
      material = .wrappedKey(Array(wrapped))
      data = try Self.seal(with: contentKey)
    }
  }

  /// Apple's AES-GCM: an initialization vector of 16 zero bytes, the tag at the end.
  private static func seal(with key: SymmetricKey) throws -> [UInt8] {
    let vector = try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16))
    let box = try AES.GCM.seal(plaintext, using: key, nonce: vector)
    return Array(box.ciphertext) + Array(box.tag)
  }

  func open(with key: ProcessingKey) -> Bool {
    guard let contentKey = TokenPrimitives.contentKey(material, key) else { return false }
    return TokenPrimitives.opened(data, with: contentKey) == Self.plaintext
  }
}
