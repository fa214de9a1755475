import ApplePayToken
import TenderPayments

/// Certificates that are too few, too many, or not the two that they should be, and chains that lead elsewhere.
extension TokenVariant {
  static let brokenCertificates: [TokenVariant] = wrongCounts + wrongForms + wrongMarkers

  private static let wrongCounts: [TokenVariant] = [
    .refused("certificates-none", .certificateCount, "No certificates.") { $0.signature { $0.certificates = [] } },
    .refused("certificates-signer-alone", .certificateCount, "The signer's alone.") {
      $0.signature { $0.certificates.removeLast() }
    },
    .refused("certificates-intermediate-alone", .certificateCount, "The intermediate's alone.") {
      $0.signature { $0.certificates.removeFirst() }
    },
    .refused("certificates-with-altered-root", .certificateCount, "A root comes along that is not the trusted one.") {
      var root = $0.authority.root
      root[root.count - 1] ^= 1
      $0.signature { $0.certificates.append(root) }
    },
    .refused("certificates-with-root-twice", .certificateCount, "The trusted root comes along twice.") {
      let root = $0.authority.root
      $0.signature { $0.certificates += [root, root] }
    },
    .refused("certificates-signer-twice", .certificateCount, "The signer's twice, and the intermediate's.") {
      $0.signature { $0.certificates.insert($0.certificates[0], at: 0) }
    },
    .refused("certificates-seventeen", .malformedSignature, "More than any signature has.") {
      $0.signature { $0.certificates = Array(repeating: $0.certificates[0], count: 17) }
    },
    .refused("certificates-signer-and-signer", .signerNotFound, "The signer's twice, in place of the intermediate's.") {
      $0.signature { $0.certificates[1] = $0.certificates[0] }
    },
    .refused("certificates-intermediate-twice", .signerNotFound, "The intermediate's twice.") {
      $0.signature { $0.certificates[0] = $0.certificates[1] }
    },
    .refused("certificates-signer-and-root", .intermediateNotFound, "The root in place of the intermediate.") {
      let root = $0.authority.root
      $0.signature { $0.certificates[1] = root }
    },
  ]

  private static let wrongForms: [TokenVariant] = [
    .refused("certificate-no-certificate", .malformedCertificate, "Something else where a certificate should be.") {
      $0.signature { $0.certificates[1] = [0x30, 0x02, 0x05, 0x00] }
    },
    .refused("certificate-version-1", .malformedCertificate, "Version 1, which has no extensions.") {
      $0.signer { $0.version = [] }
    },
    .refused("certificate-version-2", .malformedCertificate, "Version 2.") {
      $0.signer { $0.version = [0xA0, 0x03, 0x02, 0x01, 0x01] }
    },
    .refused("certificate-two-algorithms", .malformedCertificate, "Inside and outside name different algorithms.") {
      $0.signer { $0.outerAlgorithm = BERWriter.definite(0x30, DEROID.ecdsaWithSHA384) }
    },
    .refused("certificate-extension-twice", .malformedCertificate, "The marker twice.") {
      $0.signer { $0.extensions.append(.signerMarker) }
    },
    .refused("certificate-trailing-bytes", .malformedCertificate, "Something follows inside the certificate.") {
      $0.signature { $0.certificates[0] = BERWriter.definite(0x30, $0.certificates[0].dropFirst(4) + [5, 0]) }
    },
  ]

  private static let wrongMarkers: [TokenVariant] = [
    .refused("marker-missing", .signerNotFound, "The signer's certificate lacks Apple's marker …6.29.") {
      $0.signer { $0.remove(.signerMarker) }
    },
    .refused("marker-prefix", .signerNotFound, "…6.291 begins like …6.29 when it is compared as text.") {
      $0.signer { $0.replace(.signerMarker, with: .marker(DEROID.apple(6, 0x82, 0x23))) }
    },
    .refused("marker-below", .signerNotFound, "…6.29.1 stands below …6.29 and is not it.") {
      $0.signer { $0.replace(.signerMarker, with: .marker(DEROID.apple(6, 29, 1))) }
    },
    .refused("marker-above", .signerNotFound, "…6 stands above …6.29 and is not it.") {
      $0.signer { $0.replace(.signerMarker, with: .marker(DEROID.apple(6))) }
    },
    .refused("marker-of-merchant", .signerNotFound, "The marker of a merchant's certificate, …6.32.") {
      $0.signer { $0.replace(.signerMarker, with: .marker(DEROID.apple(6, 32))) }
    },
    .refused("marker-on-both", .signerNotFound, "The intermediate has the signer's marker too.") {
      $0.intermediate { $0.extensions.append(.signerMarker) }
    },
    .refused("marker-both-on-signer", .intermediateNotFound, "The signer has the intermediate's marker too.") {
      $0.signer { $0.extensions.append(.intermediateMarker) }
    },
    .refused("marker-intermediate-missing", .intermediateNotFound, "The intermediate lacks Apple's marker …6.2.14.") {
      $0.intermediate { $0.remove(.intermediateMarker) }
    },
    .refused("marker-intermediate-prefix", .intermediateNotFound, "…6.2.140 begins like …6.2.14.") {
      $0.intermediate { $0.replace(.intermediateMarker, with: .marker(DEROID.apple(6, 2, 0x81, 0x0C))) }
    },
    .refused("marker-intermediate-below", .intermediateNotFound, "…6.2.14.1 stands below …6.2.14.") {
      $0.intermediate { $0.replace(.intermediateMarker, with: .marker(DEROID.apple(6, 2, 14, 1))) }
    },
    .refused("marker-swapped", .unfitCertificate, "Each certificate has the other's marker.") {
      $0.signer { $0.replace(.signerMarker, with: .intermediateMarker) }
      $0.intermediate { $0.replace(.intermediateMarker, with: .signerMarker) }
    },
    .refused("signed-by-merchant", .signerNotFound, "A merchant's certificate below the same root signs.") {
      let relations = $0.authority.pki.developerRelations
      let name = try DERName.subject(of: relations.certificate)
      let (key, der) = (try SigningKey(relations.key), try relations.der)
      $0.signer {
        $0.remove(.signerMarker)
        ($0.issuer, $0.issuerKey) = (name, key)
      }
      $0.signature { $0.certificates[1] = der }
    },
    .refused(
      "signed-below-another-intermediate", .intermediateNotFound,
      "Another authority below the same root issued a marked signer."
    ) {
      let relations = $0.authority.pki.developerRelations
      let name = try DERName.subject(of: relations.certificate)
      let (key, der) = (try SigningKey(relations.key), try relations.der)
      $0.signer { ($0.issuer, $0.issuerKey) = (name, key) }
      $0.signature { $0.certificates[1] = der }
    },
  ]
}

extension CertificateBuilder.Extension {
  static func marker(_ identifier: [UInt8]) -> Self {
    Self(identifier: identifier, isCritical: false, value: DEROID.null)
  }
}
