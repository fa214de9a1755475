/// Why an identifier, a certificate, a key or a list of merchants was refused.
///
/// ``code`` is stable, ``reason`` says what is wrong to the operator, ``advice`` says what to do. None of them holds
/// a byte of a private key.
package struct MerchantIdentityError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case badMerchantIdentifier = "bad_merchant_identifier"
    case badDisplayName = "bad_display_name"
    case badDomain = "bad_domain"
    case badTeamIdentifier = "bad_team_identifier"
    case badAssociationFile = "bad_association_file"
    case badGatewayURL = "bad_gateway_url"
    case certificateUnreadable = "certificate_unreadable"
    case privateKeyUnreadable = "private_key_unreadable"
    case privateKeyEncrypted = "private_key_encrypted"
    case keyMismatch = "key_mismatch"
    case wrongKeyType = "wrong_key_type"
    case processingCertificateGiven = "processing_certificate_given"
    case identityCertificateGiven = "identity_certificate_given"
    case notApplePayCertificate = "not_apple_pay_certificate"
    case wrongMerchant = "wrong_merchant"
    case notYetValid = "not_yet_valid"
    case expired
    case environmentMismatch = "environment_mismatch"
    case duplicateMerchant = "duplicate_merchant"
    case duplicateDomain = "duplicate_domain"
    case keyGenerationFailed = "key_generation_failed"
  }

  package let code: Code
  package let reason: String
  package let advice: String

  init(_ code: Code, _ reason: String, advice: String) {
    self.code = code
    self.reason = reason
    self.advice = advice
  }

  package var description: String { "\(code.rawValue): \(reason) \(advice)" }
}

/// Why Apple did not register, unregister or show a merchant.
package struct RegistrationError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case registrationRefused = "registration_refused"
    case registrationNotAllowed = "registration_not_allowed"
    case registrationPlatformUnknown = "registration_platform_unknown"
    case registrationFailed = "registration_failed"
    case registrationUnreachable = "registration_unreachable"
  }

  package let code: Code
  package let reason: String

  init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  package var description: String { "\(code.rawValue): \(reason)" }
}
