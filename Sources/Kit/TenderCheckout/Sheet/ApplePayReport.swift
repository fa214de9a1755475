/// What the service tells the app, in this order: `presented`; then how the payment ended; then `finished`.
///
/// A sheet that the device refused, or that was ended before it was there, is not `presented`.
public enum ApplePayReport: Sendable, Hashable {
  /// The sheet is there.
  case presented
  /// The order stands. May also come after `finished(.unknown)`, when the service has found out.
  case completed(PlacedOrder)
  /// Nothing was paid.
  case failed(PaymentFailure)
  /// The shopper or the app ended it; nothing was paid.
  case cancelled
  /// Nobody can say yet whether it was paid. Take the button away; the service goes on asking for five minutes.
  case unknown
  /// No sheet was opened.
  case unavailable(PaymentFailure)
  /// The sheet is gone: time to show the next screen.
  case finished(PaymentResult)
}

/// Hears what the service reports, for apps that do not iterate over ``ApplePayService/reports()``.
@MainActor public protocol ApplePayServiceDelegate: AnyObject, Sendable {
  /// The sheet is there.
  func applePayServiceDidPresent()
  /// The order stands.
  func applePayService(didComplete order: PlacedOrder)
  /// Nothing was paid, or no sheet was opened.
  func applePayService(didFail failure: PaymentFailure)
  /// The sheet is gone, and this is what it came to.
  func applePayService(didFinish result: PaymentResult)
}
