import Crypto
import CryptoExtras

/// The key of a payment token's signer.
enum SignerKey {
  case p256(P256.Signing.PublicKey)
  case rsa(_RSA.Signing.PublicKey)

  /// - Parameter info: SubjectPublicKeyInfo, DER.
  init?(_ info: ArraySlice<UInt8>) {
    if let point = PublicKeyInfo.point(info, PublicKeyInfo.p256Prefix, coordinateBytes: 32) {
      guard let key = try? P256.Signing.PublicKey(x963Representation: point) else { return nil }
      self = .p256(key)
    } else {
      guard let key = try? _RSA.Signing.PublicKey(derRepresentation: Array(info)) else { return nil }
      self = .rsa(key)
    }
  }

  func isValid(_ signature: ArraySlice<UInt8>, for digest: SHA256.Digest) -> Bool {
    switch self {
    case .p256(let key):
      return key.isValid(signature, for: digest)
    case .rsa(let key):
      return key.isValidSignature(
        _RSA.Signing.RSASignature(rawRepresentation: signature), for: digest, padding: .insecurePKCS1v1_5)
    }
  }
}

extension P256.Signing.PublicKey {
  /// - Parameter signature: `ECDSA-Sig-Value`, DER.
  fileprivate func isValid(_ signature: ArraySlice<UInt8>, for digest: some Digest) -> Bool {
    guard let numbers = ECDSASignatureValue.fixedWidth(signature, integerBytes: 32),
      let signature = try? P256.Signing.ECDSASignature(rawRepresentation: numbers)
    else { return false }
    return isValidSignature(signature, for: digest)
  }
}

/// The key of a certificate authority. Apple's are elliptic-curve keys, also above an RSA signer.
enum AuthorityKey {
  case p256(P256.Signing.PublicKey)
  case p384(P384.Signing.PublicKey)

  init?(_ info: ArraySlice<UInt8>) {
    if let point = PublicKeyInfo.point(info, PublicKeyInfo.p256Prefix, coordinateBytes: 32) {
      guard let key = try? P256.Signing.PublicKey(x963Representation: point) else { return nil }
      self = .p256(key)
    } else if let point = PublicKeyInfo.point(info, PublicKeyInfo.p384Prefix, coordinateBytes: 48) {
      guard let key = try? P384.Signing.PublicKey(x963Representation: point) else { return nil }
      self = .p384(key)
    } else {
      return nil
    }
  }

  /// Whether this key made the certificate's signature.
  func signed(_ certificate: Certificate) -> Bool {
    switch certificate.signatureAlgorithm {
    case .ecdsaWithSHA256: isValid(certificate.signature, for: SHA256.hash(data: certificate.signedPart))
    case .ecdsaWithSHA384: isValid(certificate.signature, for: SHA384.hash(data: certificate.signedPart))
    case .rsaWithSHA256, nil: false
    }
  }

  func isValid(_ signature: ArraySlice<UInt8>, for digest: some Digest) -> Bool {
    switch self {
    case .p256(let key):
      return key.isValid(signature, for: digest)
    case .p384(let key):
      guard let numbers = ECDSASignatureValue.fixedWidth(signature, integerBytes: 48),
        let signature = try? P384.Signing.ECDSASignature(rawRepresentation: numbers)
      else { return false }
      return key.isValidSignature(signature, for: digest)
    }
  }
}

/// SubjectPublicKeyInfo of the two curves (RFC 5480), which has one form for each: named curve, point uncompressed.
enum PublicKeyInfo {
  static let p256Prefix: [UInt8] = [
    0x30, 0x59, 0x30, 0x13, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x08, 0x2A, 0x86, 0x48, 0xCE,
    0x3D, 0x03, 0x01, 0x07, 0x03, 0x42, 0x00,
  ]
  static let p384Prefix: [UInt8] = [
    0x30, 0x76, 0x30, 0x10, 0x06, 0x07, 0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x02, 0x01, 0x06, 0x05, 0x2B, 0x81, 0x04, 0x00,
    0x22, 0x03, 0x62, 0x00,
  ]

  /// `04 ‖ X ‖ Y`, copied because the point type needs an array; nil for any other form.
  static func point(_ info: ArraySlice<UInt8>, _ prefix: [UInt8], coordinateBytes: Int) -> [UInt8]? {
    guard info.count == prefix.count + 1 + 2 * coordinateBytes, info.prefix(prefix.count).isSame(as: prefix)
    else { return nil }
    let point = info.dropFirst(prefix.count)
    return point.first == 0x04 ? Array(point) : nil
  }
}
