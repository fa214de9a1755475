import Crypto
import CryptoExtras
public import TenderPayments

/// A private key read from a file.
enum PrivateKey {
  case p256(P256.KeyAgreement.PrivateKey)
  case rsa(_RSA.Encryption.PrivateKey)

  init(pem: String) throws(PaymentTokenError) {
    guard var blocks = PEM.blocks(pem) else {
      throw PaymentTokenError(.unreadableKey, PEM.isCut)
    }
    defer { for index in blocks.indices { blocks[index].bytes.wipe() } }
    guard !pem.contains("ENCRYPTED") else { throw PaymentTokenError(.encryptedKey, "the private key has a passphrase") }
    // By index, so that each block keeps the only reference to its bytes.
    let keys = blocks.indices.filter { blocks[$0].label.hasSuffix("PRIVATE KEY") }
    guard !blocks.isEmpty else { throw KeyFileMistakes.find(in: pem) }
    guard let place = keys.first, keys.count == 1 else { throw Self.notOne(keys.count, of: blocks) }
    try self.init(label: blocks[place].label, der: blocks[place].bytes)
  }

  private static func notOne(_ count: Int, of blocks: [PEM]) -> PaymentTokenError {
    if count == 0, let name = PEM.name(in: blocks) {
      return PaymentTokenError(.notAPrivateKey, "the file holds a \(name), and no private key")
    }
    let found = count == 0 ? "no private key" : "\(count) private keys"
    return PaymentTokenError(.unreadableKey, "\(found) here; give exactly one")
  }

  private init(label: String, der: [UInt8]) throws(PaymentTokenError) {
    let rsa = try? _RSA.Encryption.PrivateKey(derRepresentation: der)
    if let key = try? P256.KeyAgreement.PrivateKey(derRepresentation: der) {
      // The bit string of RFC 5915, which the library does not compare.
      let mark: [UInt8] = [0x03, 0x42, 0x00]
      guard der.firstRange(of: mark + [4]) == nil || der.firstRange(of: mark + key.publicKey.x963Representation) != nil
      else { throw KeyFileMistakes.twoKeys }
      self = .p256(key)
    } else if let rsa, rsa.keySizeInBits == 2048 {
      self = .rsa(rsa)
    } else {
      throw KeyFileMistakes.key(label: label, der: der, bitsOfRSA: rsa?.keySizeInBits)
    }
  }

  /// SubjectPublicKeyInfo, DER.
  var publicKeyInfo: [UInt8] {
    switch self {
    case .p256(let key): Array(key.publicKey.derRepresentation)
    case .rsa(let key): Array(key.publicKey.derRepresentation)
    }
  }
}

/// A payment processing certificate from Apple's portal, without its private key.
public struct ProcessingCertificate: Sendable {
  /// SHA-256 of the public key's SubjectPublicKeyInfo: a payment token's `header.publicKeyHash`.
  public let publicKeyHash: [UInt8]
  /// Which payment tokens its key opens.
  public let version: EncryptedPaymentToken.Version
  /// The last second of its validity.
  public let notAfter: Timestamp
  let publicKeyInfo: [UInt8]
  let party: PartyInfo

  /// SHA-256 of the merchant identifier that it was issued to.
  public var merchantIdentifierHash: [UInt8] { party.bytes }

  /// - Throws: `unreadable_certificate`, `identity_certificate`, `no_merchant_identifier`.
  public init(pem: String) throws(PaymentTokenError) {
    let certificate = try Certificate(onlyIn: pem, .unreadableCertificate)
    guard certificate.commonName?.hasPrefix("Apple Pay Merchant Identity:") != true else {
      throw PaymentTokenError(.identityCertificate, "this is a merchant identity certificate")
    }
    guard let value = certificate.extensions.value(ObjectIdentifier.merchantIdentifierHash),
      let party = PartyInfo(
        certificateExtension: value, merchantIdentifier: Self.merchantIdentifier(certificate.commonName))
    else {
      throw PaymentTokenError(.noMerchantIdentifier, "the certificate does not hold the hash of a merchant identifier")
    }
    publicKeyInfo = Array(certificate.publicKeyInfo)
    publicKeyHash = Array(SHA256.hash(data: publicKeyInfo))
    version = certificate.publicKeyInfo.starts(with: PublicKeyInfo.p256Prefix) ? .ecV1 : .rsaV1
    notAfter = certificate.notAfter
    self.party = party
  }

  /// Apple names these certificates `Apple Pay Payment Processing:merchant.com.example.shop`.
  private static func merchantIdentifier(_ commonName: String?) -> String? {
    commonName?.split(separator: ":", maxSplits: 1).dropFirst().first.map(String.init)
  }
}
