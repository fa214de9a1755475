package import TenderSheet

/// Why a basket, a quote or an order was refused.
package struct OrderError: Error, Sendable, Hashable {
  package let code: Code
  /// The property of the basket or the request that is at fault: `items[0].unitAmount`.
  package let field: String?
  /// For the operator; never a contact, never card data.
  package let detail: String
  /// What the sheet can show, the gravest first.
  package let sheetErrors: [SheetError]
  /// What the integrator does about it.
  package var advice: String { code.advice }

  package init(_ code: Code, _ detail: String, field: String? = nil, sheetErrors: [SheetError] = []) {
    self.code = code
    self.field = field
    self.detail = detail
    self.sheetErrors = sheetErrors
  }

  /// Stable; the raw value is what callers see.
  package enum Code: String, Sendable, Hashable, CaseIterable {
    case basketUnknown = "basket_unknown"
    case basketIDWeak = "basket_id_weak"
    case basketIDTaken = "basket_id_taken"
    case basketInvalid = "basket_invalid"
    case totalNotPositive = "total_not_positive"
    case agreementNotOffered = "agreement_not_offered"
    case basketPlaced = "basket_placed"
    case basketCancelled = "basket_cancelled"
    case basketExpired = "basket_expired"
    case attemptsUsedUp = "attempts_used_up"
    case serviceUnavailable = "service_unavailable"
    case shippingMethodUnknown = "shipping_method_unknown"
    case quoteUnknown = "quote_unknown"
    case quoteForeign = "quote_foreign"
    case quoteStale = "quote_stale"
    case quoteSourceUnavailable = "quote_source_unavailable"
    case quoteSourceInvalid = "quote_source_invalid"
    case totalPending = "total_pending"
    case basketSourceUnavailable = "basket_source_unavailable"
    case basketSourceInvalid = "basket_source_invalid"
    case contactIncomplete = "contact_incomplete"
    case addressUnserviceable = "address_unserviceable"
    case addressChangesPrice = "address_changes_price"
    case paymentInProgress = "payment_in_progress"
    case guestUnknown = "guest_unknown"
    case guestClaimed = "guest_claimed"
    case applePayDisabled = "apple_pay_disabled"
    case termsNotAccepted = "terms_not_accepted"
  }
}

extension OrderError.Code {
  /// One sentence or two for `docs/errors.md` and for the answer.
  package var advice: String {
    switch self {
    case .basketUnknown: "Send the basket with PUT before the page opens, and use the same merchant's credentials."
    case .basketIDWeak: "Make the id of at least 128 random bits: 22 characters of base64url or 32 of hex."
    case .basketIDTaken: "Another merchant uses this id. Make ids at random."
    case .basketInvalid: "Correct the named property and send the basket again."
    case .totalNotPositive: "There must be something to pay. Take orders that cost nothing without Apple Pay."
    case .agreementNotOffered: "Give the merchant a route whose connector begins agreements: see docs/agreements.md."
    case .basketPlaced: "An attempt to pay was made. Ask for its outcome, and use a new basket for another order."
    case .basketCancelled: "The basket was cancelled for good. Use a new one."
    case .basketExpired: "Send the basket again under a new id."
    case .attemptsUsedUp: "The page may be paid on no more. Make another checkout for the order."
    case .serviceUnavailable: "Choose one of the basket's serviceTypes."
    case .shippingMethodUnknown: "Choose one of the methods that the last update offered."
    case .quoteUnknown, .quoteForeign: "Send the quoteId that came with this basket's last answer."
    case .quoteStale: "The basket or the sheet has changed. Open the sheet again and send its last quoteId."
    case .quoteSourceUnavailable: "The merchant's quoteURL did not answer in five seconds. Try again; check the shop."
    case .quoteSourceInvalid: "The merchant's quoteURL answered something else than a price. Check the shop."
    case .totalPending: "Price the pending lines before the shopper authorizes, or give the basket an estimate."
    case .basketSourceUnavailable: "The merchant's basketSource did not answer in five seconds. Check the shop."
    case .basketSourceInvalid: "The merchant's basketSource answered something else than a basket. Check the shop."
    case .contactIncomplete: "Show the sheet errors; the shopper corrects the contact and authorizes again."
    case .addressUnserviceable: "Show the sheet errors; the shopper chooses another address."
    case .addressChangesPrice: "Show the sheet errors; choosing the address again shows its price."
    case .guestUnknown: "Send the guest of the guest token's claims, with the credentials of the order's merchant."
    case .guestClaimed: "The guest was claimed for another customer, and stays that customer's."
    case .applePayDisabled: "The operator switches it on: tender merchant enable."
    case .termsNotAccepted: "The merchant accepts the current terms: tender merchant terms accept."
    case .paymentInProgress: "Wait, then ask for the outcome. Do not send another payment token."
    }
  }
}

extension OrderError {
  /// A price that cannot be shown on a sheet.
  init(_ violation: SheetViolation, field: String? = nil) {
    self.init(.basketInvalid, violation.reason, field: field)
  }
}
