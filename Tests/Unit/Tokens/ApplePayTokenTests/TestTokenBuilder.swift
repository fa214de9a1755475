import ApplePayToken
import Crypto
import CryptoExtras
import Foundation
import StrictJSON
import TenderPayments
import TenderTesting

/// Builds payment tokens from Apple's description, without the code under test. The defaults give a valid token; each
/// property can inject a fault.
struct TestTokenBuilder {
  static let merchantIdentifier = "merchant.test.tender"
  static let merchant = MerchantID("M1")
  static let payload = """
    {"applicationPrimaryAccountNumber":"4817499130011223","applicationExpirationDate":"291231","currencyCode":"978",\
    "transactionAmount":1250,"deviceManufacturerIdentifier":"040010030273","paymentDataType":"3DSecure",\
    "paymentData":{"onlinePaymentCryptogram":"AgAAAAAAAIR8CQrXcIhbQAAAAAA=","eciIndicator":"07"}}
    """

  var issued: TestAuthority.Issued
  var version = "EC_v1"
  var plaintext = Array(payload.utf8)
  var merchantIdentifier = TestTokenBuilder.merchantIdentifier
  /// PartyVInfo of the key derivation, in place of the correct one.
  var partyInfo: [UInt8]?
  /// Whether the key derivation drops the shared secret's leading zeros.
  var dropsLeadingZeros = false
  var merchantKey = Shared.merchantKey
  var ephemeralKey = P256.KeyAgreement.PrivateKey()
  var transactionID = (0..<32).map { UInt8($0) }
  var applicationData: [UInt8]?
  var signingTime = Timestamp(seconds: 1_750_000_000)
  var digestHasNull = true
  var hasProtection = true

  var certificates: [[UInt8]]?
  var serial: [UInt8]?
  var digestAlgorithm: [UInt8]?
  var signatureAlgorithm: [UInt8]?
  var timeValue: [UInt8]?
  /// Over the attributes before they are signed.
  var editAttributes: ([[UInt8]]) -> [[UInt8]] = { $0 }
  /// Over the SignerInfos of the finished signature.
  var editSigners: ([UInt8]) -> [UInt8] = { $0 }
  var editSignatureValue: ([UInt8]) -> [UInt8] = { $0 }
  var usesIndefiniteLengths = true
  var afterContentType: [UInt8] = []
  /// Signs instead of the signer.
  var impostor: TestAuthority.SigningKey?

  init(_ issued: TestAuthority.Issued? = nil) throws {
    self.issued = try issued ?? Shared.issued.get()
  }

  /// The token's parts, which a test may change before it writes them.
  struct Parts {
    var version: String
    var data: [UInt8]
    var signature: [UInt8]
    var keyName: String
    var keyMaterial: [UInt8]
    var publicKeyHash: [UInt8]
    var transactionID: [UInt8]
    var applicationData: [UInt8]?

    var paymentData: JSONObject {
      var header: JSONObject = [:]
      header[keyName] = .string(Base64.encode(keyMaterial))
      header["publicKeyHash"] = .string(Base64.encode(publicKeyHash))
      header["transactionId"] = .string(Hex.encode(transactionID))
      header["applicationData"] = applicationData.map { .string(Hex.encode($0)) }
      var object: JSONObject = ["version": .string(version), "data": .string(Base64.encode(data))]
      object["signature"] = .string(Base64.encode(signature))
      object["header"] = .object(header)
      return object
    }

    var bytes: [UInt8] { JSONValue.object(["paymentData": .object(paymentData)]).serialized() }
    func token() throws -> EncryptedPaymentToken { try EncryptedPaymentToken(bytes: bytes) }
  }

  func build() throws -> Parts {
    let (keyName, material, hash, data) = try version == "RSA_v1" ? sealedRSA() : sealedEC()
    let content = material + data + transactionID + (applicationData ?? [])
    return Parts(
      version: version, data: data, signature: try signature(over: content), keyName: keyName, keyMaterial: material,
      publicKeyHash: hash, transactionID: transactionID, applicationData: applicationData)
  }

  private func sealedEC() throws -> (String, [UInt8], [UInt8], [UInt8]) {
    let secret = try ephemeralKey.sharedSecretFromKeyAgreement(with: merchantKey.publicKey)
    let whole = secret.withUnsafeBytes { Array($0) }
    let input =
      [0, 0, 0, 1] + (dropsLeadingZeros ? Array(whole.drop { $0 == 0 }) : whole) + [13]
      + Array("id-aes256-GCM".utf8) + Array("Apple".utf8)
      + (partyInfo ?? Array(SHA256.hash(data: Array(merchantIdentifier.utf8))))
    let data = try seal(SymmetricKey(data: SHA256.hash(data: input)))
    let hash = Array(SHA256.hash(data: merchantKey.publicKey.derRepresentation))
    return ("ephemeralPublicKey", Array(ephemeralKey.publicKey.derRepresentation), hash, data)
  }

