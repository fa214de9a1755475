import DirectWire
import TenderPayments
import TenderSheet

/// What must hold of a basket document, property by property. Every refusal names the property.
enum BasketRules {
  /// A shopper who knows the id may pay the basket, so it must not be guessed. Hex digits carry four bits each,
  /// base64url characters six.
  static func checkID(_ id: BasketID) throws(OrderError) {
    let characters = Array(id.rawValue.utf8)
    guard characters.count <= 128, characters.allSatisfy(isURLSafe) else {
      throw OrderError(.basketIDWeak, "at most 128 characters of A–Z, a–z, 0–9, - and _", field: "basketId")
    }
    let isHex = id.rawValue.allSatisfy(\.isHexDigit)
    guard characters.count >= (isHex ? 32 : 22) else {
      throw OrderError(.basketIDWeak, "an id this short can be guessed", field: "basketId")
    }
  }

  static func services(_ document: BasketDocument) throws -> [ServiceType] {
    let services = try document.serviceTypes.enumerated().map { index, text in
      guard let service = ServiceType(rawValue: text) else {
        throw invalid("serviceTypes[\(index)]", names(ServiceType.self))
      }
      return service
    }
    guard !services.isEmpty, Set(services).count == services.count else {
      throw invalid("serviceTypes", "at least one, and each once")
    }
    return services
  }

  static func service(_ document: BasketDocument, among services: [ServiceType]) throws -> ServiceType {
    guard let text = document.serviceType else { return services[0] }
    guard let service = ServiceType(rawValue: text), services.contains(service) else {
      throw invalid("serviceType", "one of serviceTypes")
    }
    return service
  }

  static func check(_ document: BasketDocument) throws {
    try checkHead(document)
    try checkContactFields(document.contactFields ?? [])
    try checkItems(document)
    try checkFees(document)
    try checkZones(document)
    try checkMethods(document)
    try checkCoupons(document)
  }

  /// What comes from the page, and is only passed on.
  static func check(_ details: OrderDetails) throws {
    try checkText(details.requestedFor ?? "-", "requestedFor", most: 200)
    try checkText(details.note ?? "-", "note", most: 2_000)
  }

  /// The characters of a merchant's reference of a shopper.
  static let longestCustomer = 200

  /// A merchant's reference of a shopper.
  static func checkCustomer(_ customer: String, _ field: String) throws {
    try checkName(customer, field, most: longestCustomer)
  }

  private static func checkHead(_ document: BasketDocument) throws {
    try checkCountry(document.countryCode, "countryCode")
    for (index, country) in document.supportedCountries.enumerated() {
      try checkCountry(country, "supportedCountries[\(index)]")
    }
    try checkName(document.merchantReference, "merchantReference", most: 100)
    try checkText(document.businessName, "businessName", most: 100)
    try checkText(document.requestedFor ?? "-", "requestedFor", most: 200)
    try checkText(document.note ?? "-", "note", most: 2_000)
    try checkCustomer(document.customer ?? "-", "customer")
    try checkName(document.couponCode ?? "-", "couponCode", most: 100)
    guard ShopperLocale.isTag(document.locale ?? "en") else { throw invalid("locale", "a language tag such as de-AT") }
    try checkReceipt(document)
    try checkPending(document)
  }

  private static func checkPending(_ document: BasketDocument) throws {
    if document.pending, document.capture == .immediate {
      throw invalid("capture", "manual while the total is pending: nothing can be captured of it")
    }
    guard let estimate = document.estimate else { return }
    guard document.pending else { throw invalid("estimate", "absent unless the total is pending") }
    guard estimate > 0 else { throw invalid("estimate", "more than zero") }
    try checkAmount(estimate, document, "estimate")
  }

  private static func checkContactFields(_ fields: [String]) throws {
    for (index, field) in fields.enumerated() where ContactField(rawValue: field) == nil {
      throw invalid("contactFields[\(index)]", names(ContactField.self))
    }
    guard Set(fields).count == fields.count else { throw invalid("contactFields", "each field once") }
  }

