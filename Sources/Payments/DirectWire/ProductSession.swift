/// The body of `POST /v2/{merchantId}/products/302/sessions`: Worldline's `PaymentProductSessionRequest`.
package struct ProductSessionRequest: Sendable, Hashable, Codable {
  package var paymentProductSession302SpecificInput: Input

  package struct Input: Sendable, Hashable, Codable {
    /// What the sheet calls the merchant; nil for the merchant's own name.
    package var displayName: String?
    /// A registered domain of the merchant: the page that opens the sheet.
    package var domainName: String

    package init(displayName: String? = nil, domainName: String) {
      self.displayName = displayName
      self.domainName = domainName
    }
  }

  package init(_ input: Input) { paymentProductSession302SpecificInput = input }
}

/// Worldline's `PaymentProductSessionResponse`.
package struct ProductSessionAnswer: Sendable, Hashable, Codable {
  package var paymentProductSession302SpecificOutput: Output

  package struct Output: Sendable, Hashable, Codable {
    /// Apple's merchant session as text: the page parses it and hands it to `completeMerchantValidation`.
    package var session: String
  }

  package init(session: String) { paymentProductSession302SpecificOutput = Output(session: session) }
}
