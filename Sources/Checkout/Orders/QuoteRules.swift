import DirectWire
package import TenderPayments
import TenderSheet

/// The prices of a basket by its own rules: a pure function of basket, state and time.
package enum QuoteRules {
  /// Goods that can be had there, then discount, fees, and the way they travel.
  package static func price(_ basket: Basket, _ state: SheetState, at now: Timestamp) throws -> Priced {
    let goods = try Goods(basket, state)
    let coupon = Coupon(basket, state, at: now)
    let unserved = unserviceable(basket, state, goods)
    // Where nothing is delivered there is no way to send it and no total; the chosen method is kept for another address.
    let methods = unserved.isEmpty ? try shippingMethods(basket, state, goods.value) : []
    var understood = state
    understood.couponCode = coupon.found?.code
    if unserved.isEmpty { understood.shippingMethod = methods.first?.identifier }
    let discount = try coupon.lines(off: goods.value, basket)
    let discounted = try (discount.map(\.amount) + [goods.value]).total(in: basket.currency)
    let shipping = methods.first.map { [SummaryItem(label: $0.label, amount: $0.amount)] } ?? []
    let rest = try discount + fees(basket, state, on: discounted) + shipping
    let isPending = basket.document.pending || !unserved.isEmpty
    let shown: (SummaryItem) -> SummaryItem = { isPending ? $0.madePending : $0 }
    return Priced(
      state: understood, lines: (goods.lines + rest).map(shown),
      sheetLines: basket.document.lines == .subtotal ? (goods.subtotal(basket) + rest).map(shown) : nil,
      shippingMethods: methods, unavailableItems: goods.unavailable,
      errors: unserved + coupon.errors)
  }

  /// What is offered at the destination, the selected one first. Before the destination is known everything is.
  private static func shippingMethods(
    _ basket: Basket, _ state: SheetState, _ goods: Amount
  ) throws -> [ShippingMethod] {
    guard state.service.needsAddress else { return [] }
    let here = basket.document.zones.first { state.destination == .zone($0.id) }
    let offered = basket.document.shippingMethods.filter { method in
      guard let here, !here.methods.isEmpty else { return true }
      return here.methods.contains(method.identifier)
    }
    let methods = offered.map { method in
      let isFree = method.freeFrom.map { goods.minorUnits >= $0 } ?? false
      return ShippingMethod(
        identifier: method.identifier, label: method.label, detail: method.detail,
        amount: basket.amount(isFree ? 0 : method.amount))
    }
    let selected = methods.filter { $0.identifier == state.shippingMethod }
    return selected + methods.filter { $0.identifier != state.shippingMethod }
  }

  /// The fees of this kind of service and of this place; those of a kind of card only once the sheet has reported which
  /// it is, and last.
  ///
  /// - Parameter goods: the goods less their discount, of which rates are taken.
  private static func fees(_ basket: Basket, _ state: SheetState, on goods: Amount) throws -> [SummaryItem] {
    let fees = basket.document.fees.filter { $0.applies(state) }
    let general = fees.filter { $0.paymentMethodTypes == nil }
    let ofCard = fees.filter { $0.paymentMethodTypes != nil }
    return try (general + ofCard).compactMap { fee in
      let rate = try fee.basisPoints.map { try goods.share(basisPoints: $0) }
      // A rate of so little that it rounds to nothing is no line.
      if let rate, rate.minorUnits == 0 { return nil }
      return SummaryItem(label: fee.label, amount: rate ?? basket.amount(fee.amount ?? 0))
    }
  }

  private static func unserviceable(_ basket: Basket, _ state: SheetState, _ goods: Goods) -> [SheetError] {
    guard state.service.needsAddress else { return [] }
    if state.destination == .misspelt {
      return [.shippingContactInvalid(.postalCode, basket.locale.text(.postalCodeWrong))]
    }
    if state.destination == .unserviceable { return [.addressUnserviceable(basket.locale.text(.addressNotServed))] }
    return goods.isEmpty ? [.addressUnserviceable(basket.locale.text(.nothingServedThere))] : []
  }
}

