import PassKit
import SwiftUI
import TenderCheckout
import TenderPayments
import TenderSheet
import Testing

@MainActor @Suite struct `The button` {
  private func availability(_ networks: Set<CardNetwork>, canPay: Bool = true) -> ApplePayAvailability {
    ApplePayAvailability(
      of: World.merchant,
      on: PaymentDevice(
        platform: .current, canMakePayments: { canPay },
        hasCard: { wanted, _ in !networks.isDisjoint(with: wanted) }, canOpenWallet: { true }, openWallet: {}))
  }

  /// Presses the button. Returns its kind and the resulting actions.
  private func press(_ availability: ApplePayAvailability) throws -> [String] {
    var actions: [String] = []
    let button = ApplePayButton(
      availability, label: .order, buy: { actions.append("buys") }, setUp: { actions.append("sets up") })
    var view: Any? = button.body
    while let shown = view {
      if let apple = shown as? PayWithApplePayButton<EmptyView> {
        apple.action()
        return [apple.label == .order ? "order" : apple.label == .setUp ? "set up" : "another"] + actions
      }
      view = Mirror(reflecting: shown).children.first?.value
    }
    return actions
  }

  @Test func `of SwiftUI buys, sets up, or is not there`() throws {
    #expect(try press(availability([.visa])) == ["order", "buys"])
    #expect(try press(availability([])) == ["set up", "sets up"])
    #expect(try press(availability([.visa], canPay: false)).isEmpty)
  }

  @Test func `of UIKit and AppKit is Apple's`() {
    #expect(availability([.visa]).paymentButton(type: .order)?.type == .order)
    #expect(availability([.visa]).paymentButton()?.style == .automatic)
    #expect(availability([]).paymentButton(type: .order)?.type == .setUp)
    #expect(availability([], canPay: false).paymentButton() == nil)
  }

  @Test func `on a watch hands the payment to the phone`() throws {
    let handoff = PaymentHandoff(basket: BasketID("b"), service: .collection, title: "Harbour Kitchen")
    let activity = handoff.userActivity
    #expect(activity.title == "Harbour Kitchen")
    #expect(activity.isEligibleForHandoff && !activity.isEligibleForSearch)
    #expect(PaymentHandoff(activity) == handoff)
    #expect(PaymentHandoff(NSUserActivity(activityType: PaymentHandoff.activityType)) == nil)
  }
}
