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
    var builder = try TestTokenBuilder()
    builder.applicationData = basket
    let key = try ProcessingKey(
      privateKeyPEM: builder.merchantKey.pemRepresentation, merchantIdentifier: TestTokenBuilder.merchantIdentifier)
    let token = try networkToken(
      in: builder.build().bytes, paying: total, of: basket, for: TestTokenBuilder.merchant,
      with: ProcessingKeyRing([TestTokenBuilder.merchant: [key]]),
      trusting: .simulated(rootPEM: try Shared.issued.get().rootPEM), at: TestTokenBuilder.Parts.arrival)
    #expect(token.dpan.revealed == "4817499130011223")
  }

  @Test func `shows four lines in which a payment token pays once`() throws {
    var builder = try TestTokenBuilder()
    builder.applicationData = basket
    let key = try ProcessingKey(
      privateKeyPEM: builder.merchantKey.pemRepresentation, merchantIdentifier: TestTokenBuilder.merchantIdentifier)
    let verifier = TokenVerifier(trust: try .simulated(rootPEM: Shared.issued.get().rootPEM))
    let opener = recordedRing(TestTokenBuilder.merchant, key, verifier) { _ in }
    let (body, window, arrival) = (try builder.build().bytes, ReplayWindow(), TestTokenBuilder.Parts.arrival)
    #expect(try fourLines(body, opener, window, TestTokenBuilder.merchant, arrival, total, basket) == total)
    let error = #expect(throws: PaymentTokenError.self) {
      try fourLines(body, opener, window, TestTokenBuilder.merchant, arrival, total, basket)
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

  /// The Swift blocks of a page that are not compiled. Imports are ignored: they stand at the top of the reader's file.
  func uncompiledBlocks(in page: String) -> [String] {
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
      // A reader's copy of the package has another path.
      try Repository.text("Tests/Packages/TokenHost/Package.swift").replacing(
        "name: \"tender\", path: \"../../..\"", with: "path: \"../tender\""),
    ])
    #expect(code.uncompiledBlocks(in: try Repository.text(page)) == [])
  }

  @Test func `is checked on every page`() {
    #expect(Self.pages.count == 7)
  }

  @Test func `that is not compiled is reported`() {
    let code = ShownCode(["  // README: begin\n  let a = 1\n  // README: end\n  let b = 2\n"])
    #expect(
      code.uncompiledBlocks(in: "```swift\nimport A\n\nlet a = 1\n```\n\n```swift\nlet b = 2\n```\n") == ["let b = 2"])
  }
}
