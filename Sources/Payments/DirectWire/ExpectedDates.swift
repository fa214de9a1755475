/// When a shopper may expect the order, for the receipt. Each is a day as `2026-11-24` or a moment as
/// `2026-11-24T19:30:00Z`.
package struct ExpectedDates: Sendable, Hashable, Codable {
  /// When it leaves the merchant.
  package var dispatch: String?
  /// When it is at the shopper's address.
  package var arrival: String?
  /// From when the shopper can collect it.
  package var collection: String?

  package init(dispatch: String? = nil, arrival: String? = nil, collection: String? = nil) {
    self.dispatch = dispatch
    self.arrival = arrival
    self.collection = collection
  }

  /// These dates, and of the others those that are missing here.
  package func completed(with others: ExpectedDates?) -> ExpectedDates {
    ExpectedDates(
      dispatch: dispatch ?? others?.dispatch, arrival: arrival ?? others?.arrival,
      collection: collection ?? others?.collection)
  }
}

extension ExpectedDates {
  enum CodingKeys: String, CodingKey, CaseIterable { case dispatch, arrival, collection }

  package init(from decoder: any Decoder) throws {
    let keys = try ClosedKeys<CodingKeys>(decoder)
    dispatch = try keys.optional(.dispatch)
    arrival = try keys.optional(.arrival)
    collection = try keys.optional(.collection)
  }
}
