import Auditing
import Gateway
import Ledger
import Storage
import TenderPayments

// Merchant tokens that Apple unlinks: the notification comes once or more often, a node asks Apple later, and what was asked for
// may be lost with the process.

extension EngineLife {
  /// Apple's notification arrives. It is kept before it is answered.
  func notify(unlinkingOf payment: Payment) {
    Task.detached { [gateway] in
      try await gateway.journal.database.write { store in
        guard try Journal.agreement(of: payment.id, in: store)?.merchantToken != nil else { return }
        _ = try Journal.keepMerchantTokenEvent(payment.id.rawValue, of: payment.merchant, in: store)
      }
    }
  }

  /// Asks Apple what its notifications are about, and applies what it says.
  ///
  /// - Parameter followed: the first payment of each agreement that a notification was about.
  func followNotifications(_ followed: @escaping (PaymentID) -> Void) {
    let followed = Carried(followed)
    Task.detached { [gateway] in
      let journal = gateway.journal
      let events = try await journal.database.write { try Journal.takeMerchantTokenEvents(atMost: 4, in: $0) }
      for event in events {
        let payment = PaymentID(event.id)
        try await journal.database.write { store in
          guard let token = try Journal.agreement(of: payment, in: store)?.merchantToken else { return }
          _ = try journal.apply(MerchantTokenNews("UNLINK", of: token, because: "user"), of: event, in: store)
        }
        followed.value(payment)
      }
    }
  }
}

extension SimulatedWorld {
  /// One agreement in three loses its card in Wallet.
  func unlinkLater(_ order: Order, _ payment: Payment) {
    guard thread.choices.chance(350) else { return }
    unlinkable[payment.id] = order.id
    let first = thread.choices.milliseconds(60_000...300_000)
    for _ in 0...thread.choices.pick(3) {
      thread.after(first + thread.choices.milliseconds(0...20_000), "Apple notifies") {
        self.engine?.notify(unlinkingOf: payment)
      }
    }
    for _ in 0..<4 {
      thread.after(first + thread.choices.milliseconds(0...90_000), "Apple is asked") {
        self.engine?.followNotifications { self.noteUnlinked(by: $0) }
      }
    }
  }

  /// From now on nothing may be charged.
  private func noteUnlinked(by payment: PaymentID) {
    guard let order = unlinkable[payment] else { return }
    coverage.profiles[Coverage.unlinkedToken, default: 0] += 1
    unlinked.insert(order)
  }
}
