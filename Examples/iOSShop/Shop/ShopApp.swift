import SwiftUI
import TenderCheckout

@main struct ShopApp: App {
  @StateObject private var model = ShopModel()

  var body: some Scene {
    WindowGroup {
      MenuView(model: model)
        .task { await model.open() }
        .onContinueUserActivity(PaymentHandoff.activityType) { activity in
          guard let handoff = PaymentHandoff(activity) else { return }
          Task { await model.take(handoff) }
        }
    }
  }
}
