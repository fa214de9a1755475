import HTTPTransport
import DirectWire
import StrictJSON
import TenderPayments
import TenderSheet

/// Asks the merchant's own server for the price of a change: a POST to the basket's `quoteURL`, signed as the platform
/// API's requests are, body included, with a key that the platform API does not accept.
///
/// Out: `{basketId, basket, serviceType, change, shippingMethod?, couponCode?, paymentMethod?, context?}`, where
/// `context` is whatever the last answer asked to be reminded of. The merchant's answer:
/// `{lines: [{label, amount, pending?}], shippingMethods?: [{identifier, label, detail?, amount}], shippingMethod?,
/// couponCode?, errors?: [{code, contactField?, message}], context?}`, amounts in minor units.
struct MerchantCallback {
  /// The sheet gives up after thirty seconds, and the shopper much sooner.
  static let budget = Duration.seconds(5)

  let sender: HTTPSender
  let clock: WallClock

  func price(
    _ basket: Basket, _ state: SheetState, after change: SheetChange, _ terms: MerchantTerms,
    within timeout: Duration = budget
  ) async throws -> Priced {
    let request = try request(basket, state, change, terms)
    let answer: InboundResponse
    do { answer = try await sender.send(request, min(timeout, Self.budget)) } catch {
      throw OrderError(.quoteSourceUnavailable, "the merchant's quoteURL: \(error)", field: "quoteURL")
    }
    guard answer.status == 200 else {
      throw OrderError(.quoteSourceUnavailable, "the merchant's quoteURL answered \(answer.status)", field: "quoteURL")
    }
    do { return try MerchantAnswer.read(answer.body, basket, state, change.moment) } catch let error as JSONError {
      throw OrderError(.quoteSourceInvalid, "the merchant's answer, \(error)", field: "quoteURL")
    }
  }

  private func request(
    _ basket: Basket, _ state: SheetState, _ change: SheetChange, _ terms: MerchantTerms
  ) throws -> OutboundRequest {
    guard let (url, signer) = terms.callback(to: basket.document.quoteURL) else {
      throw OrderError(
        .quoteSourceUnavailable, "the merchant's configuration does not allow this quoteURL", field: "quoteURL")
    }
    let question = MerchantQuestion(
      basketId: basket.id, basket: basket.document, serviceType: state.service, change: change,
      shippingMethod: state.shippingMethod, couponCode: state.couponCode, paymentMethod: state.paymentMethod,
      context: state.merchantContext)
    let body = Array(try StoredJSON.text(question).utf8)
    let signed = signer.headers(
      method: "POST", contentType: "application/json", pathAndQuery: url.target, body: body, at: clock.now())
    return OutboundRequest(
      method: "POST", url: url.text,
      headers: [HTTPField("Content-Type", "application/json")] + signed.map { HTTPField($0.name, $0.value) },
      body: body)
  }
}

private struct MerchantQuestion: Encodable {
  let basketId: BasketID
  let basket: BasketDocument
  let serviceType: ServiceType
  let change: SheetChange
  let shippingMethod: String?
  let couponCode: String?
  let paymentMethod: PaymentMethodType?
  let context: String?
}

/// Reads the merchant's answer, which is believed no more than a shopper's: every amount must be showable, every
/// method named once, and an error one that the sheet takes at this moment.
private enum MerchantAnswer {
  static func read(
    _ bytes: [UInt8], _ basket: Basket, _ state: SheetState, _ moment: SheetMoment
  ) throws -> Priced {
    let root = JSONField(try JSONReader.read(bytes))
    var understood = state
    let methods = try root.memberIfPresent("shippingMethods")?.array.map { try method($0, basket) } ?? []
    understood.couponCode = try root.memberIfPresent("couponCode")?.string
    understood.shippingMethod =
      try root.memberIfPresent("shippingMethod")?.string ?? selected(state.shippingMethod, methods)
    understood.merchantContext = try root.memberIfPresent("context").map(context)
    let lines = try root.member("lines").array.map { try line($0, basket) }
    guard !lines.isEmpty else { throw JSONError(.invalid, path: "$.lines", "at least one line") }
    return Priced(
      state: understood, lines: lines, shippingMethods: ordered(methods, understood.shippingMethod),
      errors: try root.memberIfPresent("errors")?.array.map { try error($0, moment) } ?? [])
  }

  private static func line(_ field: JSONField, _ basket: Basket) throws -> SummaryItem {
    let isPending = try field.memberIfPresent("pending")?.bool ?? false
    return SummaryItem(
      label: try text(field, "label"), amount: try amount(field, basket), kind: isPending ? .pending : .final)
  }

  private static func method(_ field: JSONField, _ basket: Basket) throws -> ShippingMethod {
    let amount = try amount(field, basket)
    guard !amount.isNegative else { throw JSONError(.invalid, path: "\(field.path).amount", "must not be negative") }
    return ShippingMethod(
      identifier: try text(field, "identifier"), label: try text(field, "label"),
      detail: try field.memberIfPresent("detail").map { try readable($0) } ?? "", amount: amount)
  }

  private static func amount(_ field: JSONField, _ basket: Basket) throws -> Amount {
    try field.member("amount").amount(in: basket.currency)
  }

  private static func text(_ field: JSONField, _ key: String) throws -> String {
    let member = try field.member(key)
    let text = try readable(member)
    guard !text.isEmpty, TextLimits.holds(text, most: 200) else {
      throw JSONError(.invalid, path: member.path, "must have 1 to 200 characters")
    }
    return text
  }

  private static func readable(_ field: JSONField) throws -> String {
    let text = try field.string
    guard text.unicodeScalars.allSatisfy(\.isReadable) else {
      throw JSONError(.invalid, path: field.path, "must have no control characters and marks of the writing direction")
    }
    return text
  }

  private static func context(_ field: JSONField) throws -> String {
    let text = try field.string
    guard text.utf8.count <= 2_048 else { throw JSONError(.invalid, path: field.path, "at most 2048 bytes") }
    return text
  }

  private static func error(_ field: JSONField, _ moment: SheetMoment) throws -> SheetError {
    if let message = try field.memberIfPresent("message") { _ = try readable(message) }
    let error = try StrictJSONDecoder().decode(SheetError.self, from: field.value)
    guard error.isAllowed(at: moment) else {
      throw JSONError(.invalid, path: field.path, "\(error.code.rawValue) cannot be shown at this moment")
    }
    return error
  }

  private static func selected(_ wanted: String?, _ methods: [ShippingMethod]) -> String? {
    (methods.first { $0.identifier == wanted } ?? methods.first)?.identifier
  }

  private static func ordered(_ methods: [ShippingMethod], _ selected: String?) -> [ShippingMethod] {
    methods.filter { $0.identifier == selected } + methods.filter { $0.identifier != selected }
  }
}
