import DirectWire
import Orders
import TenderPayments
import TenderSheet

/// What a merchant asks for, checked: the basket, and the page beside it.
struct CheckoutDraft {
  let id: BasketID
  let document: BasketDocument
  let expiresAt: Timestamp
  let attempts: Int64
  private let page: HostedCheckoutInput
  private let merchant: HostedMerchant
  private let order: HostedOrder
  private let recipientName: String?

  /// Worldline's default.
  static let defaultMinutes: Int64 = 180
  static let defaultAttempts: Int64 = 10
  private static let longestMinutes: Int64 = 7 * 24 * 60

  init(
    _ request: CreateHostedCheckoutRequest, of merchant: HostedMerchant, at now: Timestamp, id: BasketID
  ) throws {
    let page = request.hostedCheckoutSpecificInput ?? HostedCheckoutInput()
    guard page.returnUrl != nil else { throw Self.invalid("\(Self.input).returnUrl", "is missing") }
    let minutes = page.sessionTimeout ?? Self.defaultMinutes
    guard (1...Self.longestMinutes).contains(minutes) else {
      throw Self.invalid("\(Self.input).sessionTimeout", "must be from 1 to \(Self.longestMinutes) minutes")
    }
    try self.init(
      request.order, page, request.mobilePaymentMethodSpecificInput, request.cardPaymentMethodSpecificInput,
      of: merchant, expires: now.adding(.seconds(minutes * 60)), id: id, recipientName: nil)
  }

  init(
    _ order: HostedOrder?, _ page: HostedCheckoutInput, _ mobile: HostedMobileInput?, _ card: HostedMobileInput?,
    of merchant: HostedMerchant, expires: Timestamp, id: BasketID, recipientName: String?
  ) throws {
    guard let order else { throw Self.invalid("order", "is missing") }
    if let recipientName {
      guard (1...200).contains(recipientName.utf8.count), recipientName.unicodeScalars.allSatisfy(\.isReadable) else {
        throw Self.invalid(
          "paymentLinkSpecificInput.recipientName", "must have 1 to 200 bytes of readable characters alone")
      }
    }
    (self.id, self.merchant, self.order, self.page) = (id, merchant, order, page)
    (expiresAt, self.recipientName) = (expires, recipientName)
    let product = mobile?.paymentProduct302SpecificInput
    try Self.check(page, merchant, product)
    try Self.requireApplePay(page.paymentProductFilters, mobile)
    attempts = page.allowedNumberOfPaymentAttempts ?? Self.defaultAttempts
    var document = try Self.document(
      order, merchant, id, Self.locale(page, order, merchant), mobile?.authorizationMode ?? card?.authorizationMode)
    document.agreement = product?.agreement
    self.document = document
  }

  func checkout(
    of merchant: MerchantID, _ kind: HostedCheckout.Kind, returnMAC: String, at now: Timestamp
  ) -> HostedCheckout {
    HostedCheckout(
      id: id, merchant: merchant, kind: kind, returnURL: page.returnUrl, returnMAC: returnMAC,
      locale: document.locale ?? self.merchant.locale, variant: page.variant ?? "",
      showsResult: page.showResultPage ?? true, country: country, merchantReference: document.merchantReference,
      merchantParameters: order.references?.merchantParameters, recipientName: recipientName, createdAt: now,
      expiresAt: expiresAt)
  }

  /// Stored cards are not for Apple Pay, so every token that is named is one that cannot be used.
  static func invalidTokens(_ page: HostedCheckoutInput?) -> [String]? {
    page?.tokens.map { $0.split(separator: ",").map(String.init) }
  }

  /// The country of the bill, or of the parcel, or of the language's region.
  private var country: String? {
    let named = order.customer?.billingAddress?.countryCode ?? order.shipping?.address?.countryCode
    return named?.uppercased() ?? Self.region(of: document.locale ?? "")
  }

  private static func region(of tag: String) -> String? {
    tag.split { $0 == "-" || $0 == "_" }.dropFirst().first { $0.utf8.count == 2 }?.uppercased()
  }
}

