import Administration
import CommandSupport
import Ledger
import TenderPayments
import TenderServer

/// Payments as people read them: amounts in major units with their currency.
extension PaymentReport {
  static func table(of payments: [PaymentReport]) -> Table {
    Table(
      "PAYMENT", "CREATED", "STATUS", "AMOUNT", "CAPTURED", "RELEASED", "REFUNDED", "MERCHANT", "REFERENCE", "CARD",
      "NOTE",
      of: payments
    ) {
      [
        "\($0.id)", $0.createdAt, $0.status.rawValue, $0.money($0.amount), $0.money($0.captured),
        $0.money($0.released ?? 0), $0.money($0.refunded), "\($0.merchant)", $0.merchantReference ?? "-", $0.card,
        $0.note,
      ]
    }
  }

  /// What the shopper's money has done, then what has to be known beside it.
  var fields: [(name: String, value: String)] {
    [
      ("payment", "\(id)"), ("status", status.rawValue), ("merchant", "\(merchant)"), ("order", "\(order)"),
      ("reference", merchantReference ?? "-"),
      ("basket", "\(basket)"), ("amount", money(amount)), ("authorized", money(authorized)),
      ("captured", money(captured)), ("released", released.map(money) ?? "-"), ("refunded", money(refunded)),
      ("chargedback", chargedBack.map(money) ?? "-"), ("card", card),
      ("network", cardNetwork ?? "-"), ("kind", cardType?.rawValue ?? "-"),
      ("transaction", transactionIdentifier ?? "-"), ("trace", traceId ?? "-"), ("created", createdAt),
      ("note", note),
    ].filter { $0.1 != "-" }
  }

  var operationTable: Table {
    Table("OPERATION", "AMOUNT", "STATE", "CODE", "SENT", "REFERENCE", of: operations ?? []) {
      [$0.name, money($0.amount), $0.state.rawValue, $0.codeText, $0.sentAt, "\($0.reference)"]
    }
  }

  private var note: String {
    let notes = [declined, amountConfirmed ? nil : "amount not confirmed", alarm.map { "ALARM \($0)" }]
    return notes.compactMap { $0 }.isEmpty ? "-" : notes.compactMap { $0 }.joined(separator: ", ")
  }

  /// Prints the payment with its operations.
  func show() {
    for (name, value) in fields { Terminal.say(name + String(repeating: " ", count: 12 - name.count) + value) }
    for line in operationTable.lines { Terminal.say(line) }
  }
}

extension OperationReport {
  /// What no request of ours asked for is marked.
  fileprivate var name: String { kind.rawValue + (cause == .provider ? " (provider)" : "") }

  fileprivate var codeText: String {
    (code ?? "-") + (declineClass.map { " (\($0.rawValue))" } ?? "")
  }
}
