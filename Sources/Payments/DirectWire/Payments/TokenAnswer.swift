/// Worldline's `TokenResponse`: the card that an agreement charges again. No member of it pays.
package struct TokenAnswer: Sendable, Hashable, Codable {
  package var id: String
  package var paymentProductId: Int64
  package var card: Card
  package var isTemporary: Bool

  /// - Parameters:
  ///   - suffix: the last digits of the device account number; nil where the provider opens payment tokens.
  ///   - expiry: as `1231`.
  package init(id: String, suffix: String?, expiry: String?) {
    let number = String(repeating: "*", count: 12) + (suffix ?? "****")
    (self.id, paymentProductId, isTemporary) = (id, 302, false)
    card = Card(alias: number, data: .init(cardWithoutCvv: .init(cardNumber: number, expiryDate: expiry)))
  }

  package struct Card: Sendable, Hashable, Codable {
    package var alias: String
    package var data: Data
  }

  package struct Data: Sendable, Hashable, Codable {
    package var cardWithoutCvv: CardWithoutCvv
  }

  package struct CardWithoutCvv: Sendable, Hashable, Codable {
    /// Masked.
    package var cardNumber: String
    package var expiryDate: String?
  }
}
