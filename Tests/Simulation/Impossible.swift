extension Coverage {
  /// Rows of the state table that no simulation reaches, each with the reason. The table holds them for other acquirers;
  /// whoever reaches one has found that the reason is wrong.
  static let impossible: [String: String] = reasons.reduce(into: [:]) { all, reason in
    for name in reason.names { all[name] = reason.text }
  }

  private static let reasons: [(names: [String], text: String)] = [
    (
      open.map { "\($0), reverse declined" },
      "nothing was taken of what is not adopted, and a void that may be done is asked about first"
    ),
    (allEvents.filter { $0.contains(", resolved ") }, "no person decides anything there"),
    (
      ["pending, authorize pending", "pending, authorize unknown", "unknown, authorize unknown"],
      "recovery writes down what is news; that nobody knows is said once, by the call itself"
    ),
    (["voided, reverse nothing"], "what the bank undid once it still finds"),
    (
      ["begins", "approved", "declined"].map { "declined, reverse \($0)" },
      "the bank approves nothing that it declined; an undoing that was under way finds nothing"
    ),
  ]

  private static let open = ["authorizing", "pending", "unknown"]

  /// How much there is to reach.
  public static var summary: String {
    let (events, deaths) = (allEvents.count, allDeaths.count)
    return "\(events) pairs of status and event, \(deaths) places to die, \(impossible.count) of them impossible"
  }
}
