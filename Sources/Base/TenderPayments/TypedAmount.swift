extension Amount {
  /// Reads an amount as a person types it: `12.50`, or `12.50 EUR`, the code in capitals or small letters.
  ///
  /// - Parameters:
  ///   - text: in major units.
  ///   - currency: the only one that is taken; nil where the text must name it.
  ///   - least: minor units.
  package init(typed text: String, in currency: Currency?, least: Int64 = 1) throws(MistypedAmount) {
    let words = text.split(whereSeparator: \.isWhitespace)
    guard let number = words.first, words.count <= 2 else { throw MistypedAmount(text, currency, .malformed) }
    let named = try words.dropFirst().first.map { code throws(MistypedAmount) in
      guard let named = Currency(code: code.uppercased()), named.isMoney else {
        throw MistypedAmount(text, currency, .unknownCurrency)
      }
      return named
    }
    guard !number.utf8.contains(UInt8(ascii: ",")) else { throw MistypedAmount(text, currency ?? named, .comma) }
    guard let wanted = currency ?? named else { throw MistypedAmount(text, nil, .noCurrency) }
    guard named ?? wanted == wanted else { throw MistypedAmount(text, wanted, .otherCurrency) }
    let amount: Amount
    do throws(AmountError) { amount = try Amount(decimal: number, currency: wanted) } catch {
      throw MistypedAmount(text, wanted, .unreadable(error))
    }
    guard amount.minorUnits >= least else { throw MistypedAmount(text, wanted, .tooLittle(least)) }
    self = amount
  }
}

/// What is wrong with an amount that a person typed, and what is right.
package struct MistypedAmount: Error, Sendable, CustomStringConvertible {
  package enum Mistake: Sendable {
    case malformed, comma, noCurrency, otherCurrency, unknownCurrency
    /// Two amounts are in this currency, which has one.
    case repeatedCurrency
    /// Below this number of minor units.
    case tooLittle(Int64)
    case unreadable(AmountError)
  }

  private let text: String
  private let currency: Currency?
  private let mistake: Mistake

  package init(_ text: String, _ currency: Currency?, _ mistake: Mistake) {
    (self.text, self.currency, self.mistake) = (text, currency, mistake)
  }

  /// `“12,50”: use a point before the decimals, as in 12.50 EUR`
  package var description: String { "“\(text.prefix(60))”: \(advice)" }

  private var advice: String {
    switch mistake {
    case .malformed: "write an amount, as in \(example)"
    case .comma: "use a point before the decimals and no mark elsewhere, as in \(example)"
    case .noCurrency: "write the currency too, as in \(example)"
    case .otherCurrency: "the currency must be \(currency?.code ?? "another"), as in \(example)"
    case .unknownCurrency: "write the currency as a code of ISO 4217, as in \(example)"
    case .repeatedCurrency:
      "there is another amount in \(currency?.code ?? "this currency"); write one for each currency"
    case .tooLittle(let least): least > 0 ? "the amount must be more than zero" : "the amount must not be below zero"
    case .unreadable(.tooManyDecimals(let currency)):
      currency.exponent == 0
        ? "\(currency.code) has no decimals" : "\(currency.code) has at most \(currency.exponent) decimals"
    case .unreadable(.overflow): "the amount must be at most \(with(Amount.limit.upperBound))"
    case .unreadable(.malformed), .unreadable(.currencyMismatch): "write an amount, as in \(example)"
    }
  }

  private var example: String { with(1_250) }

  private func with(_ units: Int64) -> String {
    currency.map { "\(Amount(minorUnits: units, currency: $0))" } ?? "12.50 EUR"
  }
}
