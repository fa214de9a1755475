import ApplePayToken
import HostedCheckout
package import MerchantIdentity
package import Orders
package import TenderPayments

/// What a merchant has beside its settings, whether files or rows of the store hold it.
struct MerchantParts {
  var sites: [Merchant.Site] = []
  var identity: MerchantIdentityCertificate?
  var processing: [PaymentProcessingCertificate] = []
  var certificatesOfKeysElsewhere: [ProcessingCertificate] = []
  /// Secret by key id.
  var apiKeys: [String: String] = [:]
  /// What each API key may be used for, by its id; a key that is not here for everything.
  var apiKeyLimits: [String: APIKeyLimits] = [:]
  var callbackKeys: [String: String] = [:]
  var webhookKeys: [String: String] = [:]
  /// The id of the newest webhook key and callback key, where the store knows when each was made.
  var newestKeys: [SecretName.Kind: String] = [:]
  /// The looks of its hosted pages, by name.
  var variants: [String: HostedVariant] = [:]
  var origin = MerchantOrigin.declared
  var availability = MerchantAvailability()
  /// As a platform has registered it with Apple; nil where it is Apple's by an identifier of its own.
  var partner: PartnerMerchant?
}

/// What holds a merchant.
package enum MerchantOrigin: Sendable {
  /// A folder of the configuration, which commands only read.
  case declared
  /// The store, with the state of each certificate as it has it.
  case stored([StoredCertificate])
}

/// Whether a merchant may offer Apple Pay.
package struct MerchantAvailability: Sendable {
  package var isEnabled = true
  var terms = TermsStanding.none

  /// Why it may not; nil when it may.
  package func refusal(at now: Timestamp) -> OrderError.Code? {
    guard isEnabled else { return .applePayDisabled }
    return terms.allowsPayments(at: now) ? nil : .termsNotAccepted
  }
}
