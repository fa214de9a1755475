package import TenderPayments

/// A state of a payment or an operation by Worldline's number, `statusCode`, which the words follow.
///
/// Source: Worldline Direct, *Statuses*, and the statuses of its recorded answers.
package enum DirectStatus: Int64, Sendable, Hashable, Codable, CaseIterable {
  case created = 0
  case cancelledByCustomer = 1
  case rejected = 2
  case captureStored = 4
  case pendingCapture = 5
  case cancelled = 6
  case paymentDeleted = 7
  case refunded = 8
  case captured = 9
  case pendingPayment = 41
  case redirected = 46
  case authorizationQueued = 50
  case authorizationWaiting = 51
  case authorizationUnknown = 52
  case cancelWaiting = 61
  case cancelUnknown = 62
  case cancelRefused = 63
  case refundRequested = 81
  case refundUnknown = 82
  case refundRefused = 83
  case refundedByMerchant = 85
  case captureRequested = 91
  case captureUnknown = 92
  case captureRefused = 93
  case captureProcessing = 99

  /// Worldline's word of the state: `status`.
  package var word: String {
    switch self {
    case .created: "CREATED"
    case .cancelledByCustomer, .cancelled, .cancelWaiting, .cancelUnknown: "CANCELLED"
    case .rejected, .refundRefused, .cancelRefused: "REJECTED"
    case .pendingCapture: "PENDING_CAPTURE"
    case .refunded, .refundedByMerchant, .paymentDeleted: "REFUNDED"
    case .captured: "CAPTURED"
    case .pendingPayment: "PENDING_PAYMENT"
    case .redirected: "REDIRECTED"
    case .authorizationQueued, .authorizationWaiting, .authorizationUnknown: "AUTHORIZATION_REQUESTED"
    case .refundRequested, .refundUnknown: "REFUND_REQUESTED"
    case .captureStored, .captureRequested, .captureUnknown, .captureProcessing: "CAPTURE_REQUESTED"
    case .captureRefused: "REJECTED_CAPTURE"
    }
  }

  /// Worldline's group of the state: `statusCategory`.
  package var category: String {
    switch self {
    case .created: "CREATED"
    case .rejected, .refundRefused, .captureRefused, .cancelRefused, .cancelled, .cancelledByCustomer: "UNSUCCESSFUL"
    case .pendingCapture, .cancelWaiting, .cancelUnknown: "PENDING_MERCHANT"
    case .pendingPayment, .redirected: "PENDING_PAYMENT"
    case .captured: "COMPLETED"
    case .refunded, .refundedByMerchant, .paymentDeleted: "REFUNDED"
    case .authorizationQueued, .authorizationWaiting, .authorizationUnknown, .captureStored, .captureRequested,
      .captureUnknown, .captureProcessing, .refundRequested, .refundUnknown:
      "PENDING_CONNECT_OR_3RD_PARTY"
    }
  }

  /// What the state is a state of.
  package enum Subject: Sendable, Hashable {
    case authorization, capture, cancel, refund
  }

  package var subject: Subject {
    switch self {
    case .created, .rejected, .pendingCapture, .pendingPayment, .redirected, .authorizationQueued,
      .authorizationWaiting, .authorizationUnknown:
      .authorization
    case .captureStored, .captured, .captureRequested, .captureUnknown, .captureRefused, .captureProcessing: .capture
    case .cancelledByCustomer, .cancelled, .cancelWaiting, .cancelUnknown, .cancelRefused: .cancel
    case .paymentDeleted, .refunded, .refundRequested, .refundUnknown, .refundRefused, .refundedByMerchant: .refund
    }
  }

  /// How far the operation is.
  package enum Progress: Sendable, Hashable {
    case done, refused, open
  }

  package var progress: Progress {
    switch self {
    case .pendingCapture, .captured, .cancelled, .cancelledByCustomer, .paymentDeleted, .refunded, .refundedByMerchant:
      .done
    case .rejected, .refundRefused, .captureRefused, .cancelRefused: .refused
    case .created, .captureStored, .pendingPayment, .redirected, .authorizationQueued, .authorizationWaiting,
      .authorizationUnknown, .cancelWaiting, .cancelUnknown, .refundRequested, .refundUnknown, .captureRequested,
      .captureUnknown, .captureProcessing:
      .open
    }
  }
}

extension DirectStatus {
  /// The state of a payment. One that is refunded in part is still captured: `isRefundable` and `acquiredAmount` say
  /// what is left.
  package init(_ status: PaymentStatus) {
    switch status {
    case .authorizing, .pending: self = .authorizationWaiting
    case .unknown: self = .authorizationUnknown
    case .authorized, .verified: self = .pendingCapture
    case .partiallyCaptured, .captured, .partiallyRefunded: self = .captured
    case .refunded: self = .refunded
    case .voided: self = .cancelled
    case .declined, .failed: self = .rejected
    }
  }
}
