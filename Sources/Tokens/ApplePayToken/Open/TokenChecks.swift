public import TenderPayments

extension VerifiedPaymentToken {
  /// The stages that verification checks: all of Apple's step 1.
  public static let checked: [PaymentTokenError.Stage] = [
    .format, .certificates, .chain, .signature, .signingTime,
  ]

  /// The stages that a sealed token leaves open. The first four, which include amount and currency, need the merchant's
  /// key: the provider that decrypts the token checks them. The caller checks the last two.
  public static let unchecked: [PaymentTokenError.Stage] = [.key, .unwrap, .decrypt, .payload, .replay, .order]
}

extension OpenedPaymentToken {
  /// The stages that opening checks: Apple's steps 1 to 4.
  public static let checked: [PaymentTokenError.Stage] =
    VerifiedPaymentToken.checked + [.key, .unwrap, .decrypt, .payload]

  /// The stages that the caller checks: steps 5 and 6.
  public static let unchecked: [PaymentTokenError.Stage] = [.replay, .order]
}
