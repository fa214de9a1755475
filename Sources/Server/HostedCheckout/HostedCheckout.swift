package import DirectWire
package import TenderPayments

/// A checkout that is paid on the platform's own page: what the merchant asked of the page, beside the basket.
///
/// It has its basket's id, 128 random bits: the right to see the page and to pay on it.
package struct HostedCheckout: Sendable, Hashable {
  package let id: BasketID
  package let merchant: MerchantID
  package let kind: Kind
  /// Where the shopper goes afterwards; nil for a payment link that names no address.
  package var returnURL: String?
  /// What the shopper's browser brings back to the merchant beside the id: `RETURNMAC`.
  package var returnMAC: String
  /// The shopper's language tag.
  package var locale: String
  package var variant: String
  /// Whether the page shows the result before the shopper goes back.
  package var showsResult: Bool
  /// The shopper's country, ISO 3166-1 alpha-2, as far as the merchant names it.
  package var country: String?
  package var merchantReference: String
  /// Returned as it was sent.
  package var merchantParameters: String?
  package var recipientName: String?
  package let createdAt: Timestamp
  package let expiresAt: Timestamp

  package enum Kind: String, Sendable, Hashable {
    /// For a shopper who comes from the merchant's own pages.
    case session
    /// An address that the merchant sends to the shopper.
    case link
  }
}

// On the wire.
extension HostedCheckout {
  package var references: DirectReferences {
    DirectReferences(merchantReference: merchantReference, merchantParameters: merchantParameters)
  }

  package var output: HostedCheckoutOutput {
    HostedCheckoutOutput(hostedCheckoutId: id.rawValue, variant: variant.isEmpty ? nil : variant)
  }
}

/// Why a hosted checkout was not made or not found.
package struct HostedCheckoutError: Error, Sendable, Hashable {
  package let code: Code
  package let detail: String
  /// The property of the request that is at fault.
  package let field: String?

  package init(_ code: Code, _ detail: String, field: String? = nil) {
    self.code = code
    self.detail = detail
    self.field = field
  }

  /// Stable; the raw value is what callers see.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case checkoutUnknown = "checkout_unknown"
    case checkoutInvalid = "checkout_invalid"
    case paymentProductExcluded = "payment_product_excluded"
    case linkClosed = "link_closed"
  }
}
