import Crypto
package import DirectWire
import Storage
package import TenderPayments

/// What a payment token for a basket carries, where the merchant's server hands the token in.
package struct BasketBinding: Sendable, Hashable {
  package let basket: BasketID
  /// SHA-256 of the application data in the basket's payment request.
  package let applicationDataHash: [UInt8]
  /// What may be authorized at most where the total is pending, and the token carries zero; nil for a final total.
  package let estimate: Amount?
  /// What the sheet showed beyond this payment.
  package let agreement: AgreementDocument?

  package init(
    basket: BasketID, applicationDataHash: [UInt8], estimate: Amount?, agreement: AgreementDocument? = nil
  ) {
    self.agreement = agreement
    self.basket = basket
    self.applicationDataHash = applicationDataHash
    self.estimate = estimate
  }
}

extension OrderService {
  /// What ties a payment token to the merchant's newest basket of this reference. Only baskets of the merchant's own
  /// pages and apps count: no payment token of a hosted page reaches a merchant's server.
  ///
  /// - Returns: nil where there is no such basket.
  /// - Throws: ``OrderError/Code/totalPending`` where the total is pending and has no estimate.
  package func binding(ofReference reference: String, of merchant: MerchantID) async throws -> BasketBinding? {
    guard
      let basket = try await database.read({
        try BasketRecord.newest(ofReference: reference, of: merchant, in: $0)?.basket
      })
    else { return nil }
    if basket.document.pending, basket.estimate == nil {
      throw OrderError(.totalPending, "the basket's total is pending, and it has no estimate")
    }
    return BasketBinding(
      basket: basket.id,
      applicationDataHash: Array(SHA256.hash(data: await terms(merchant).applicationData(of: basket))),
      estimate: basket.estimate, agreement: basket.document.agreement)
  }
}
