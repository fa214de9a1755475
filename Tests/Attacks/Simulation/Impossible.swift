extension Coverage {
  /// Rows of the state table that no simulation reaches, each with the reason. The table holds them for other
  /// acquirers; a run that reaches one proves the reason wrong.
  static let impossible: [String: String] = reasons.reduce(into: [:]) { all, reason in
    for name in reason.names { all[name] = reason.text }
  }

  private static let reasons: [(names: [String], text: String)] = [
    (
      ["voided, resolved approved"], "no person posts the late approval of what was released"
    ),
    (
      ["pending, authorize pending", "pending, authorize unknown", "unknown, authorize unknown"],
      "recovery records changes; that the outcome is unknown is recorded once, by the call itself"
    ),
    (
      allEvents.filter { $0.hasSuffix(", chargeback begins") || $0.hasSuffix(", chargeback_reversal begins") },
      "the cardholder's bank moves this money, and no operation of ours begins"
    ),
    (["voided, reverse nothing"], "what the bank undid once it still finds"),
    (
      allEvents.filter { $0.hasSuffix(", increment pending") },
      "the bank that raises holds answers at once, and does not accept first"
    ),
  ]

  /// Rows that can be reached, and so seldom that 5,000 seeds need not reach them, each with the reason.
  static let rare: [String: String] = decided.reduce(
    into: [
      "authorizing, reverse pending": inFlight, "authorizing, reverse declined": inFlight,
      "declined, reverse pending": afterTheEnd, "voided, reverse declined": afterTheEnd,
      "failed, reverse nothing": afterTheEnd, "failed, reverse pending": afterTheEnd,
      "failed, reverse declined": afterTheEnd, "refunded, void nothing": allRefunded,
      "refunded, chargeback approved": allRefunded, "refunded, chargeback_reversal approved": allRefunded,
    ].merging(raised.map { ($0, "one bank raises holds, and captures seldom overtake it") }) { $1 }
  ) { $0[$1] = "a person decides about few operations, and is seldom wrong about a void" }

  /// The answer to an increment of a payment that was captured meanwhile.
  private static let raised: [String] = allEvents.filter {
    $0.contains(", increment ") && !$0.hasPrefix("authorized") && !$0.hasSuffix("begins")
  }

  /// A person's decision about an operation of a payment that is captured or refunded, and any that was wrong about a
  /// void.
  private static let decided: [String] = allEvents.filter { name in
    name.hasSuffix(", void returned")
      || ["captured", "partially_captured", "partially_refunded", "refunded"].contains { status in
        name == "\(status), resolved approved" || name == "\(status), resolved failed"
      }
  }

  private static let inFlight =
    "a payment that is undone is pending or unknown, unless its process died and recovery received an approval first"
  private static let allRefunded = "all is refunded before something else of the payment is over"
  private static let afterTheEnd =
    "a hold is found for a payment that has ended, and its undoing is not answered at once"

  /// How much there is to reach.
  package static var summary: String {
    let (events, deaths) = (allEvents.count, allDeaths.count)
    return "\(events) pairs of status and event, \(deaths) places to die, \(impossible.count) of them impossible"
  }
}
