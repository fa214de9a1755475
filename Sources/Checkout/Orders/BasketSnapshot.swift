import Ledger
package import DirectWire
import Storage
package import TenderPayments

/// What became of a basket: for the shopper who reloads the page, and for the merchant who asks.
package struct BasketOutcome: Sendable, Hashable {
  package let state: BasketAnswer.State
  package let order: OrderRecord?
  /// The live payment, or the latest.
  package let payment: Payment?
}

/// A basket with its payment, seen at one moment.
struct BasketSnapshot: Sendable {
  let record: BasketRecord
  /// The live payment, or the latest. With the first one the order was written.
  let payment: Payment?

  init(_ id: BasketID, of merchant: MerchantID?, in store: Transaction) throws {
    let (record, payment) = try store.first(BasketRecord.query(id), Journal.paymentQuery(of: id))
    try self.init(record, payment, of: merchant)
  }

  init(_ record: BasketRecord?, _ payment: Payment?, of merchant: MerchantID?) throws {
    self.record = try record.checked(isOf: merchant)
    self.payment = payment
  }

  /// The payment that holds the basket: not one that was declined, after which another card may pay.
  var livePayment: Payment? { payment.flatMap { $0.status.isLive ? $0 : nil } }

  /// Whether the acquirer may know more than we do: of the payment, or of money that should have been taken at once.
  var waitsForAnswer: Bool {
    guard let payment else { return false }
    return !payment.status.isResolved || payment.status == .authorized && record.basket.document.capture == .immediate
  }

  var state: BasketAnswer.State { record.isCancelled ? .cancelled : livePayment == nil ? .open : .placed }

  /// Throws unless the basket can still be shown and paid.
  func checkOpen(at now: Timestamp) throws {
    if record.isCancelled { throw OrderError(.basketCancelled, "the basket was cancelled") }
    if let livePayment { throw OrderError(.basketPlaced, "the basket's payment is \(livePayment.status.rawValue)") }
    guard now < record.expiresAt else { throw OrderError(.basketExpired, "the basket ended at \(record.expiresAt)") }
  }
}

extension OrderService {
  func snapshot(of id: BasketID, _ merchant: MerchantID) async throws -> BasketSnapshot {
    let (record, payment) = try await database.first(BasketRecord.query(id), Journal.paymentQuery(of: id))
    return try BasketSnapshot(record, payment, of: merchant)
  }
}
