import MerchantIdentity
import Settings
import TenderPayments
import X509

extension DoctorCheck {
  static let certificateGroup = [
    certificateReadable, certificateKind, certificateMerchant, certificateKeyType, certificateEnvironment,
    certificateBegun, certificateExpiry, certificateIssuer, certificateKey, certificatePair,
  ]

  static let certificateReadable = DoctorCheck(
    "certificate_readable", "The file holds a certificate in PEM.", meaning: "The server does not start or reload.",
    remedy: "Convert what the portal gave: openssl x509 -inform der -in FILE.cer -out FILE.pem.")
  static let certificateKind = DoctorCheck(
    "certificate_kind", "The certificate is of the kind that its place asks for.",
    meaning: "An identity certificate opens no payment token, and a processing certificate no session.",
    remedy: "identity.pem is merchant_id.cer of the portal; processing/*.pem is apple_pay.cer.")
  static let certificateMerchant = DoctorCheck(
    "certificate_merchant", "The certificate was made under the merchant's identifier.",
    meaning: "Payment tokens cannot be opened, or Apple refuses the session.",
    remedy: "Use the certificate made under this merchant identifier, or correct merchantIdentifier in merchant.yaml.")
  static let certificateKeyType = DoctorCheck(
    "certificate_key_type", "The key has the type that Apple demands.",
    meaning: "Apple refuses the certificate, or payment tokens cannot be opened.",
    remedy: "Make a new request: RSA of 2048 bits for identity, P-256 for processing (RSA in mainland China).")
  static let certificateEnvironment = DoctorCheck(
    "certificate_environment", "The certificate is of this environment: Apple's, or in `simulated` a sandbox's.",
    meaning: "The server does not start or reload: no artefact of one environment is used in another.",
    remedy: "Use Apple's certificates with Apple, and those of `tender merchant add` in `simulated`.")
  static let certificateBegun = DoctorCheck(
    "certificate_not_before", "The certificate is valid already.", meaning: "Apple and devices refuse it.",
    remedy: "Set the machine's clock; otherwise wait until the certificate begins.")
  static let certificateExpiry = DoctorCheck(
    "certificate_expiry", "The certificate is valid for more than 60 days.",
    meaning: "When it has expired, payments that need it fail in the sheet.",
    remedy: "Renew it: make a request, upload it at Apple's portal, put the new certificate and its key beside the old "
      + "ones, those of an identity in their place, `tender reload`, and activate it at Apple.")
  static let certificateIssuer = DoctorCheck(
    "certificate_issuer", "The issuer is one of Apple's authorities that are known to issue such certificates.",
    meaning: "Apple may have begun to issue from a new authority, or the file is not what it seems.",
    remedy: "Compare it with the certificate in the developer account.")
  static let certificateKey = DoctorCheck(
    "certificate_key_present", "The certificate's private key can be read, or the key agent holds it.",
    meaning: "No payment token for it can be opened, or no session asked for.",
    remedy: "Put the key whose request was uploaded beside the certificate, with the ending .key and mode 600.")
  static let certificatePair = DoctorCheck(
    "certificate_pair", "Certificate and private key belong together.", meaning: "The server does not start or reload.",
    remedy: "Use the key whose request was uploaded; if it is lost, make a new request and a new certificate.")
}

extension Doctor {
  func certificateFindings() -> [DoctorFinding] {
    let merchants = subject.merchants.flatMap { merchant in
      merchant.certificates.flatMap { certificate($0, of: merchant) }.map(merchant.withItsRemedy)
    }
    return merchants + subject.platform.flatMap { certificate($0, of: nil) }
  }

  private func certificate(_ examined: ExaminedCertificate, of merchant: ExaminedMerchant?) -> [DoctorFinding] {
    guard examined.certificate != nil else {
      return [DoctorCheck.certificateReadable.failed(examined.file, "no certificate can be read from the file")]
    }
    return [
      DoctorCheck.certificateReadable.ok(examined.file, "a certificate"), kind(examined), owner(examined, merchant),
      keyType(examined), environment(examined), notBefore(examined), expiry(examined), issuer(examined),
      keyPresence(examined), pair(examined),
    ]
  }

  private func kind(_ examined: ExaminedCertificate) -> DoctorFinding {
    let wanted = examined.kind.rawValue
    let named = examined.namedKind
    return DoctorCheck.certificateKind.require(
      named == nil || named == examined.kind, examined.file, ok: wanted,
      failed: "it is the \(named?.rawValue ?? "") certificate, and the \(wanted) certificate belongs here")
  }

