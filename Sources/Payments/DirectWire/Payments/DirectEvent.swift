package import TenderPayments

/// What a webhook says: Worldline's `WebhooksEvent`, one object in each call.
package struct DirectEvent: Sendable, Hashable, Codable {
  /// `v1`
  package var apiVersion: String
  /// RFC 3339.
  package var created: String
  package var id: String
  package var merchantId: String
  /// `payment.captured`, `refund.refund_requested`
  package var type: String
  package var payment: DirectPayment?
  package var refund: DirectRefund?

  package init(id: String, _ type: String, of merchant: String, at time: Timestamp) {
    apiVersion = Self.version
    created = time.description
    self.id = id
    merchantId = merchant
    self.type = type
  }

  package static let version = "v1"
}
