import Testing

import TenderPayments

@Suite struct `Amounts of money` {
  let eur = Currency(code: "EUR")!
  let jpy = Currency(code: "JPY")!
  let kwd = Currency(code: "KWD")!

  @Test(arguments: [
    ("EUR", 1250, "12.50"), ("EUR", -5, "-0.05"), ("JPY", 1200, "1200"), ("KWD", 1, "0.001"), ("EUR", 0, "0.00"),
  ])
  func `are written with exactly the currency's decimals and read back`(code: String, units: Int64, text: String) throws
  {
    let amount = Amount(minorUnits: units, currency: try #require(Currency(code: code)))
    #expect(amount.decimalString == text)
    #expect(try Amount(decimal: text, currency: amount.currency) == amount)
  }

  @Test(arguments: ["", "-", ".5", "1.", "1,00", "1.000", "1e2", "+1", " 1", "99999999999999999999"])
  func `are refused when the text is not an amount of the currency`(text: String) {
    #expect(throws: AmountError.self) { try Amount(decimal: text, currency: eur) }
  }

  @Test(arguments: ["12.5", "12.50 EUR", " 12.50  eur "])
  func `are typed with their currency or without`(text: String) throws {
    #expect(try Amount(typed: text, in: eur).minorUnits == 1250)
    if text != "12.5" { #expect(try Amount(typed: text, in: nil) == Amount(minorUnits: 1250, currency: eur)) }
  }

  @Test func `that are mistyped say what is right`() {
    for (text, currency, advice) in [
      ("12,50", eur, "use a point before the decimals"), ("1,000.00", nil, "use a point before the decimals"),
      ("-5", eur, "the amount must be more than zero"), ("0.00 EUR", nil, "the amount must be more than zero"),
      ("12.505", eur, "EUR has at most 2 decimals"), ("12.5 JPY", nil, "JPY has no decimals"),
      ("12.50 USD", eur, "the currency must be EUR"), ("12.50 EURO", eur, "a code of ISO 4217"),
      ("12.50 XXX", nil, "a code of ISO 4217"), ("12.50", nil, "write the currency too, as in 12.50 EUR"),
      ("10000000000", eur, "at most 9999999999.99 EUR"), ("", jpy, "as in 1250 JPY"), ("€5", kwd, "as in 1.250 KWD"),
      ("1 2 EUR", eur, "write an amount, as in 12.50 EUR"),
    ] as [(String, Currency?, String)] {
      do {
        _ = try Amount(typed: text, in: currency)
        Issue.record("\(text) is taken")
      } catch {
        #expect("\(error)".hasPrefix("“\(text)”: ") && "\(error)".contains(advice), "\(error)")
      }
    }
  }

  @Test func `do not overflow, they throw`() {
    let most = Amount(minorUnits: .max, currency: eur)
    #expect(throws: AmountError.overflow) { try most.adding(Amount(minorUnits: 1, currency: eur)) }
    #expect(throws: AmountError.overflow) { try Amount(minorUnits: .min, currency: eur).negated() }
    #expect(throws: AmountError.overflow) { try most.times(2) }
  }

  @Test func `from outside have at most twelve digits`() throws {
    let most: Int64 = 999_999_999_999
    #expect(Amount(received: most, currency: eur)?.minorUnits == most)
    #expect(Amount(received: -most, currency: eur)?.minorUnits == -most)
    for units in [most + 1, -most - 1, .max, .min] { #expect(Amount(received: units, currency: eur) == nil) }
    #expect(try Amount(decimal: "9999999999.99", currency: eur).minorUnits == most)
    #expect(throws: AmountError.overflow) { try Amount(decimal: "10000000000.00", currency: eur) }
    #expect(throws: AmountError.overflow) { try Amount(decimal: "-10000000000.00", currency: eur) }
  }

  @Test func `are divided without rounding, or not at all`() {
    #expect(Amount(minorUnits: 1200, currency: eur).divided(by: 100) == Amount(minorUnits: 12, currency: eur))
    for (units, divisor) in [(1250, 100), (1200, 0), (.min, -1)] as [(Int64, Int64)] {
      #expect(Amount(minorUnits: units, currency: eur).divided(by: divisor) == nil)
    }
  }

  @Test func `stop no counter and no clock`() {
    #expect(
      Int64.max.addingClamped(1) == .max && Int64.min.addingClamped(-1) == .min && Int64(2).addingClamped(-3) == -1)
    #expect(Int64.min.subtractingClamped(1) == .min && Int64.max.subtractingClamped(-1) == .max)
    #expect(Int64.max.multipliedClamped(by: -2) == .min && Int64.min.multipliedClamped(by: -1) == .max)
    for seconds in [Int64.min, .max] {
      let moment = Timestamp(seconds: seconds)
      #expect(moment.adding(.seconds(seconds)) == moment && !moment.description.isEmpty)
      #expect(moment.since(Timestamp(seconds: 0)).microseconds == moment.microseconds)
    }
    #expect(Timestamp(seconds: .min).since(Timestamp(seconds: .max)).microseconds == .min)
  }

  @Test func `of two currencies cannot be added`() {
    #expect(throws: AmountError.currencyMismatch(eur, jpy)) { try Amount.zero(eur).adding(.zero(jpy)) }
  }

  @Test(
    arguments: [(1000, 1250, 125), (999, 1000, 100), (-999, 1000, -100), (5, 1000, 1), (4, 1000, 0)]
      as [(Int64, Int64, Int64)])
  func `are shared out rounding half away from zero`(units: Int64, basisPoints: Int64, share: Int64) throws {
    #expect(try Amount(minorUnits: units, currency: eur).share(basisPoints: basisPoints).minorUnits == share)
  }
}

@Suite struct `The currencies of ISO 4217` {
  @Test func `are complete, each with one code and one number`() {
    #expect(Currency.all.count == 179)
    #expect(Set(Currency.all.map(\.code)).count == 179)
    #expect(Set(Currency.all.map(\.numericCode)).count == 179)
    #expect(Currency.all.allSatisfy { $0.numericCode.utf8.count == 3 && $0.code.utf8.count == 3 })
  }

  @Test(arguments: [
    ("EUR", "978", 2), ("AUD", "036", 2), ("ALL", "008", 2), ("JPY", "392", 0), ("KWD", "414", 3), ("UYW", "927", 4),
  ])
  func `have their number and exponent`(code: String, number: String, exponent: Int) throws {
    let currency = try #require(Currency(code: code))
    #expect(currency.numericCode == number && currency.exponent == exponent && currency.isMoney)
    #expect(Currency(numericCode: number) == currency)
  }

  @Test(arguments: ["eur", "EU", "", "XXX ", "BTC"]) func `are refused when unknown`(code: String) {
    #expect(Currency(code: code) == nil)
  }

  @Test func `that are not money are recognised`() {
    #expect(Currency(code: "XAU")?.isMoney == false)
    #expect(Currency.all.count { !$0.isMoney } == 13)
  }
}
