import Crypto
import SwiftASN1
package import TenderPayments
import X509

extension SandboxPKI {
  /// The answer of an authority's OCSP responder, in DER, valid for an hour (RFC 6960 §4.2).
  ///
  /// - Parameters:
  ///   - request: DER.
  ///   - merchants: the serial numbers in hex of the merchants' certificates that are not revoked.
  /// - Returns: `good` for certificates that the authority issued, `unknown` for all others; the error
  ///   `malformedRequest` for what is no request.
  package func ocspResponse(
    to request: [UInt8], of authority: IssuingAuthority, merchants: Set<String>, at now: Timestamp
  ) throws -> [UInt8] {
    guard let asked = try? OCSPRequest(derEncoded: request) else { return Self.malformedRequest }
    let key = try SigningKey(certifiedKey(of: authority).key)
    let keyHash = CertificateBuilder.Extension.keyIdentifier(of: key.publicKeyInfo)
    let issued = serialNumbers(of: authority, merchants: merchants)
    let answers = asked.certificates.flatMap { certificate in
      certificate.answer(
        isGood: certificate.isIssued(by: keyHash) && issued.contains(certificate.serialNumber), at: now)
    }
    let body = BERWriter.definite(
      0x30, BERWriter.definite(0xA2, BERWriter.definite(0x04, keyHash)), now.generalized,
      BERWriter.definite(0x30, answers))
    let basic = BERWriter.definite(0x30, body, key.algorithm, BERWriter.definite(0x03, [0], try key.sign(body)))
    let bytes = BERWriter.definite(0x30, DEROID.ocspBasic, BERWriter.definite(0x04, basic))
    return BERWriter.definite(0x30, [0x0A, 0x01, 0x00], BERWriter.definite(0xA0, bytes))
  }

  private static let malformedRequest: [UInt8] = [0x30, 0x03, 0x0A, 0x01, 0x01]

  private func serialNumbers(of authority: IssuingAuthority, merchants: Set<String>) -> Set<String> {
    let issued: [CertifiedKey?]
    switch authority {
    case .tokenRoot: issued = [tokenIntermediate, developerRelations]
    case .tokenIntermediate: issued = [tokenSigner, rsaSigner.current]
    case .developerRelations: return merchants
    }
    return Set(issued.compactMap { $0.map { Hex.encode($0.certificate.serialNumber.bytes) } })
  }
}

/// The certificates whose status is asked for (RFC 6960 §4.1.1).
private struct OCSPRequest: DERParseable {
  /// One CertID.
  struct Entry: DERParseable {
    let encoding: [UInt8]
    let hashAlgorithm: [UInt8]
    let issuerKeyHash: [UInt8]
    /// In hex, without leading zeros.
    let serialNumber: String

    init(derEncoded node: ASN1Node) throws {
      encoding = Array(node.encodedBytes)
      (hashAlgorithm, issuerKeyHash, serialNumber) = try DER.sequence(node, identifier: .sequence) { fields in
        let algorithm = fields.next().map { Array($0.encodedBytes) } ?? []
        _ = try ASN1OctetString(derEncoded: &fields)
        let key = try ASN1OctetString(derEncoded: &fields)
        let serial = try Certificate.SerialNumber(bytes: ArraySlice<UInt8>(derEncoded: &fields))
        return (algorithm, Array(key.bytes), Hex.encode(serial.bytes))
      }
    }
  }

  let certificates: [Entry]

  init(derEncoded node: ASN1Node) throws {
    certificates = try DER.sequence(node, identifier: .sequence) { parts in
      guard let body = parts.next() else { throw ASN1Error.invalidASN1Object(reason: "an empty request") }
      while parts.next() != nil {}  // the signature of the caller, which is not read
      return try DER.sequence(body, identifier: .sequence) { fields in
        var list = fields.next()
        while let field = list, field.identifier.tagClass == .contextSpecific { list = fields.next() }
        guard let list else { throw ASN1Error.invalidASN1Object(reason: "no requests") }
        while fields.next() != nil {}  // extensions
        return try DER.sequence(of: OCSPSingleRequest.self, identifier: .sequence, rootNode: list).map(\.certificate)
      }
    }
  }
}

private struct OCSPSingleRequest: DERParseable {
  let certificate: OCSPRequest.Entry

  init(derEncoded node: ASN1Node) throws {
    certificate = try DER.sequence(node, identifier: .sequence) { fields in
      let entry = try OCSPRequest.Entry(derEncoded: &fields)
      while fields.next() != nil {}  // extensions
      return entry
    }
  }
}

extension OCSPRequest.Entry {
  /// Whether it names this issuer. Requests with another hash than SHA-1 are answered by their serial number alone.
  fileprivate func isIssued(by keyHash: [UInt8]) -> Bool {
    let isSHA1 = hashAlgorithm.dropFirst(2).starts(with: DEROID.sha1)
    return !isSHA1 || issuerKeyHash == keyHash
  }

  fileprivate func answer(isGood: Bool, at now: Timestamp) -> [UInt8] {
    BERWriter.definite(
      0x30, encoding, isGood ? [0x80, 0x00] : [0x82, 0x00], now.generalized,
      BERWriter.definite(0xA0, now.adding(.seconds(3600)).generalized))
  }
}

extension Timestamp {
  /// GeneralizedTime in DER, in any year.
  fileprivate var generalized: [UInt8] { BERWriter.definite(0x18, Array(generalizedTime.utf8)) }
}
