import TenderPayments

// Reading is written out, because absent lists are empty and unknown properties are errors.

extension BasketDocument {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case currencyCode, countryCode, merchantReference, businessName, serviceTypes, serviceType, items, fees, zones
    case shippingMethods, coupons, couponCode, requestedFor, note, customer, capture, authorization, pending
    case estimate, contactFields
    case lines, addressCheck, locale, billingRequired, supportedCountries, quoteURL, orderURL, expectedDates, route
    case agreement
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    currencyCode = try keys.required(.currencyCode)
    countryCode = try keys.required(.countryCode)
    merchantReference = try keys.required(.merchantReference)
    businessName = try keys.required(.businessName)
    serviceTypes = try keys.required(.serviceTypes)
    serviceType = try keys.optional(.serviceType)
    items = try keys.required(.items)
    fees = try keys.list(.fees)
    zones = try keys.list(.zones)
    shippingMethods = try keys.list(.shippingMethods)
    coupons = try keys.list(.coupons)
    couponCode = try keys.optional(.couponCode)
    requestedFor = try keys.optional(.requestedFor)
    note = try keys.optional(.note)
    customer = try keys.optional(.customer)
    capture = try keys.optional(.capture) ?? .immediate
    authorization = try keys.optional(.authorization)
    pending = try keys.optional(.pending) ?? false
    estimate = try keys.optional(.estimate)
    contactFields = try keys.optional(.contactFields)
    lines = try keys.optional(.lines)
    addressCheck = try keys.optional(.addressCheck)
    locale = try keys.optional(.locale)
    billingRequired = try keys.optional(.billingRequired) ?? false
    supportedCountries = try keys.list(.supportedCountries)
    quoteURL = try keys.optional(.quoteURL)
    orderURL = try keys.optional(.orderURL)
    expectedDates = try keys.optional(.expectedDates)
    route = try keys.optional(.route)
    agreement = try keys.optional(.agreement)
  }
}

extension BasketDocument.Item {
  enum CodingKeys: String, CodingKey, CaseIterable { case id, label, unitAmount, quantity, availableIn }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    id = try keys.required(.id)
    label = try keys.required(.label)
    unitAmount = try keys.required(.unitAmount)
    quantity = try keys.optional(.quantity) ?? 1
    availableIn = try keys.optional(.availableIn)
  }
}

extension BasketDocument.Fee {
  enum CodingKeys: String, CodingKey, CaseIterable {
    case label, amount, basisPoints, serviceTypes, paymentMethodTypes, zones
  }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    label = try keys.required(.label)
    amount = try keys.optional(.amount)
    basisPoints = try keys.optional(.basisPoints)
    zones = try keys.optional(.zones)
    serviceTypes = try keys.optional(.serviceTypes)
    paymentMethodTypes = try keys.optional(.paymentMethodTypes)
  }
}

extension BasketDocument.Zone {
  enum CodingKeys: String, CodingKey, CaseIterable { case id, countryCode, postalPrefixes, methods }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    id = try keys.required(.id)
    countryCode = try keys.required(.countryCode)
    postalPrefixes = try keys.list(.postalPrefixes)
    methods = try keys.list(.methods)
  }
}

extension BasketDocument.Method {
  enum CodingKeys: String, CodingKey, CaseIterable { case identifier, label, detail, amount, freeFrom, expectedDates }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    identifier = try keys.required(.identifier)
    label = try keys.required(.label)
    detail = try keys.optional(.detail) ?? ""
    amount = try keys.required(.amount)
    freeFrom = try keys.optional(.freeFrom)
    expectedDates = try keys.optional(.expectedDates)
  }
}

extension BasketDocument.Coupon {
  enum CodingKeys: String, CodingKey, CaseIterable { case code, label, percentBasisPoints, amount, expiresAt }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    code = try keys.required(.code)
    label = try keys.required(.label)
    percentBasisPoints = try keys.optional(.percentBasisPoints)
    amount = try keys.optional(.amount)
    expiresAt = try keys.optional(.expiresAt)
  }
}
