package import DirectWire
package import Gateway
package import Ledger
import Orders
import Storage
import TenderPayments

/// A later payment of an agreement, with its order: for the platform API and for operators.
package enum AgreementCharging {
  /// Charges once for the key. A repeat gets the first answer.
  ///
  /// - Parameter references: what answers repeat; nil for none.
  package static func perform(
    _ charge: AgreementCharge, _ references: DirectReferences? = nil, under key: IdempotentCall,
    through gateway: PaymentGateway
  ) async throws -> KeyedAnswer {
    if let known = try await gateway.findAnswer(under: key) { return known }
    let call = try gateway.newCall(under: key)
    defer { call.end() }
    let prepared = try await gateway.prepare(charge)
    do {
      let claimed = try await gateway.claim(prepared, for: call) { claimed, store in
        try ChargedOrder(claimed.order, customer: prepared.agreement.customer).save(in: store)
        // A period that was declined keeps the references of its first charge: a repeat of that call gets the same answer.
        guard try PlatformOrder.find(claimed.order.id, in: store) == nil else { return }
        try PlatformOrder(references: references).save(as: claimed.order.id, of: claimed.order.merchant, in: store)
      }
      return try await gateway.authorize(claimed, in: call)
    } catch let taken as KeyTaken {
      return try await gateway.firstAnswer(under: key, taken)
    } catch GatewayError.agreementRefused(.charged(let period, let payment)) {
      // A repeat of this call, at the same moment, may have charged it.
      guard let known = try await gateway.findAnswer(under: key) else {
        throw GatewayError.agreementRefused(.charged(period, payment))
      }
      return known
    }
  }
}