  /// What a receipt shows: a page makes a link of the address.
  private static func checkReceipt(_ document: BasketDocument) throws {
    if let url = document.orderURL {
      let isAbsolute = url.hasPrefix("https://") || url.hasPrefix("http://")
      guard isAbsolute, url.utf8.count <= 2_000, url.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
        throw invalid("orderURL", "an absolute URL of https or http with at most 2000 characters of ASCII")
      }
    }
    try checkDates(document.expectedDates, "expectedDates")
    for (index, method) in document.shippingMethods.enumerated() {
      try checkDates(method.expectedDates, "shippingMethods[\(index)].expectedDates")
    }
  }

  private static func checkDates(_ dates: ExpectedDates?, _ field: String) throws {
    let named = [("dispatch", dates?.dispatch), ("arrival", dates?.arrival), ("collection", dates?.collection)]
    for case (let name, let date?) in named
    where Timestamp(rfc3339: date) == nil && Timestamp(rfc3339: date + "T00:00:00Z") == nil {
      throw invalid("\(field).\(name)", "a day as 2026-11-24 or a moment as 2026-11-24T19:30:00Z")
    }
  }

  private static func checkItems(_ document: BasketDocument) throws {
    guard !document.items.isEmpty else { throw invalid("items", "one or more") }
    try checkUnique(document.items.map(\.id), "items", "id")
    let zones = Set(document.zones.map(\.id))
    for (index, item) in document.items.enumerated() {
      let field = "items[\(index)]"
      try checkName(item.id, "\(field).id", most: 100)
      try checkText(item.label, "\(field).label", most: 200)
      guard item.unitAmount >= 0 else { throw invalid("\(field).unitAmount", "not negative; discounts are coupons") }
      guard (1...9_999).contains(item.quantity) else { throw invalid("\(field).quantity", "1 to 9999") }
      try checkAmount(item.unitAmount, times: item.quantity, document, "\(field).unitAmount")
      guard zones.isSuperset(of: item.availableIn ?? []) else { throw invalid("\(field).availableIn", "ids of zones") }
    }
    let lines = document.items.map { Amount(minorUnits: $0.unitAmount, currency: document.currencyCode) }
    let sum = try? zip(lines, document.items).map { try $0.times($1.quantity) }.total(in: document.currencyCode)
    guard let sum, Amount.limit.contains(sum.minorUnits) else {
      throw invalid("items", "at most \(Amount.limit.upperBound) minor units together")
    }
  }

  private static func checkFees(_ document: BasketDocument) throws {
    let zones = Set(document.zones.map(\.id))
    for (index, fee) in document.fees.enumerated() {
      let field = "fees[\(index)]"
      try checkText(fee.label, "\(field).label", most: 200)
      try checkPrice(fee, document, field)
      guard Set(document.serviceTypes).isSuperset(of: fee.serviceTypes ?? []) else {
        throw invalid("\(field).serviceTypes", "some of the basket's serviceTypes")
      }
      guard (fee.paymentMethodTypes ?? []).allSatisfy({ PaymentMethodType(rawValue: $0) != nil }) else {
        throw invalid("\(field).paymentMethodTypes", "credit, debit, prepaid, store or unknown")
      }
      guard zones.isSuperset(of: fee.zones ?? []) else { throw invalid("\(field).zones", "ids of zones") }
    }
  }

  private static func checkPrice(_ fee: BasketDocument.Fee, _ document: BasketDocument, _ field: String) throws {
    switch (fee.amount, fee.basisPoints) {
    case (let amount?, nil): try checkAmount(amount, document, "\(field).amount")
    case (nil, let points?):
      guard (1...10_000).contains(points) else { throw invalid("\(field).basisPoints", "1 to 10000, which is 100 %") }
    default: throw invalid(field, "either amount or basisPoints")
    }
  }

  private static func checkZones(_ document: BasketDocument) throws {
    try checkUnique(document.zones.map(\.id), "zones", "id")
    let methods = Set(document.shippingMethods.map(\.identifier))
    for (index, zone) in document.zones.enumerated() {
      let field = "zones[\(index)]"
      try checkName(zone.id, "\(field).id", most: 100)
      try checkCountry(zone.countryCode, "\(field).countryCode")
      guard zone.postalPrefixes.allSatisfy({ PostalPrefix($0).length > 0 }) else {
        throw invalid("\(field).postalPrefixes", "letters and digits; none for the whole country")
      }
      guard methods.isSuperset(of: zone.methods) else {
        throw invalid("\(field).methods", "identifiers of shippingMethods")
      }
    }
  }

  private static func checkMethods(_ document: BasketDocument) throws {
    try checkUnique(document.shippingMethods.map(\.identifier), "shippingMethods", "identifier")
    for (index, method) in document.shippingMethods.enumerated() {
      let field = "shippingMethods[\(index)]"
      try checkName(method.identifier, "\(field).identifier", most: 100)
      try checkText(method.label, "\(field).label", most: 200)
      if !method.detail.isEmpty { try checkText(method.detail, "\(field).detail", most: 500) }
      guard method.amount >= 0 else { throw invalid("\(field).amount", "not negative") }
      try checkAmount(method.amount, document, "\(field).amount")
      guard method.freeFrom ?? 0 >= 0 else { throw invalid("\(field).freeFrom", "not negative") }
    }
  }

  private static func checkCoupons(_ document: BasketDocument) throws {
    try checkUnique(document.coupons.map { $0.code.uppercased() }, "coupons", "code")
    for (index, coupon) in document.coupons.enumerated() {
      let field = "coupons[\(index)]"
      try checkName(coupon.code, "\(field).code", most: 100)
      try checkText(coupon.label, "\(field).label", most: 200)
      switch (coupon.percentBasisPoints, coupon.amount) {
      case (let points?, nil) where (1...10_000).contains(points): break
      case (nil, let amount?) where amount > 0: try checkAmount(amount, document, "\(field).amount")
      default: throw invalid(field, "either percentBasisPoints, 1 to 10000, or a positive amount")
      }
    }
  }
}

