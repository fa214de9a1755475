import Foundation
import StrictJSON
import TenderPayments
import TenderSheet

/// Values that are stored as one JSON text, because no query looks inside them.
enum StoredJSON {
  /// Keys are sorted, so that equal values are equal texts.
  static func text(_ value: some Encodable) throws -> String {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return String(decoding: try encoder.encode(value), as: UTF8.self)
  }

  static func value<T: Decodable>(_ type: T.Type, _ text: String) throws -> T {
    try StrictJSONDecoder().decode(type, from: Array(text.utf8))
  }
}

/// The lines of a quote as they are stored: minor units, which the sheet's own texts would lose.
struct StoredLines: Codable {
  struct Line: Codable {
    let label: String
    let amount: Int64
    let kind: SummaryItem.Kind
  }

  let lines: [Line]
  let unavailable: [String]

  init(_ quote: Quote) {
    lines = quote.lines.map { Line(label: $0.label, amount: $0.amount.minorUnits, kind: $0.kind) }
    unavailable = quote.unavailableItems
  }

  func items(_ currency: Currency) -> [SummaryItem] {
    lines.map { line in
      SummaryItem(label: line.label, amount: Amount(minorUnits: line.amount, currency: currency), kind: line.kind)
    }
  }
}