// The page's input.
extension CheckoutDraft {
  static let input = "hostedCheckoutSpecificInput"

  static func invalid(_ field: String, _ reason: String) -> HostedCheckoutError {
    HostedCheckoutError(.checkoutInvalid, "\(field) \(reason)", field: field)
  }

  private static func check(
    _ page: HostedCheckoutInput, _ merchant: HostedMerchant, _ product: MobilePaymentInput.Product302?
  ) throws {
    let hasAgreement = product?.agreement != nil
    if let url = page.returnUrl, !ReturnURL.isAllowed(url) {
      throw invalid("\(input).returnUrl", "must be an absolute address of https, or of http on this machine")
    }
    if let locale = page.locale, !ShopperLocale.isTag(locale) {
      throw invalid("\(input).locale", "must be a language tag such as de_AT")
    }
    if let variant = page.variant, !variant.isEmpty, merchant.variants[variant] == nil {
      throw invalid("\(input).variant", "names no look of the merchant; there is no hosted/\(variant.prefix(40)).yaml")
    }
    guard (1...10).contains(page.allowedNumberOfPaymentAttempts ?? 1) else {
      throw invalid("\(input).allowedNumberOfPaymentAttempts", "must be from 1 to 10")
    }
    guard product?.isRecurring?.value != true || hasAgreement else {
      throw invalid(
        "mobilePaymentMethodSpecificInput.paymentProduct302SpecificInput.isRecurring", "must be false without agreement"
      )
    }
    guard page.isRecurring != true || hasAgreement else {
      throw invalid(
        "\(input).isRecurring",
        "must be false without mobilePaymentMethodSpecificInput.paymentProduct302SpecificInput.agreement")
    }
  }

  /// Apple Pay is the page's only product, so a filter without it leaves nothing.
  private static func requireApplePay(_ filters: HostedCheckoutInput.Filters?, _ mobile: HostedMobileInput?) throws {
    let product = MobilePaymentInput.applePay
    let field = "\(input).paymentProductFilters"
    if let only = filters?.restrictTo?.products, !only.isEmpty, !only.contains(product) {
      throw HostedCheckoutError(.paymentProductExcluded, "restrictTo leaves out 302", field: "\(field).restrictTo")
    }
    if filters?.restrictTo?.products?.isEmpty ?? true, filters?.restrictTo?.groups?.isEmpty == false {
      throw HostedCheckoutError(.paymentProductExcluded, "302 is in no group", field: "\(field).restrictTo")
    }
    if filters?.exclude?.products?.contains(product) == true {
      throw HostedCheckoutError(.paymentProductExcluded, "302 is excluded", field: "\(field).exclude")
    }
    guard (mobile?.paymentProductId ?? product) == product else {
      throw HostedCheckoutError(
        .paymentProductExcluded, "the page takes product 302 alone",
        field: "mobilePaymentMethodSpecificInput.paymentProductId")
    }
  }

  /// BCP 47 has hyphens where Worldline's `de_AT` has an underscore.
  private static func locale(_ page: HostedCheckoutInput, _ order: HostedOrder, _ merchant: HostedMerchant) -> String {
    let named = page.locale ?? order.customer?.locale.flatMap { ShopperLocale.isTag($0) ? $0 : nil }
    return (named ?? merchant.locale).replacing("_", with: "-")
  }
}

