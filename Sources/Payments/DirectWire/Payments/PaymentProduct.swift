/// Worldline's `PaymentProduct` of Apple Pay.
package struct PaymentProduct: Sendable, Hashable, Codable {
  package var id: Int64
  package var paymentMethod: String
  package var displayHints: DisplayHints
  /// Worldline's newer SDKs read this one.
  package var displayHintsList: [DisplayHints]
  /// What a form would ask the shopper for; Apple Pay has its own sheet.
  package var fields: [String]?
  package var accountsOnFile: [String]?
  package var allowsRecurring: Bool
  package var allowsTokenization: Bool
  package var allowsAuthentication: Bool
  package var usesRedirectionTo3rdParty: Bool
  package var paymentProduct302SpecificData: ApplePayData

  package struct DisplayHints: Sendable, Hashable, Codable {
    package var displayOrder: Int64
    package var label: String
    package var logo: String
  }

  package struct ApplePayData: Sendable, Hashable, Codable {
    /// As Apple's `PKPaymentNetwork` spells them.
    package var networks: [String]
  }

  /// - Parameter hidden: `fields` and `accountsOnFile`, where the caller does not want them.
  package init(networks: [String], hides hidden: Set<String> = []) {
    let hints = DisplayHints(displayOrder: 0, label: "Apple Pay", logo: "")
    id = MobilePaymentInput.applePay
    paymentMethod = "mobile"
    (displayHints, displayHintsList) = (hints, [hints])
    fields = hidden.contains("fields") ? nil : []
    accountsOnFile = hidden.contains("accountsOnFile") ? nil : []
    (allowsRecurring, allowsTokenization, allowsAuthentication) = (false, false, false)
    usesRedirectionTo3rdParty = false
    paymentProduct302SpecificData = ApplePayData(networks: networks)
  }
}

/// Worldline's `GetPaymentProductsResponse`.
package struct PaymentProductsAnswer: Sendable, Hashable, Codable {
  package var paymentProducts: [PaymentProduct]
  package init(paymentProducts: [PaymentProduct]) { self.paymentProducts = paymentProducts }
}

/// Worldline's `PaymentProductNetworksResponse`.
package struct PaymentProductNetworks: Sendable, Hashable, Codable {
  package var networks: [String]
  package init(networks: [String]) { self.networks = networks }
}

/// The body of `POST …/webhooks/validateCredentials`: a key's id, and the signature of an empty body under its secret.
package struct WebhookCredentialsRequest: Sendable, Hashable, Codable {
  package var key: String
  package var secret: String
}

/// Worldline's `ValidateCredentialsResponse`.
package struct WebhookCredentialsAnswer: Sendable, Hashable, Codable {
  /// `Valid` or `Invalid`.
  package var result: String
  package init(isValid: Bool) { result = isValid ? "Valid" : "Invalid" }
}

/// The body of `POST …/webhooks/sendtest`.
package struct TestWebhookRequest: Sendable, Hashable, Codable {
  package var url: String?
}
