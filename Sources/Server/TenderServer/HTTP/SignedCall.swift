import Administration
import Foundation
import Hummingbird
package import Ledger
import Logging
import MerchantIdentity
import NIOCore
package import DirectWire
import Settings
package import TenderPayments

/// A call of a merchant's server whose signature was verified and whose body was checked.
package struct SignedCall: Sendable, Hashable {
  package let merchant: MerchantID
  /// The name under which a call that moves money is done once: its caller's key, or its signature. A verb of the
  /// gateway that runs under it gives a repeated call the first answer.
  package let idempotent: IdempotentCall
  /// Whether that name is its caller's key.
  package let hasKey: Bool

  /// - Parameters:
  ///   - call: the method and the route that was taken, with the payment that it names, as of ``name(_:_:_:_:)``.
  ///   - body: the bytes as they arrived.
  package init(
    _ caller: AuthenticatedCaller, of merchant: MerchantID, call: String, body: [UInt8]
  ) throws {
    self.merchant = merchant
    hasKey = caller.idempotencyKey != nil
    guard let key = caller.idempotencyKey else {
      idempotent = IdempotentCall(merchant: merchant, signature: caller.signature, body: body)
      return
    }
    guard (1...40).contains(key.utf8.count), key.utf8.allSatisfy({ (0x20..<0x7F).contains($0) }) else {
      throw Problem(
        .badRequest, "idempotency_key_invalid", "An idempotency key has 1 to 40 ASCII characters.",
        field: "X-GCS-Idempotence-Key")
    }
    idempotent = IdempotentCall(merchant: merchant, call: call, key: IdempotencyKey(key), body: body)
  }

  /// What a call is known by beside its key: `POST /v2/shop/payments/0190…_0/refund`. A path has more than one spelling,
  /// and a payment more than one name; this has one, in which our answers write it.
  ///
  /// - Parameters:
  ///   - route: the pattern that the path has matched, such as `/v2/{merchantId}/payments/{payment}/refund`.
  ///   - parameters: what stands at the route's names.
  static func name(_ method: String, _ route: String, _ merchant: MerchantID, _ parameters: Parameters) -> String {
    let parts = route.split(separator: "/").map { part -> String in
      guard part.hasPrefix("{"), part.hasSuffix("}") else { return String(part) }
      let (name, value) = (part.dropFirst().dropLast(), parameters.get(String(part.dropFirst().dropLast())) ?? "")
      return switch name {
      case "merchantId": merchant.rawValue
      case "payment": DirectPaymentID(value)?.authorization.description ?? value
      default: value
      }
    }
    return "\(method) /\(parts.joined(separator: "/"))"
  }
}