  private func sealedRSA() throws -> (String, [UInt8], [UInt8], [UInt8]) {
    let key = SymmetricKey(size: .bits128)
    let merchantKey = try _RSA.Encryption.PrivateKey(pemRepresentation: Shared.rsaMerchantPEM.get())
    let wrapped = try merchantKey.publicKey.encrypt(key.withUnsafeBytes { Data($0) }, padding: .PKCS1_OAEP_SHA256)
    let hash = Array(SHA256.hash(data: merchantKey.publicKey.derRepresentation))
    return ("wrappedKey", Array(wrapped), hash, try seal(key))
  }

  private func seal(_ key: SymmetricKey) throws -> [UInt8] {
    let nonce = try AES.GCM.Nonce(data: [UInt8](repeating: 0, count: 16))
    let box = try AES.GCM.seal(plaintext, using: key, nonce: nonce)
    return Array(box.ciphertext) + Array(box.tag)
  }
}

// MARK: - The signature

extension TestTokenBuilder {
  private func signature(over content: [UInt8]) throws -> [UInt8] {
    let attributes = editAttributes(self.attributes(content)).flatMap { $0 }
    let value = try (impostor ?? issued.key).sign(der(0x31, attributes))
    let signer = der(
      0x30,
      [2, 1, 1] + der(0x30, issued.signerIssuer + der(0x02, serial ?? issued.signerSerial)) + sha256
        + der(0xA0, attributes) + (signatureAlgorithm ?? der(0x30, ownAlgorithm)) + der(0x04, editSignatureValue(value))
    )
    let contentInfo = wrap(0x30, oid([7, 1]) + afterContentType)
    let chain = wrap(0xA0, (certificates ?? [issued.signer, issued.intermediate]).flatMap { $0 })
    let signedData = wrap(
      0x30, [2, 1, 1] + der(0x31, digestAlgorithm ?? sha256) + contentInfo + chain + der(0x31, editSigners(signer)))
    return wrap(0x30, oid([7, 2]) + wrap(0xA0, signedData))
  }

  private func attributes(_ content: [UInt8]) -> [[UInt8]] {
    let digest = der(0x04, Array(SHA256.hash(data: content)))
    let protection = der(0x30, sha256 + der(0xA1, ownAlgorithm))
    return [
      attribute([9, 3], oid([7, 1])), attribute([9, 5], timeValue ?? der(0x17, Array(utcTime.utf8))),
      attribute([9, 52], protection), attribute([9, 4], digest),
    ].filter { hasProtection || $0 != attribute([9, 52], protection) }.sorted { $0.lexicographicallyPrecedes($1) }
  }

  var sha256: [UInt8] {
    der(0x30, [6, 9, 0x60, 0x86, 0x48, 1, 0x65, 3, 4, 2, 1] + (digestHasNull ? [5, 0] : []))
  }

  private var ownAlgorithm: [UInt8] {
    if case .rsa = issued.key { return oid([1, 11]) + [5, 0] }
    return [6, 8, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 4, 3, 2]
  }

  private var utcTime: String {
    String(signingTime.description.dropFirst(2).filter(\.isNumber)) + "Z"
  }

  private func wrap(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
    usesIndefiniteLengths ? [tag, 0x80] + content + [0, 0] : der(tag, content)
  }
}

/// One element of DER.
func der(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
  switch content.count {
  case 0..<128: [tag, UInt8(content.count)] + content
  case 128..<256: [tag, 0x81, UInt8(content.count)] + content
  default: [tag, 0x82, UInt8(content.count >> 8), UInt8(content.count & 255)] + content
  }
}

/// An object identifier below 1.2.840.113549.1.
func oid(_ tail: [UInt8]) -> [UInt8] { der(0x06, [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 1] + tail) }

func attribute(_ type: [UInt8], _ value: [UInt8]) -> [UInt8] { der(0x30, oid(type) + der(0x31, value)) }

// MARK: - Opening through the public API

extension TestTokenBuilder.Parts {
  static let arrival = Timestamp(seconds: 1_750_000_010)

  func open(
    at time: Timestamp = arrival, with opener: TokenOpener? = nil, for merchant: MerchantID = TestTokenBuilder.merchant
  ) throws -> OpenedPaymentToken {
    try (try opener ?? testOpener()).open(try token(), for: merchant, at: time)
  }
}

func testOpener(
  _ issued: TestAuthority.Issued? = nil, identifier: String = TestTokenBuilder.merchantIdentifier, key: String? = nil
) throws -> TokenOpener {
  let trust = try TokenTrust.simulated(rootPEM: try issued?.rootPEM ?? Shared.issued.get().rootPEM)
  let processing = try ProcessingKey(
    privateKeyPEM: key ?? Shared.merchantKey.pemRepresentation, merchantIdentifier: identifier)
  return TokenOpener(
    verifier: TokenVerifier(trust: trust),
    keys: ProcessingKeyRing([TestTokenBuilder.merchant: [try KeyHolding.held(processing)]]))
}

/// The refusal's code; nil when there is none.
func refusal(_ body: () throws -> some Any) throws -> PaymentTokenError.Code? {
  do {
    _ = try body()
    return nil
  } catch let error as PaymentTokenError {
    return error.code
  }
}
