import ApplePayToken
import Foundation
import TenderPayments
import TokenVectors

/// A conformance vector that opens, as the work to be measured: from the token's JSON to its payment data.
struct BenchToken: Sendable {
  private let vector: TokenVector
  private let trust: TokenTrust
  private let keys: ProcessingKeyRing

  init(directory: String, name: String, key: String) throws {
    func text(_ file: String) throws -> String { try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8) }
    vector = try TokenVector(name: name, text: text("\(name).txt"))
    trust = try .simulated(rootPEM: text("root.pem"))
    let processing = try ProcessingKey(privateKeyPEM: text("\(key).key.pem"), merchantIdentifier: vector.merchant)
    keys = ProcessingKeyRing([VectorLibrary.merchant: [processing]])
  }

  /// One that has seen no certificate yet. Trust and keys are a server's, made once.
  func opener() -> TokenOpener { TokenOpener(verifier: TokenVerifier(trust: trust), keys: keys) }

  func read() throws -> EncryptedPaymentToken { try EncryptedPaymentToken(bytes: vector.token) }

  func open(with opener: TokenOpener) throws {
    let opened = try opener.open(read(), for: VectorLibrary.merchant, at: vector.arrival)
    guard opened.paymentData.amount.minorUnits == 1250 else { throw BenchError(reason: "another amount") }
  }
}
