import Foundation
import MerchantIdentity
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The validation of validation URLs` {
  @Test(arguments: try ValidationURLVector.all())
  func `every vector has its expected outcome`(_ vector: ValidationURLVector) throws {
    let outcome: String
    do {
      try ValidationURL.validate(vector.url, against: hosts(vector.environment))
      outcome = "ok"
    } catch let error as ValidationURLError {
      outcome = error.code.rawValue
    }
    #expect(outcome == vector.outcome)
  }

  @Test func `there are at least 150 hostile addresses, and every refusal is among them`() throws {
    let refused = try ValidationURLVector.all().filter { $0.outcome != "ok" }
    let untested = Set(ValidationURLError.Code.allCases.map(\.rawValue)).subtracting(refused.map(\.outcome))
    #expect(refused.count >= 150)
    #expect(untested == ["validation_url_too_long"])
  }

  @Test func `the vectors catch mistakes that are often made`() throws {
    let hostile = try ValidationURLVector.all().filter { $0.outcome != "ok" }
    let careless: [(String) -> Bool] = [
      { $0.hasPrefix("https") },
      { $0.hasPrefix("https://apple-pay-gateway.apple.com") },
      { $0.contains(".apple.com/") },
      { URL(string: $0)?.host()?.hasSuffix("apple.com") == true },
      { URL(string: $0)?.host() == "apple-pay-gateway.apple.com" },
    ]
    for accepts in careless { #expect(hostile.contains { accepts($0.url) }) }
  }

  @Test func `an address longer than Apple's is not even read`() {
    let good = "https://apple-pay-gateway.apple.com/paymentservices/startSession"
    for text in [good + String(repeating: "a", count: 10_240), String(repeating: good, count: 4_096)] {
      #expect(throws: ValidationURLError.self) { try ValidationURL.validate(text, against: .production) }
    }
  }

  @Test func `a good address with any one byte changed is refused`() throws {
    let good = Array("https://apple-pay-gateway.apple.com/paymentservices/startSession".utf8)
    for index in good.indices {
      for byte: UInt8 in 0...127 where byte != good[index] {
        var changed = good
        changed[index] = byte
        let text = String(decoding: changed, as: UTF8.self)
        #expect(throws: ValidationURLError.self) { try ValidationURL.validate(text, against: .production) }
      }
    }
  }

  @Test func `a refusal repeats nothing of the address`() throws {
    let error = try #require(throws: ValidationURLError.self) {
      try ValidationURL.validate("https://<script>evil.test/", against: .production)
    }
    #expect(!error.description.contains("evil"))
  }

  @Test(arguments: [
    "", "http://localhost:8403", "https://", "https://localhost:8403/x", "https://a@b",
    "https://apple-pay-gateway.apple.com",
    "https://Localhost", "https://x apple",
  ])
  func `the simulated gateway must have a plain address that is not Apple's`(_ url: String) {
    #expect(code { try ApplePayHosts.simulated(gatewayURL: url) } == .badGatewayURL)
  }

  @Test func `the address that is called is built from constants`() throws {
    let gateway = try ValidationURL.validate(
      "https://apple-pay-gateway.apple.com/paymentservices/startSession", against: .production)
    #expect(gateway.paymentSessionURL == "https://apple-pay-gateway.apple.com/paymentservices/paymentSession")
    #expect(
      try ApplePayHosts.simulated(gatewayURL: "https://localhost:8403/").global.paymentSessionURL
        == "https://localhost:8403/paymentservices/paymentSession")
  }

  private func hosts(_ environment: Environment) throws -> ApplePayHosts {
    switch environment {
    case .production: .production
    case .appleSandbox: .appleSandbox
    case .simulated: try .simulated(gatewayURL: "https://localhost:8403")
    }
  }
}