extension BasketDocument.Fee {
  fileprivate func applies(_ state: SheetState) -> Bool {
    let isOfService = serviceTypes?.contains(state.service.rawValue) ?? true
    let isOfCard = paymentMethodTypes.map { types in
      state.paymentMethod.map { types.contains($0.rawValue) } ?? false
    }
    return isOfService && isOfPlace(state) && isOfCard ?? true
  }

  private func isOfPlace(_ state: SheetState) -> Bool {
    guard let zones else { return true }
    guard state.service.needsAddress, case .zone(let zone) = state.destination else { return false }
    return zones.contains(zone)
  }
}

/// The items of a basket, parted by whether they can be had at the destination.
private struct Goods {
  let lines: [SummaryItem]
  /// What those that can be had cost together, before any discount.
  let value: Amount
  let unavailable: [String]
  let isEmpty: Bool
  private let missingLines: [SummaryItem]

  init(_ basket: Basket, _ state: SheetState) throws {
    let items = basket.document.items
    let missing = items.filter { !$0.isAvailable(state) }
    lines = try items.map { item in
      guard item.isAvailable(state) else {
        return Self.missing(item, basket)
      }
      return SummaryItem(label: item.name, amount: try basket.amount(item.unitAmount).times(item.quantity))
    }
    value = try lines.map(\.amount).total(in: basket.currency)
    missingLines = missing.map { Self.missing($0, basket) }
    unavailable = missing.map(\.id)
    isEmpty = missing.count == items.count
  }

  /// One line for what can be had, and still one for each item that cannot: the shopper has to know.
  func subtotal(_ basket: Basket) -> [SummaryItem] {
    (isEmpty ? [] : [SummaryItem(label: basket.locale.text(.subtotal), amount: value)]) + missingLines
  }

  private static func missing(_ item: BasketDocument.Item, _ basket: Basket) -> SummaryItem {
    SummaryItem(label: basket.locale.text(.unavailableItem, item: item.name), amount: basket.amount(0))
  }
}

/// The coupon of a state, looked up.
private struct Coupon {
  let found: BasketDocument.Coupon?
  let errors: [SheetError]

  init(_ basket: Basket, _ state: SheetState, at now: Timestamp) {
    guard let wanted = state.couponCode.map(Self.normalised) else { (found, errors) = (nil, []); return }
    let known = basket.document.coupons.first { Self.normalised($0.code) == wanted }
    if known == nil {
      (found, errors) = (nil, [.couponCodeInvalid(basket.locale.text(.couponUnknown))])
    } else if let end = known?.expiresAt?.timestamp, end <= now {
      (found, errors) = (nil, [.couponCodeExpired(basket.locale.text(.couponExpired))])
    } else {
      (found, errors) = (known, [])
    }
  }

  /// Never more than the goods are worth: a discount does not pay for the delivery.
  func lines(off goods: Amount, _ basket: Basket) throws -> [SummaryItem] {
    guard let found else { return [] }
    let wanted = try found.percentBasisPoints.map { try goods.share(basisPoints: $0).minorUnits }
    let discount = min(wanted ?? found.amount ?? 0, goods.minorUnits)
    return [SummaryItem(label: found.label, amount: try basket.amount(discount).negated())]
  }

  private static func normalised(_ code: String) -> String { code.filter { !$0.isWhitespace }.uppercased() }
}

extension BasketDocument.Item {
  fileprivate var name: String { quantity == 1 ? label : "\(quantity) × \(label)" }

  /// Everything can be collected, and everything is offered until the destination is known.
  fileprivate func isAvailable(_ state: SheetState) -> Bool {
    guard state.service.needsAddress, let availableIn, case .zone(let zone) = state.destination else { return true }
    return availableIn.contains(zone)
  }
}

extension SummaryItem {
  fileprivate var madePending: SummaryItem { SummaryItem(label: label, amount: amount, kind: .pending) }
}
