extension Coverage {
  /// Rows of the state table and places to die that no simulation reaches, each with the reason. The table holds them
  /// for other connectors and for what a person may do; whoever reaches one has found that the reason is wrong.
  static let impossible: [String: String] = [:]

  /// How much there is to reach.
  public static var summary: String {
    let (events, deaths) = (allEvents.count, allDeaths.count)
    return "\(events) pairs of status and event, \(deaths) places to die, \(impossible.count) of them impossible"
  }
}
