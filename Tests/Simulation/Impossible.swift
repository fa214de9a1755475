extension Coverage {
  /// Rows of the state table that no simulation reaches, each with the reason. The table holds them for other acquirers;
  /// whoever reaches one has found that the reason is wrong.
  static let impossible: [String: String] = reasons.reduce(into: [:]) { all, reason in
    for name in reason.names { all[name] = reason.text }
  }

  private static let reasons: [(names: [String], text: String)] = [
    (
      held.flatMap { ["\($0), void pending"] } + open.map { "\($0), reverse pending" }
        + over.map { "\($0), reverse pending" }, "the simulated bank lets go at once, or not at all"
    ),
    (
      open.map { "\($0), reverse declined" },
      "nothing was taken of what is not adopted, and a void that may be done is asked about first"
    ),
    (
      open.flatMap { ["\($0), resolved voided", "\($0), resolved failed"] }
        + (held + ["captured", "voided"]).map { "\($0), resolved approved" }, "no person decides anything there"
    ),
    (
      ["pending, authorize pending", "pending, authorize unknown", "unknown, authorize unknown"],
      "recovery writes down what is news; that nobody knows is said once, by the call itself"
    ),
    (
      ["begins", "approved", "declined", "nothing", "unknown"].map { "failed, reverse \($0)" },
      "the bank remembers a reversal, and what never arrived is believed only after its horizon"
    ),
    (["voided, reverse nothing"], "what the bank undid once it still finds"),
    (
      ["begins", "approved", "declined"].map { "declined, reverse \($0)" },
      "the bank approves nothing that it declined; an undoing that was under way finds nothing"
    ),
  ]

  private static let open = ["authorizing", "pending", "unknown"]
  private static let over = ["declined", "failed", "voided"]
  private static let held = ["authorized", "partially_captured", "partially_refunded", "refunded"]

  /// How much there is to reach.
  public static var summary: String {
    let (events, deaths) = (allEvents.count, allDeaths.count)
    return "\(events) pairs of status and event, \(deaths) places to die, \(impossible.count) of them impossible"
  }
}
