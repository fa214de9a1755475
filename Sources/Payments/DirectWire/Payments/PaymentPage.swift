/// What `GET /v2/{merchantId}/payments` returns, which Worldline has not: payments, newest first.
package struct PaymentPageAnswer: Sendable, Hashable, Codable {
  package var payments: [DirectPayment]
  /// For the next page; nil after the last one.
  package var nextCursor: String?

  package init(_ payments: [DirectPayment], nextCursor: String?) {
    (self.payments, self.nextCursor) = (payments, nextCursor)
  }
}
