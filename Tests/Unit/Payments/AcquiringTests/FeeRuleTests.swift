import Acquiring
import TenderPayments
import TenderTesting
import Testing

@Suite struct `A route's fee` {
  @Test(
    arguments: [
      ("basisPoints=120 fixed=0.10 currency=EUR", 1250, 25), ("basisPoints=120", 1250, 15),
      ("basisPoints=1", 4_999, 0), ("basisPoints=1", 5_000, 1), ("fixed=0.25 currency=EUR", 1, 25),
      ("basisPoints=10000", 99_999, 99_999),
    ] as [(String, Int64, Int64)])
  func `is a share, rounded half up to a minor unit, and a fixed amount`(
    text: String, units: Int64, cost: Int64
  ) throws {
    #expect(try FeeRule(text).cost(of: .eur(units), network: .visa) == .eur(cost))
  }

  @Test func `does not overflow on the largest amounts`() throws {
    let rule = try FeeRule("basisPoints=10000 fixed=0.01 currency=EUR")
    #expect(rule.cost(of: .eur(.max), network: nil) == nil)
    #expect(rule.cost(of: .eur(.max - 1), network: nil) == .eur(.max))
  }

  @Test func `is that of the first rule which fits network and currency`() throws {
    let rules = try ["basisPoints=50 network=visa currency=EUR", "basisPoints=150 currency=EUR"].map { try FeeRule($0) }
    #expect(rules.cost(of: .eur(10_000), network: .visa) == .eur(50))
    #expect(rules.cost(of: .eur(10_000), network: .amex) == .eur(150))
    #expect(rules.cost(of: .eur(10_000), network: nil) == .eur(150))
    let pounds = Amount(minorUnits: 10_000, currency: try #require(Currency(code: "GBP")))
    #expect(rules.cost(of: pounds, network: .visa) == nil)
  }

  @Test(arguments: [
    "basisPoints=120", "basisPoints=120 currency=EUR fixed=0.10 network=masterCard,visa", "currency=JPY fixed=30",
  ])
  func `is written as it was read`(text: String) throws { #expect(try FeeRule(text).description == text) }

  @Test(arguments: [
    "", "currency=EUR", "basisPoints=x", "basisPoints=10001", "basisPoints=-1", "fixed=0.10",
    "fixed=0.101 currency=EUR",
    "fixed=-1 currency=EUR", "basisPoints=1 network=cash", "basisPoints=1 currency=XXX", "basisPoints=1 basisPoints=2",
    "percent=1",
  ])
  func `of another form is refused`(text: String) { #expect(throws: RouteRuleError.self) { try FeeRule(text) } }
}
