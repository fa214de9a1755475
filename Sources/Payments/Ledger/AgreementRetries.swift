package import Storage
package import TenderPayments

/// What the card schemes still allow of an agreement's card after its declines.
///
/// After some reasons nothing is tried again; after the others so many times within a time. A charge without an answer counts
/// as declined, so that calls at one time cannot exceed the limits together. The provider's advice code is not kept, so these
/// are the limits that Visa and Mastercard have in common.
package struct AgreementRetries: Sendable, Hashable {
  /// The most charges that are declined within each time.
  package static let limits: [(most: Int, within: Duration)] = [(10, .seconds(86_400)), (15, .seconds(30 * 86_400))]

  /// The decline after which the card is never tried again; nil where there was none.
  package let stopped: DeclineReason?
  /// When the next charge may be made; nil for now.
  package let notBefore: Timestamp?
  /// Declined within the longest of the times.
  package let declines: Int

  init(of agreement: AgreementID, in store: Transaction) throws {
    let rows = try store.rows(
      """
      SELECT operations.state, operations.decline_reason, COALESCE(operations.answered_at, operations.sent_at) AS tried_at
      FROM operations JOIN payments ON payments.id = operations.payment
      WHERE payments.agreement = $1 AND operations.kind = 'authorize'
        AND operations.state IN ('declined', 'sending', 'pending', 'unknown')
      ORDER BY tried_at DESC LIMIT 100
      """, .text(agreement.rawValue))
    let tries = try rows.map { row in
      (
        at: try row.time("tried_at"),
        reason: try row.textOrNil("decline_reason").flatMap { DeclineReason(rawValue: $0) },
        isDeclined: try row.text("state") == "declined"
      )
    }
    let now = store.now
    stopped = tries.lazy.compactMap { $0.isDeclined ? $0.reason : nil }.first(where: \.allowsNoRetry)
    notBefore = Self.limits.compactMap { most, within -> Timestamp? in
      let counted = tries.filter { $0.at > now.adding(.zero - within) }
      // The newest first. When the one at this place no longer counts, another try is allowed.
      return counted.count < most ? nil : counted[most - 1].at.adding(within)
    }.max()
    let month = Self.limits.map(\.within).max() ?? .zero
    declines = tries.count { $0.isDeclined && $0.at > now.adding(.zero - month) }
  }

  func check() throws(AgreementError) {
    if let stopped { throw .stopped(stopped) }
    if let notBefore { throw .tooManyDeclines(notBefore) }
  }
}

extension Journal {
  /// What of the agreement's card may be tried after its declines.
  package static func retries(of agreement: AgreementID, in store: Transaction) throws -> AgreementRetries {
    try AgreementRetries(of: agreement, in: store)
  }
}

extension DeclineReason {
  /// Whether a scheme forbids another try: the account is closed, the card is reported, or the holder has revoked the consent.
  fileprivate var allowsNoRetry: Bool {
    switch self {
    case .lostOrStolen, .invalidCard, .notPermitted: true
    case .doNotHonor, .insufficientFunds, .expiredCard, .suspectedFraud, .limitExceeded, .cryptogramInvalid,
      .authenticationRequired, .issuerUnavailable, .configuration, .holdEnded, .approvedForLess, .other:
      false
    }
  }
}
