import Ledger
import TenderPayments
import Testing

/// Every event in every status: 12 × 59 pairs. The list names what is allowed, one line a status and an event with
/// where it leads; every other pair must be refused.
@Suite struct `The table of states` {
  /// `=` stays, `~` follows the balances.
  private static let allowed = """
    authorizing: authorize approved ~, authorize declined declined, authorize pending pending,
      authorize unknown unknown, authorize nothing failed, reverse begins =, reverse approved voided,
      reverse nothing failed, reverse declined =, reverse pending =, reverse unknown =, resolved voided voided,
      resolved failed failed
    pending: authorize approved ~, authorize declined declined, authorize pending pending, authorize unknown =,
      reverse begins =, reverse approved voided, reverse nothing failed, reverse declined =, reverse pending =,
      reverse unknown =, resolved voided voided, resolved failed failed
    unknown: authorize approved ~, authorize declined declined, authorize pending pending, authorize unknown unknown,
      authorize nothing failed, reverse begins =, reverse approved voided, reverse nothing failed, reverse declined =,
      reverse pending =, reverse unknown =, resolved voided voided, resolved failed failed
    authorized: increment begins =, increment approved ~, increment declined =, increment pending =,
      increment unknown =, increment nothing =, capture begins =, capture approved ~, capture declined ~, capture pending =, capture unknown =,
      capture nothing ~, void begins =, void approved ~, void declined ~, void pending =, void unknown =,
      void nothing ~, void returned ~, resolved approved ~, resolved failed ~
    partially_captured: increment approved ~, increment declined =, increment pending =,
      increment unknown =, increment nothing =, capture begins =, capture approved ~, capture declined ~, capture pending =, capture unknown =,
      capture nothing ~, capture returned ~, void begins =, void approved ~, void declined ~, void pending =,
      void unknown =, void nothing ~, refund begins =, refund approved ~, refund declined =, refund pending =,
      refund unknown =, refund nothing =, resolved approved ~, void returned ~, resolved failed ~,
      chargeback begins =, chargeback approved =, chargeback_reversal begins =, chargeback_reversal approved =
    captured: increment approved ~, increment declined =, increment pending =,
      increment unknown =, increment nothing =, capture returned ~, refund begins =, refund approved ~, refund declined =, refund pending =,
      refund unknown =, refund nothing =, resolved approved ~, void returned ~, resolved failed ~,
      chargeback begins =, chargeback approved =, chargeback_reversal begins =, chargeback_reversal approved =
    partially_refunded: increment approved ~, increment declined =, increment pending =,
      increment unknown =, increment nothing =, capture begins =, capture approved ~, capture declined ~, capture pending =, capture unknown =,
      capture nothing ~, capture returned ~, void begins =, void approved ~, void declined ~, void pending =,
      void unknown =, void nothing ~, refund begins =, refund approved ~, refund declined =, refund pending =,
      refund unknown =, refund nothing =, refund returned ~, resolved approved ~, void returned ~, resolved failed ~,
      chargeback begins =, chargeback approved =, chargeback_reversal begins =, chargeback_reversal approved =
    refunded: increment approved ~, increment declined =, increment pending =,
      increment unknown =, increment nothing =, capture begins =, capture approved ~, capture declined ~, capture pending =, capture unknown =,
      capture nothing ~, void begins =, void approved ~, void declined ~, void pending =, void unknown =,
      void nothing ~, refund returned ~, resolved approved ~, void returned ~, resolved failed ~,
      chargeback begins =, chargeback approved =, chargeback_reversal begins =, chargeback_reversal approved =
    voided: resolved approved ~, void returned ~, reverse begins =, reverse approved =, reverse nothing =, reverse declined =, reverse pending =,
      reverse unknown =
    declined: reverse begins =, reverse approved =, reverse nothing =, reverse declined =, reverse pending =,
      reverse unknown =
    failed: reverse begins =, reverse approved =, reverse nothing =, reverse declined =, reverse pending =,
      reverse unknown =
    """

  private static func written() -> [String: String] {
    var pairs: [String: String] = [:]
    var status = ""
    for line in allowed.split(separator: "\n") {
      var rest = line.drop { $0 == " " }
      if let colon = rest.firstIndex(of: ":") {
        status = String(rest[..<colon])
        rest = rest[rest.index(after: colon)...]
      }
      for item in rest.split(separator: ",") {
        let words = item.split(separator: " ")
        guard words.count == 3 else { continue }
        pairs["\(status) \(words[0]) \(words[1])"] = String(words[2])
      }
    }
    return pairs
  }

  private static func name(_ destination: PaymentState.Destination) -> String {
    switch destination {
    case .becomes(let status): status.rawValue
    case .followsBalances: "~"
    case .stays: "="
    }
  }

  @Test func `knows exactly these pairs, and no other`() {
    let written = Self.written()
    #expect(PaymentEvent.allCases.count == 59)
    for status in PaymentStatus.allCases {
      for event in PaymentEvent.allCases {
        let found = PaymentState.destination(from: status, event).map(Self.name)
        #expect(found == written["\(status.rawValue) \(event)"], "\(status.rawValue) \(event)")
      }
    }
    #expect(written.count == PaymentState.table.values.map(\.count).reduce(0, +))
  }

  @Test func `refuses a posting that it does not know, whatever the balances`() {
    for status in PaymentStatus.allCases {
      var balances = Balances(status: status)
      (balances.authorized, balances.captured) = (100, 50)
      for kind in OperationKind.allCases {
        for outcome in Outcome.allCases
        where PaymentState.destination(from: status, .meets(kind, outcome)) == nil {
          #expect(throws: JournalError.notPossible(kind, status)) {
            try Posting.post(outcome, of: Movement(kind, 10), on: balances)
          }
        }
      }
    }
  }
}
