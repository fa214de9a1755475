import TenderPayments
import TenderSheet
import TenderTesting

extension Fields {
  func errors() throws -> [SheetError] {
    try all("error").map { try Self.error($0) }
  }

  func update() throws -> SheetUpdate {
    guard let euro = Currency(code: "EUR") else { throw FlowPlayer.Unreadable(event: ["EUR"]) }
    let total = try Amount(sheetText: self["total"] ?? "", currency: euro)
    let methods = try self["methods"]?.split(separator: ",").map { try Self.method(String($0), euro) }
    let lines = [SummaryItem(label: "Food", amount: total)]
    return SheetUpdate(
      summary: try Summary(businessName: "Trattoria", lines: lines, currency: euro), shippingMethods: methods,
      errors: try errors())
  }

  /// `bike:2.50`
  private static func method(_ text: String, _ currency: Currency) throws -> ShippingMethod {
    let parts = text.split(separator: ":").map(String.init)
    guard parts.count == 2 else { throw FlowPlayer.Unreadable(event: [text]) }
    return ShippingMethod(
      identifier: parts[0], label: parts[0], detail: "", amount: try Amount(sheetText: parts[1], currency: currency))
  }

  /// `shippingContactInvalid:postalCode`
  private static func error(_ text: String) throws -> SheetError {
    let parts = text.split(separator: ":").map(String.init)
    let field = parts.count > 1 ? ErrorContactField(rawValue: parts[1]) : nil
    switch SheetError.Code(rawValue: parts.first ?? "") {
    case .shippingContactInvalid: return .shippingContactInvalid(field, "")
    case .billingContactInvalid: return .billingContactInvalid(field, "")
    case .addressUnserviceable: return .addressUnserviceable("")
    case .couponCodeInvalid: return .couponCodeInvalid("")
    case .couponCodeExpired: return .couponCodeExpired("")
    case .unknown: return .unknown("")
    case nil: throw FlowPlayer.Unreadable(event: [text])
    }
  }
}

extension SheetCall {
  /// The call's name in a transcript.
  var verb: String {
    switch self {
    case .merchantSession: "merchant-session"
    case .update: "update"
    case .pay: "pay"
    case .outcome: "outcome"
    case .cancel: "cancel"
    }
  }

  fileprivate var line: String {
    switch self {
    case .update(let change): "update \(change.line)"
    case .pay(let quote): "pay \(quote)"
    case .merchantSession(let url?): "merchant-session \(url)"
    default: verb
    }
  }
}

extension SheetEffect {
  /// The effect as a transcript writes it.
  var line: String {
    switch self {
    case .open: "sheet opens"
    case .ask(_, let call, _): "server \(call.line)"
    case .giveMerchantSession: "sheet gets merchant-session"
    case .update(let moment, let update): "sheet gets \(moment.line)\(update.line)"
    case .completePayment(.success): "sheet gets success"
    case .completePayment(.failure(let errors)): "sheet gets failure\(errors.line)"
    case .abort: "sheet aborted"
    case .report(let report): "page \(report.line)"
    }
  }
}

extension SheetChange {
  fileprivate var line: String {
    switch self {
    case .shippingContact(let contact):
      "\(moment.line) \([contact.countryCode, contact.postalCode].compactMap { $0 }.joined(separator: "/"))"
    case .shippingMethod(let value), .couponCode(let value): "\(moment.line) \(value)".trimmed
    case .paymentMethod(let type): "\(moment.line) \(type.rawValue)"
    }
  }
}

extension SheetMoment {
  fileprivate var line: String {
    switch self {
    case .contactSelection: "shipping-contact"
    case .shippingMethodSelection: "shipping-method"
    case .couponCodeChange: "coupon-code"
    case .paymentMethodSelection: "payment-method"
    case .payment: "payment"
    }
  }
}

extension SheetUpdate {
  fileprivate var line: String {
    let methods = newShippingMethods.map { list in
      " methods=" + list.map { "\($0.identifier):\((try? $0.amount.sheetText) ?? "?")" }.joined(separator: ",")
    }
    return " total=\((try? newTotal.amount.sheetText) ?? "?")\(methods ?? "")\(errors.line)"
  }
}

extension SheetReport {
  fileprivate var line: String {
    switch self {
    case .authorized(let status): "authorized \(status.rawValue)"
    case .failed(let code): "failed \(code)"
    case .cancelled: "cancelled"
    case .unavailable(let code): "unavailable \(code)"
    }
  }
}

extension [SheetError] {
  fileprivate var line: String {
    map { error in " error=\(error.code.rawValue)" + (error.contactField.map { ":\($0.rawValue)" } ?? "") }.joined()
  }
}

extension String {
  fileprivate var trimmed: String { split(separator: " ").joined(separator: " ") }
}
