import ApplePayToken
import TenderPayments
import TokenVectors

/// A conformance vector that opens, as the work to be measured: from the token's JSON to its payment data.
struct BenchToken: Sendable {
  private let vector: TokenVector
  private let trust: TokenTrust
  private let keys: ProcessingKeyRing

  init(_ library: VectorLibrary, _ name: String) throws {
    guard let vector = library.vector(name) else { throw BenchError(reason: "there is no vector \(name)") }
    self.vector = vector
    trust = try .simulated(rootPEM: vector.root)
    let processing = try ProcessingKey(privateKeyPEM: vector.key, merchantIdentifier: vector.merchant)
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
