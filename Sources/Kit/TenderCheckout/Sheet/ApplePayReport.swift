/// What the service reports to the app, in this order: `presented`; then how the payment ended; then `finished`.
///
/// A sheet that the device refused, or that ended before it was shown, is not reported as `presented`.
public enum ApplePayReport: Sendable, Hashable {
  /// The sheet is shown.
  case presented
  /// The order is placed. May also follow `finished(.unknown)`, once the service knows the outcome.
  case completed(PlacedOrder)
  /// Nothing was paid.
  case failed(PaymentFailure)
  /// The shopper or the app cancelled; nothing was paid.
  case cancelled
  /// It is not known yet whether it was paid. Hide the button; the service keeps asking for five minutes.
  case unknown
  /// No sheet was opened.
  case unavailable(PaymentFailure)
  /// The sheet is closed; the app can show the next screen.
  case finished(PaymentResult)
}

/// Receives the service's reports, for apps that do not iterate over ``ApplePayService/reports()``.
@MainActor public protocol ApplePayServiceDelegate: AnyObject, Sendable {
  /// The sheet is shown.
  func applePayServiceDidPresent()
  /// The order is placed.
  func applePayService(didComplete order: PlacedOrder)
  /// Nothing was paid, or no sheet was opened.
  func applePayService(didFail failure: PaymentFailure)
  /// The sheet is closed, with this result.
  func applePayService(didFinish result: PaymentResult)
}
