import ApplePayToken
import Crypto
import Foundation
import TenderPayments
import TenderTesting
import Testing

@Suite struct `The library's README` {
  private let total: Amount
  private let basket = [UInt8](repeating: 7, count: 32)

  init() throws { total = Amount(minorUnits: 1250, currency: try #require(Currency(code: "EUR"))) }

  @Test func `shows code that opens a payment token`() throws {
    var mint = try TestMint()
    mint.applicationData = basket
    let key = try ProcessingKey(
      privateKeyPEM: mint.merchantKey.pemRepresentation, merchantIdentifier: TestMint.merchantIdentifier)
    let token = try networkToken(
      in: mint.mint().bytes, paying: total, of: basket, for: TestMint.merchant,
      with: ProcessingKeyRing([TestMint.merchant: [key]]),
      trusting: .simulated(rootPEM: try Shared.issued.get().rootPEM), at: TestMint.Minted.arrival)
    #expect(token.dpan.revealed == "4817499130011223")
  }

  @Test func `shows four lines in which a payment token pays once`() throws {
    var mint = try TestMint()
    mint.applicationData = basket
    let key = try ProcessingKey(
      privateKeyPEM: mint.merchantKey.pemRepresentation, merchantIdentifier: TestMint.merchantIdentifier)
    let verifier = TokenVerifier(trust: try .simulated(rootPEM: Shared.issued.get().rootPEM))
    let opener = recordedRing(TestMint.merchant, key, verifier) { _ in }
    let (body, window, arrival) = (try mint.mint().bytes, ReplayWindow(), TestMint.Minted.arrival)
    #expect(try fourLines(body, opener, window, TestMint.merchant, arrival, total, basket) == total)
    let error = #expect(throws: PaymentTokenError.self) {
      try fourLines(body, opener, window, TestMint.merchant, arrival, total, basket)
    }
    #expect(error?.code == .tokenAlreadyUsed)
  }
}

/// A page with Swift in it, and the code that is compiled.
private struct ShownCode {
  /// Line by line without their indentation.
  let compiled: String

  init(_ sources: [String]) {
    compiled = sources.flatMap { source in
      source.matches(of: /\/\/ README: begin\n((?s).*?)\/\/ README: end/).map { Self.plain($0.output.1) }
    }.joined(separator: "\n\n")
  }

  /// The Swift blocks of a page that nobody compiles. Imports are the reader's, and stand at the top of the file.
  func strangers(in page: String) -> [String] {
    page.matches(of: /```swift\n((?s).*?)```/).map { Self.plain($0.output.1) }.filter { !compiled.contains($0) }
  }

  private static func plain(_ code: Substring) -> String {
    code.split(separator: "\n", omittingEmptySubsequences: false)
      .map { $0.trimmingCharacters(in: .whitespaces) }
      .filter { !$0.hasPrefix("import ") }
      .joined(separator: "\n").trimmingCharacters(in: .whitespacesAndNewlines)
  }
}

@Suite struct `Swift on the pages about payment tokens` {
  private static let pages =
    ["README.md", "Sources/Tokens/ApplePayToken/README.md"]
    + ((try? FileManager.default.contentsOfDirectory(
      atPath: Repository.url("Sources/Tokens/ApplePayToken/ApplePayToken.docc").path)) ?? [])
    .map { "Sources/Tokens/ApplePayToken/ApplePayToken.docc/\($0)" }

  @Test(arguments: pages) func `is compiled, block by block`(_ page: String) throws {
    let code = ShownCode([
      try Repository.text("Tests/Unit/Tokens/ApplePayTokenTests/ReadmeCode.swift"),
      // A reader has the package in a place of their own.
      try Repository.text("Tests/Packages/TokenHost/Package.swift").replacing(
        "name: \"tender\", path: \"../../..\"", with: "path: \"../tender\""),
    ])
    #expect(code.strangers(in: try Repository.text(page)) == [])
  }

  @Test func `is looked for on every page`() {
    #expect(Self.pages.count == 7)
  }

  @Test func `that nobody compiles is noticed`() {
    let code = ShownCode(["  // README: begin\n  let a = 1\n  // README: end\n  let b = 2\n"])
    #expect(code.strangers(in: "```swift\nimport A\n\nlet a = 1\n```\n\n```swift\nlet b = 2\n```\n") == ["let b = 2"])
  }
}