extension BasketRules {
  private static func isURLSafe(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"): true
    case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"): true
    default: false
    }
  }

  private static func checkCountry(_ code: String, _ field: String) throws {
    guard CountryCode.isAssigned(code) else {
      let advice = code.utf8.elementsEqual("UK".utf8) ? "; the United Kingdom is GB" : ""
      throw invalid(field, "a country of ISO 3166-1 in two capital letters\(advice)")
    }
  }

  private static func checkText(_ text: String, _ field: String, most: Int) throws {
    guard TextLimits.holds(text, most: most),
      text.unicodeScalars.contains(where: \.isVisible),
      text.unicodeScalars.allSatisfy({ $0.isReadable || $0 == "\n" })
    else {
      throw invalid(field, "1 to \(most) characters, without control characters and marks of the writing direction")
    }
  }

  /// A reference, an id or a code, which systems compare and operators read on terminals.
  private static func checkName(_ text: String, _ field: String, most: Int) throws {
    try checkText(text, field, most: most)
    guard text.unicodeScalars.allSatisfy(\.isPrintable) else {
      throw invalid(field, "without line breaks and control characters")
    }
  }

  private static func checkUnique(_ ids: [String], _ list: String, _ property: String) throws {
    var seen: Set<String> = []
    for (index, id) in ids.enumerated() where !seen.insert(id).inserted {
      throw invalid("\(list)[\(index)].\(property)", "unique")
    }
  }

  /// Whatever a shopper chooses, the sum of all lines and every share of it fit into 64 bits.
  private static func checkAmount(
    _ minorUnits: Int64, times quantity: Int64 = 1, _ document: BasketDocument, _ field: String
  ) throws {
    let unit = Amount(minorUnits: minorUnits, currency: document.currencyCode)
    guard let amount = try? unit.times(quantity), Amount.limit.contains(amount.minorUnits) else {
      throw invalid(field, "at most \(Amount.limit.upperBound) minor units")
    }
  }

  /// “a, b or c”.
  private static func names<Value: CaseIterable & RawRepresentable<String>>(_ type: Value.Type) -> String {
    let names = type.allCases.map(\.rawValue)
    return names.dropLast().joined(separator: ", ") + " or " + (names.last ?? "")
  }

  private static func invalid(_ field: String, _ wanted: String) -> OrderError {
    OrderError(.basketInvalid, "\(field) must be \(wanted)", field: field)
  }
}
