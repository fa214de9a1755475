/// A text that shoppers read from Tender: on the sheet, or as the result of a payment.
///
/// ``ShopperLocale`` has each in every language. The merchant's own texts, such as the names of fees and shipping methods,
/// are shown as the basket has them.
public enum ShopperText: String, Sendable, Hashable, CaseIterable {
  /// Errors of the address: the merchant does not go there, or with nothing that is in the basket.
  case addressNotServed, nothingServedThere, countryNotServed, postalCodeNotServed, postalCodeWrong
  /// `{item}` cannot be had at the address.
  case unavailableItem
  /// Errors of a coupon code.
  case couponUnknown, couponExpired
  /// The full address has another total, `{amount}`, or the same of other lines.
  case addressTotal, chooseAddressAgain
  /// The line of the goods where the sheet does not list them.
  case subtotal
  /// The line of what is held while the total is pending, and of a receipt; what stands for an amount that is not known.
  case held, amountPending
  /// On a receipt: the card as the sheet showed it, and Apple's identifier of the transaction.
  case card, transaction
  /// A field of the contact is empty.
  case enterCountry, enterStreet, enterTown, enterState, enterPostalCode, enterName, enterPhoneticName, enterPhone,
    enterEmail
  /// The billing address is missing.
  case enterBillingAddress
  /// The card was declined, without a reason or with one that the shopper can act upon.
  case declined, declinedFunds, declinedExpired, declinedLimit, declinedAuthentication, declinedUnreachable
  /// The payment was not made: its outcome stayed open and is undone, or the bank was not reached.
  case notConfirmed, notReached
  /// The payment was refused before it began: by the order's state, or for the moment.
  case paymentUnderWay, orderChanged, orderClosed, tryAgain
}
