import Crypto
import TenderPayments

/// The end of a payment's identifier: 40 bits of a hash of the basket that it pays.
///
/// An authorization has its payment's identifier as its reference, so a provider's listing says of a payment that is lost
/// here which basket it paid, to whoever knows the basket.
enum BasketMark {
  private static let digits = 10

  static func of(_ basket: BasketID, _ merchant: MerchantID) -> String {
    let hash = SHA256.hash(data: Array("\(merchant.rawValue)\n\(basket.rawValue)".utf8))
    return String(Hex.encode(hash.prefix(digits / 2)))
  }

  static func of(_ payment: PaymentID) -> String { String(payment.rawValue.suffix(digits)) }

  /// A time-ordered identifier with the mark of the order's basket.
  static func identifier(_ id: String, of order: Order) -> String {
    id.dropLast(digits) + of(order.basket, order.merchant)
  }

  /// When this program made an identifier; nil for a name of another's, as one is whose time is yet to come.
  static func time(of reference: AttemptReference, at now: Timestamp) -> Timestamp? {
    let text = reference.rawValue.utf8
    guard text.count == 32, text.allSatisfy({ (0x30...0x39).contains($0) || (0x61...0x66).contains($0) }),
      let milliseconds = Int64(reference.rawValue.prefix(12), radix: 16)
    else { return nil }
    let time = Timestamp(seconds: 0).adding(.milliseconds(milliseconds))
    return time < now.adding(.seconds(86_400)) ? time : nil
  }
}
