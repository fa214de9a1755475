import StrictJSON
import TenderCheckout
import TenderCheckoutAPI
import TenderSheet
import TenderTesting
import TenderPayments

extension Fields {
  var errors: [JSONValue] {
    all("error").map { value in
      let parts = value.split(separator: ":").map(String.init)
      return Wire.error(parts[0], parts.dropFirst().first)
    }
  }

  var methods: [(String, String)]? {
    self["methods"]?.split(separator: ",").map { word in
      let parts = word.split(separator: ":").map(String.init)
      return (parts[0], parts.last ?? "")
    }
  }

  static func change(_ event: [String]) throws -> SheetChange {
    let value = event.count > 3 ? event[3] : ""
    switch event[2] {
    case "shipping-contact":
      let parts = value.split(separator: "/", maxSplits: 1).map(String.init)
      return .shippingContact(RedactedContact(postalCode: parts.dropFirst().first, countryCode: parts.first))
    case "shipping-method": return .shippingMethod(value)
    case "coupon-code": return .couponCode(value)
    case "payment-method": return .paymentMethod(PaymentMethodType(rawValue: value) ?? .unknown)
    default: throw TranscriptPlayer.Unreadable(event: event)
    }
  }
}

extension CheckoutCall {
  /// As a transcript writes it.
  var line: String {
    switch kind {
    case "pay": "pay \(json["quoteId"]?.word ?? "")"
    case "merchant-session": ["merchant-session", json["validationURL"]?.word].compactMap { $0 }.joined(separator: " ")
    case "update": "update \(change)"
    default: kind
    }
  }

  private var change: String {
    if let contact = json["shippingContact"] {
      let place = [contact["countryCode"]?.word, contact["postalCode"]?.word].compactMap { $0 }
      return "shipping-contact \(place.joined(separator: "/"))"
    }
    if let method = json["shippingMethod"]?["identifier"]?.word { return "shipping-method \(method)" }
    if let type = json["paymentMethod"]?["type"]?.word { return "payment-method \(type)" }
    let code = json["couponCode"]?.word ?? ""
    return code.isEmpty ? "coupon-code" : "coupon-code \(code)"
  }
}

extension JSONValue {
  var word: String? {
    if case .string(let text) = self { text } else { nil }
  }
}

extension ApplePayReport {
  /// A report to a transcript's page; nil for reports that only apps receive.
  var line: String? {
    switch self {
    case .completed(let order): "page authorized \(order.status.rawValue)"
    case .failed(let failure): "page failed \(failure.code)"
    case .cancelled: "page cancelled"
    case .unknown: "page failed outcome_unknown"
    case .unavailable(let failure): "page unavailable \(failure.code)"
    case .presented, .finished: nil
    }
  }
}

extension PaymentCompletion {
  var line: String {
    switch self {
    case .success: "success"
    case .failure(let errors): "failure\(errors.line)"
    }
  }
}

extension SheetUpdate {
  var line: String {
    let methods = newShippingMethods.map { list in
      " methods=" + list.map { "\($0.identifier):\((try? $0.amount.sheetText) ?? "?")" }.joined(separator: ",")
    }
    return " total=\((try? newTotal.amount.sheetText) ?? "?")\(methods ?? "")\(errors.line)"
  }
}

extension [SheetError] {
  fileprivate var line: String {
    map { error in " error=\(error.code.rawValue)" + (error.contactField.map { ":\($0.rawValue)" } ?? "") }.joined()
  }
}