  private func owner(_ examined: ExaminedCertificate, _ merchant: ExaminedMerchant?) -> DoctorFinding {
    guard let hash = examined.certificate?.namedMerchant else {
      return DoctorCheck.certificateMerchant.failed(
        examined.file, "it names no merchant identifier: it is no certificate of Apple Pay")
    }
    guard let identifier = merchant?.identifier else {
      return DoctorCheck.certificateMerchant.ok(examined.file, "merchant hash \(Hex.encode(hash).uppercased())")
    }
    return DoctorCheck.certificateMerchant.require(
      hash == identifier.hash, examined.file, ok: identifier.text,
      failed: "it was made under the merchant with hash \(Hex.encode(hash).uppercased()), not under \(identifier)")
  }

  private func keyType(_ examined: ExaminedCertificate) -> DoctorFinding {
    let fits = examined.keyType == .rsa2048 || (examined.kind == .processing && examined.keyType == .p256)
    let wanted = examined.kind == .identity ? "RSA of 2048 bits" : "P-256, or RSA of 2048 bits"
    return DoctorCheck.certificateKeyType.require(
      fits, examined.file, ok: examined.keyType == .p256 ? "P-256" : "RSA of 2048 bits",
      failed: "the key is not \(wanted)")
  }

  private func environment(_ examined: ExaminedCertificate) -> DoctorFinding {
    let issuer = examined.isFromApple ? "Apple issued it" : "Apple did not issue it"
    return DoctorCheck.certificateEnvironment.require(
      examined.isFromApple != isSimulated, examined.file, ok: issuer,
      failed: "\(issuer), and the environment is \(configuration.environment.rawValue)")
  }

  private func notBefore(_ examined: ExaminedCertificate) -> DoctorFinding {
    let begin = examined.notBefore ?? now
    return DoctorCheck.certificateBegun.require(
      begin <= now, examined.file, ok: "since \(begin)", failed: "it is valid from \(begin), and it is \(now)")
  }

  private func expiry(_ examined: ExaminedCertificate) -> DoctorFinding {
    expiry(of: examined.file, at: examined.notAfter ?? now, DoctorCheck.certificateExpiry)
  }

  private func issuer(_ examined: ExaminedCertificate) -> DoctorFinding {
    let name = examined.certificate?.issuer.description ?? ""
    guard examined.isFromApple else {
      return DoctorCheck.certificateIssuer.skipped(examined.file, "a sandbox issued it")
    }
    guard !name.contains("Apple Worldwide Developer Relations") else {
      return DoctorCheck.certificateIssuer.ok(examined.file, name)
    }
    return DoctorCheck.certificateIssuer.warning(examined.file, "the issuer is \(name)")
  }

  private func keyPresence(_ examined: ExaminedCertificate) -> DoctorFinding {
    if let problem = examined.keyProblem, examined.hasKeyFile {
      return DoctorCheck.certificateKey.failed(examined.file, problem)
    }
    guard examined.keyPEM == nil else { return DoctorCheck.certificateKey.ok(examined.file, "the key is beside it") }
    guard configuration.keyAgentSocket != nil, examined.kind == .processing else {
      return DoctorCheck.certificateKey.failed(examined.file, "there is no private key beside it")
    }
    return DoctorCheck.certificateKey.ok(examined.file, "the key agent holds the key")
  }

  private func pair(_ examined: ExaminedCertificate) -> DoctorFinding {
    guard examined.keyPEM != nil else { return DoctorCheck.certificatePair.skipped(examined.file, "no key here") }
    guard let fits = examined.keyFits else {
      return DoctorCheck.certificatePair.failed(
        examined.file, "the private key beside it cannot be read: it is no key in PEM, or it has a passphrase")
    }
    return DoctorCheck.certificatePair.require(
      fits, examined.file, ok: "the key is the certificate's", failed: "the private key is another certificate's")
  }

  /// Days before the end at which the operator is warned.
  static let warningDays: [Int64] = [1, 3, 7, 14, 30, 60]

  func expiry(of subject: String, at end: Timestamp, _ check: DoctorCheck) -> DoctorFinding {
    let days = end.since(until).components.seconds / 86_400
    guard end > until else {
      return check.failed(subject, until > now ? "expires at \(end), before \(until)" : "expired at \(end)")
    }
    guard let threshold = Self.warningDays.first(where: { days < $0 }) else {
      return check.ok(subject, "valid until \(end), \(days) days")
    }
    return check.warning(subject, "expires at \(end): less than \(threshold) \(threshold == 1 ? "day" : "days") left")
  }
}
