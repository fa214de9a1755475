import DirectWire
package import TenderPayments
import TenderSheet

/// The prices of a basket by its own rules: a pure function of basket, state and time.
package enum QuoteRules {
  /// Goods that can be had there, then discount, fees, and the way they travel.
  package static func price(_ basket: Basket, _ state: SheetState, at now: Timestamp) throws -> Priced {
    let goods = try Goods(basket, state)
    let coupon = Coupon(basket, state, at: now)
    let methods = try shippingMethods(basket, state, goods.value)
    var understood = state
    understood.couponCode = coupon.found?.code
    understood.shippingMethod = methods.first?.identifier
    let lines = try goods.lines + coupon.lines(off: goods.value, basket) + fees(basket, state)
    let shipping = methods.first.map { [SummaryItem(label: $0.label, amount: $0.amount)] } ?? []
    return Priced(
      state: understood, lines: (lines + shipping).map { basket.document.pending ? $0.madePending : $0 },
      shippingMethods: methods, unavailableItems: goods.unavailable,
      errors: unserviceable(state, goods) + coupon.errors)
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

  /// The fees of this kind of service; those of a kind of card only once the sheet has reported which it is, and last.
  private static func fees(_ basket: Basket, _ state: SheetState) -> [SummaryItem] {
    let fees = basket.document.fees.filter { $0.serviceTypes?.contains(state.service.rawValue) ?? true }
    let general = fees.filter { $0.paymentMethodTypes == nil }
    let ofCard = fees.filter { fee in
      guard let type = state.paymentMethod else { return false }
      return fee.paymentMethodTypes?.contains(type.rawValue) ?? false
    }
    return (general + ofCard).map { SummaryItem(label: $0.label, amount: basket.amount($0.amount)) }
  }

  private static func unserviceable(_ state: SheetState, _ goods: Goods) -> [SheetError] {
    guard state.service.needsAddress else { return [] }
    if state.destination == .unserviceable { return [.addressUnserviceable("We do not deliver to this address.")] }
    return goods.isEmpty ? [.addressUnserviceable("Nothing in this order can be delivered to this address.")] : []
  }
}

/// The items of a basket, parted by whether they can be had at the destination.
private struct Goods {
  let lines: [SummaryItem]
  /// What those that can be had cost together, before any discount.
  let value: Amount
  let unavailable: [String]
  let isEmpty: Bool

  init(_ basket: Basket, _ state: SheetState) throws {
    let items = basket.document.items
    let missing = items.filter { !$0.isAvailable(state) }
    lines = try items.map { item in
      guard item.isAvailable(state) else {
        return SummaryItem(label: "\(item.name) (not available there)", amount: basket.amount(0))
      }
      return SummaryItem(label: item.name, amount: try basket.amount(item.unitAmount).times(item.quantity))
    }
    value = try lines.map(\.amount).total(in: basket.currency)
    unavailable = missing.map(\.id)
    isEmpty = missing.count == items.count
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
      (found, errors) = (nil, [.couponCodeInvalid("This code is not known.")])
    } else if let end = known?.expiresAt?.timestamp, end <= now {
      (found, errors) = (nil, [.couponCodeExpired("This code has expired.")])
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
