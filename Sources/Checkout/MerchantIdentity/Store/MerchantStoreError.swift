/// Why the store of merchants refused a call. ``code`` is stable; ``reason`` says what is wrong and what to do.
package struct MerchantStoreError: Error, Sendable, Hashable, CustomStringConvertible {
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case merchantUnknown = "merchant_unknown"
    case merchantExists = "merchant_exists"
    case merchantDeclared = "merchant_declared"
    case merchantHasPayments = "merchant_has_payments"
    case merchantChanged = "merchant_changed"
    case merchantLimit = "merchant_limit"
    case domainTaken = "domain_taken"
    case domainNotFound = "domain_not_found"
    case storeKeyMissing = "store_key_missing"
    case storeKeyInvalid = "store_key_invalid"
    case secretNotOpened = "secret_not_opened"
    case secretUnknown = "secret_unknown"
    case secretMisplaced = "secret_misplaced"
    case keyLimitsInvalid = "key_limits_invalid"
    case certificateUnknown = "certificate_unknown"
    case certificateNotRequested = "certificate_not_requested"
    case certificateLimit = "certificate_limit"
    case certificateState = "certificate_state"
    case termsUnknown = "terms_unknown"
  }

  package let code: Code
  package let reason: String

  package init(_ code: Code, _ reason: String) {
    self.code = code
    self.reason = reason
  }

  package var description: String { "\(code.rawValue): \(reason)" }
}
