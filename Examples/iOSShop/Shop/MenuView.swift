import SwiftUI
import TenderCheckout
import TenderPayments
import TenderSheet

struct MenuView: View {
  @ObservedObject var model: ShopModel

  var body: some View {
    NavigationStack {
      List {
        Picker("Service", selection: $model.service) {
          Text("Delivery").tag(ServiceType.delivery)
          Text("Collection").tag(ServiceType.collection)
        }
        .pickerStyle(.segmented)
        ForEach(model.dishes) { dish in row(dish) }
      }
      .navigationTitle("Harbour Kitchen")
      .safeAreaInset(edge: .bottom) { button.padding() }
      .alert("Apple Pay", isPresented: hasProblem) {
        Button("OK") { model.problem = nil }
      } message: {
        Text(model.problem ?? "")
      }
      .sheet(isPresented: hasOutcome) { OutcomeView(outcome: model.outcome) }
    }
  }

  private func row(_ dish: Backend.Dish) -> some View {
    Stepper(value: count(dish), in: 0...20) {
      VStack(alignment: .leading) {
        Text("\(count(dish).wrappedValue) × \(dish.name)")
        Text(dish.description).font(.caption)
        Text(price(dish)).font(.caption)
      }
    }
  }

  /// Never grey: whoever taps it is told what is missing.
  @ViewBuilder private var button: some View {
    if model.isPaying {
      ProgressView()
    } else if let availability = model.availability {
      ApplePayButton(availability, label: .order) {
        Task { await model.pay() }
      } setUp: {
        Task { await model.setUp() }
      }
    }
  }

  private func count(_ dish: Backend.Dish) -> Binding<Int> {
    Binding(
      get: { model.chosen[dish.id] ?? 0 },
      set: { number in model.chosen[dish.id] = number == 0 ? nil : number })
  }

  private func price(_ dish: Backend.Dish) -> String {
    model.currency.map { Amount(minorUnits: dish.amount, currency: $0).description } ?? ""
  }

  private var hasProblem: Binding<Bool> {
    Binding(get: { model.problem != nil }, set: { if !$0 { model.problem = nil } })
  }

  private var hasOutcome: Binding<Bool> {
    Binding(get: { model.outcome != nil }, set: { if !$0 { model.outcome = nil } })
  }
}
