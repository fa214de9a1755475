import ApplePayToken
import Foundation
import TenderPayments
import Testing

@Suite struct `The payment token library alone` {
  /// A conformance vector, and the group that it is in.
  private struct Vector {
    let token: [UInt8]
    let test, group: [String: Any]

    init(_ name: String) throws {
      let file = URL(filePath: #filePath).deletingLastPathComponent()
        .appending(path: "../../../../Support/Vectors/apple-pay-token/vectors.json")
      let document = try #require(
        try JSONSerialization.jsonObject(with: Data(contentsOf: file)) as? [String: Any])
      let groups = try #require(document["testGroups"] as? [[String: Any]])
      let found = groups.lazy.compactMap { group in
        (group["tests"] as? [[String: Any]])?.first { $0["name"] as? String == name }.map { ($0, group) }
      }.first
      (test, group) = try #require(found)
      token = Array(try #require(Data(base64Encoded: try #require(test["token"] as? String))))
    }

    func value(_ key: String) throws -> String { try #require((test[key] ?? group[key]) as? String) }
  }

  private let shop = MerchantID("my-shop")

  private func networkToken(of vector: Vector, paying units: Int64) throws -> NetworkToken {
    let key = try ProcessingKey(
      privateKeyPEM: vector.value("privateKey"), merchantIdentifier: vector.value("merchantIdentifier"))
    let token = try EncryptedPaymentToken(bytes: vector.token)
    return try TokenHostTests.networkToken(
      in: vector.token, paying: Amount(minorUnits: units, currency: try #require(Currency(code: "EUR"))),
      of: try #require(token.applicationDataHash), for: shop, with: ProcessingKeyRing([shop: [key]]),
      trusting: .simulated(rootPEM: vector.value("root")),
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