// The basket.
extension CheckoutDraft {
  private static func document(
    _ order: HostedOrder, _ merchant: HostedMerchant, _ id: BasketID, _ locale: String,
    _ mode: MobilePaymentInput.AuthorizationMode?
  ) throws -> BasketDocument {
    guard let money = order.amountOfMoney else { throw invalid("order.amountOfMoney", "is missing") }
    guard let amount = money.value else { throw invalid("order.amountOfMoney.currencyCode", "is no currency") }
    guard amount.isPositive else { throw invalid("order.amountOfMoney.amount", "must be more than 0") }
    let reference = order.references?.merchantReference ?? String(id.rawValue.prefix(DirectReferences.referenceLimit))
    guard DirectReferences.isReference(reference) else {
      throw invalid(
        "order.references.merchantReference",
        "has 1 to \(DirectReferences.referenceLimit) characters, without line breaks and control characters")
    }
    if let name = order.references?.unreadable {
      throw invalid("order.references.\(name)", "must have readable characters alone")
    }
    if let long = order.tooLong { throw invalid(long.member, "must have at most \(long.limit)") }
    let lines = CartLines(order, amount) ?? CartLines(single: amount, reference)
    var document = BasketDocument(
      currencyCode: amount.currency, countryCode: merchant.countryCode, merchantReference: reference,
      businessName: merchant.name, serviceTypes: ["none"], items: lines.items)
    document.fees = lines.fees
    document.customer = order.customer?.merchantCustomerId
    document.contactFields = []
    document.lines = .items
    document.locale = locale
    document.capture = mode == .sale ? .immediate : .manual
    document.authorization = mode?.type
    return document
  }
}

/// The lines of a shopping cart, if they add up to the amount.
private struct CartLines {
  private(set) var items: [BasketDocument.Item] = []
  private(set) var fees: [BasketDocument.Fee] = []

  /// One line, for an order without a cart, or with one that says something else than the amount.
  init(single amount: Amount, _ reference: String) {
    items = [BasketDocument.Item(id: "1", label: reference, unitAmount: amount.minorUnits)]
  }

  init?(_ order: HostedOrder, _ amount: Amount) {
    guard let lines = order.shoppingCart?.items, !lines.isEmpty else { return nil }
    for (index, line) in lines.enumerated() {
      guard let item = Self.item(line, amount.currency, number: index + 1) else { return nil }
      items.append(item)
    }
    let currency = amount.currency
    let costs = [order.shipping?.shippingCost, order.shipping?.shippingCostTax].compactMap { $0?.amount(in: currency) }
    let discount = order.discount?.amount?.amount(in: currency) ?? .zero(currency)
    guard let shipping = try? costs.total(in: currency), !shipping.isNegative, !discount.isNegative,
      let reduction = try? discount.negated()
    else { return nil }
    let locale = ShopperLocale(order.customer?.locale ?? "en")
    add(shipping, HostedText.shipping.text(in: locale))
    add(reduction, HostedText.discount.text(in: locale))
    guard (try? sum(in: currency)) == amount else { return nil }
  }

  private mutating func add(_ fee: Amount, _ label: String) {
    if fee.minorUnits != 0 { fees.append(.init(label: label, amount: fee.minorUnits)) }
  }

  private func sum(in currency: Currency) throws(AmountError) -> Amount {
    var sum = try fees.map { Amount(minorUnits: $0.amount ?? 0, currency: currency) }.total(in: currency)
    for item in items {
      sum = try sum.adding(Amount(minorUnits: item.unitAmount, currency: currency).times(item.quantity))
    }
    return sum
  }

  /// True where the line names no amount.
  private static func isSum(_ money: AmountOfMoney?, of price: Amount, times quantity: Int64) -> Bool {
    guard let sum = try? price.times(quantity) else { return false }
    return money.map { $0.amount == sum.minorUnits } ?? true
  }

  /// A line whose pieces do not make its amount is shown as one piece of that amount.
  private static func item(_ line: HostedOrder.Item, _ currency: Currency, number: Int) -> BasketDocument.Item? {
    let details = line.orderLineDetails
    guard let name = details?.productName ?? line.invoiceData?.description ?? details?.productCode else { return nil }
    let (quantity, price) = (details?.quantity ?? 1, details?.productPrice?.amount(in: currency))
    guard (1...9_999).contains(quantity) else { return nil }
    if let price, !price.isNegative, isSum(line.amountOfMoney, of: price, times: quantity) {
      return .init(id: "\(number)", label: String(name.prefix(200)), unitAmount: price.minorUnits, quantity: quantity)
    }
    guard let amount = line.amountOfMoney?.amount, amount >= 0 else { return nil }
    let label = quantity == 1 ? name : "\(quantity) × \(name)"
    return .init(id: "\(number)", label: String(label.prefix(200)), unitAmount: amount)
  }
}
