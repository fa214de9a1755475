import SwiftUI
import TenderCheckout

/// After the sheet: the order, or that nobody knows yet.
struct OutcomeView: View {
  let outcome: CheckoutOutcome?

  var body: some View {
    VStack(spacing: 12) {
      switch outcome {
      case .ordered(let order):
        Text("Thank you").font(.title)
        Text("Order \(order.receipt.merchantReference)")
        let verb = order.receipt.estimated == true ? "held" : "paid"
        Text("\(order.receipt.amount) \(order.receipt.currency), \(verb) with Apple Pay")
        if let card = order.card { Text(card) }
      case .unknown:
        Text("One moment").font(.title)
        Text("We do not know yet whether your payment went through. Please do not pay again; we will tell you.")
          .multilineTextAlignment(.center)
      default:
        EmptyView()
      }
    }
    .padding()
  }
}
