public import TenderPayments

extension VerifiedPaymentToken {
  /// What was checked: Apple's step 1, all of it.
  public static let checked: [PaymentTokenError.Stage] = [
    .format, .certificates, .chain, .signature, .signingTime,
  ]

  /// What a token that stays sealed leaves open. The first four need the merchant's key, so whoever decrypts answers for
  /// them, the amount and the currency among them; the last two are the caller's.
  public static let unchecked: [PaymentTokenError.Stage] = [.key, .unwrap, .decrypt, .payload, .replay, .order]
}

extension OpenedPaymentToken {
  /// What was checked: Apple's steps 1 to 4.
  public static let checked: [PaymentTokenError.Stage] =
    VerifiedPaymentToken.checked + [.key, .unwrap, .decrypt, .payload]

  /// What is left to the caller: steps 5 and 6.
  public static let unchecked: [PaymentTokenError.Stage] = [.replay, .order]
}
