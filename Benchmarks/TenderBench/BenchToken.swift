import ApplePayToken
import Foundation
import TenderPayments

/// A conformance vector that opens, as the work to be measured: from the token's JSON to its payment data.
struct BenchToken: Sendable {
  private static let merchant = MerchantID("bench")
  private let json: [UInt8]
  private let time: Timestamp
  private let trust: TokenTrust
  private let keys: ProcessingKeyRing

  init(directory: String, name: String) throws {
    json = Array(try Data(contentsOf: URL(filePath: "\(directory)/\(name).json")))
    time = Timestamp(rfc3339: "2025-06-15T15:06:50Z")!
    trust = try .simulated(rootPEM: String(contentsOfFile: "\(directory)/root.pem", encoding: .utf8))
    let key = try ProcessingKey(
      privateKeyPEM: String(contentsOfFile: "\(directory)/\(name).key.pem", encoding: .utf8),
      merchantIdentifier: "merchant.bench")
    keys = ProcessingKeyRing([Self.merchant: [key]])
  }

  /// One that has seen no certificate yet. Trust and keys are a server's, made once.
  func opener() throws -> TokenOpener { TokenOpener(verifier: TokenVerifier(trust: trust), keys: keys) }

  func read() throws -> EncryptedPaymentToken { try EncryptedPaymentToken(bytes: json) }

  func open(with opener: TokenOpener) throws {
    let opened = try opener.open(read(), for: Self.merchant, at: time)
    guard opened.paymentData.amount.minorUnits > 0 else { throw BenchError(reason: "an empty token") }
  }
}
