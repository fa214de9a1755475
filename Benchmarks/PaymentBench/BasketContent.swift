import StrictJSON
import TenderPayments

/// What a basket of the benchmark holds, as the merchant's server sends it.
struct BasketContent: Sendable {
  /// Minor units of euro, however many items there are.
  static let total: Int64 = 1250
  /// A code that takes ten per cent off.
  static let coupon = "TEN"

  var capture = CaptureMode.manual
  var items = 1
  var takesCoupon = false

  func document(_ basket: String) -> JSONValue {
    var document: JSONObject = [
      "currencyCode": "EUR", "countryCode": "IE", "merchantReference": .string("BENCH-\(basket)"),
      "businessName": "Harbour Kitchen", "serviceTypes": ["collection"], "items": .array(lines),
      "capture": .string(capture.rawValue),
    ]
    if takesCoupon {
      document["coupons"] = [["code": .string(Self.coupon), "label": "Ten per cent", "percentBasisPoints": 1000]]
    }
    return .object(document)
  }

  /// The first carries what the division leaves over.
  private var lines: [JSONValue] {
    let price = Self.total / Int64(items)
    return (0..<items).map { number in
      let rest = number == 0 ? Self.total % Int64(items) : 0
      return [
        "id": .string("item-\(number)"), "label": "One of everything", "unitAmount": .integer(price + rest),
        "quantity": 1,
      ]
    }
  }
}
