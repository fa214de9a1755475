import StrictJSON
import TenderPayments
import TenderSheet

extension UpdateAnswer {
  /// Amounts in an update are texts without a currency, which is the sheet's.
  init(_ answer: JSONValue, currency: Currency) throws {
    let priced: JSONValue = [
      "currency": .string(currency.code), "quoteId": answer["quoteId"] ?? .null, "update": answer["update"] ?? .null,
    ]
    self = try StrictJSONDecoder().decode(Priced.self, from: priced).answer
  }

  private struct Priced: Decodable {
    enum CodingKeys: String, CodingKey { case currency, quoteId, update }
    let answer: UpdateAnswer

    init(from decoder: any Decoder) throws {
      let keys = try decoder.container(keyedBy: CodingKeys.self)
      let currency = try keys.decode(Currency.self, forKey: .currency)
      answer = UpdateAnswer(
        quoteId: try keys.decode(QuoteID.self, forKey: .quoteId),
        update: try SheetUpdate(from: try keys.superDecoder(forKey: .update), currency: currency))
    }
  }
}
