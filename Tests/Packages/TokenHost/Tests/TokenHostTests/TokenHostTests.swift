import ApplePayToken
import Foundation
import TenderPayments
import Testing

@Suite struct `The payment token library alone` {
  /// A conformance vector: its token, and what its header says.
  private struct Vector {
    let token: [UInt8]
    let header: [String: String]
    private let folder = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../../../Support/Vectors/apple-pay-token")

    init(_ name: String) throws {
      let text = try String(contentsOf: folder.appending(path: "\(name).txt"), encoding: .utf8)
      let parts = text.split(separator: "\n\n", maxSplits: 1)
      header = Dictionary(
        uniqueKeysWithValues: parts[0].split(separator: "\n").compactMap { line in
          line.firstRange(of: ": ").map { (String(line[..<$0.lowerBound]), String(line[$0.upperBound...])) }
        })
      token = Array(parts[1].utf8)
    }

    func value(_ key: String) throws -> String { try #require(header[key]) }

    func file(_ key: String) throws -> String {
      try String(contentsOf: folder.appending(path: try value(key)), encoding: .utf8)
    }
  }

  private let shop = MerchantID("my-shop")

  private func networkToken(of vector: Vector, paying units: Int64) throws -> NetworkToken {
    let key = try ProcessingKey(
      privateKeyPEM: vector.file("key"), merchantIdentifier: vector.value("merchant"))
    let token = try EncryptedPaymentToken(bytes: vector.token)
    return try TokenHostTests.networkToken(
      in: vector.token, paying: Amount(minorUnits: units, currency: try #require(Currency(code: "EUR"))),
      of: try #require(token.applicationDataHash), for: shop, with: ProcessingKeyRing([shop: [key]]),
      trusting: .simulated(rootPEM: vector.file("root")),
      at: try #require(Timestamp(rfc3339: try vector.value("at"))))
  }

  @Test func `opens a payment token in the lines of its README`() throws {
    #expect(try networkToken(of: Vector("application-data"), paying: 1250).dpan.lastFour == "0012")
  }

  @Test func `refuses one over another amount`() throws {
    let error = #expect(throws: PaymentTokenError.self) {
      try networkToken(of: Vector("application-data"), paying: 1251)
    }
    #expect(error?.code == .amountMismatch)
  }
}
