package import ApplePayToken
import Foundation
import StrictJSON
package import TenderPayments

/// The directory of vectors, and the result that Tender's public API gives for each.
package struct VectorLibrary: Sendable {
  package let directory: String
  package let vectors: [TokenVector]
  private let rootPEM: String
  private let keys: [String: String]

  package init(directory: String) throws {
    self.directory = directory
    let files = try FileManager.default.contentsOfDirectory(atPath: directory).sorted()
    func text(_ file: String) throws -> String { try String(contentsOfFile: "\(directory)/\(file)", encoding: .utf8) }
    vectors = try files.filter { $0.hasSuffix(".txt") }.map {
      try TokenVector(name: String($0.dropLast(4)), text: text($0))
    }
    rootPEM = try text("root.pem")
    keys = Dictionary(
      uniqueKeysWithValues: try files.filter { $0.hasSuffix(".key.pem") }.map { ($0, try text($0)) })
  }

  package func vector(_ name: String) -> TokenVector? { vectors.first { $0.name == name } }

  /// What opens the tokens of one merchant's key.
  ///
  /// - Parameter held: puts the key elsewhere, and gives back one that asks there.
  package func opener(
    key: String, merchant: String, held: (ProcessingKey) throws -> ProcessingKey = { $0 }
  ) throws -> TokenOpener {
    let processing = try held(ProcessingKey(privateKeyPEM: keys[key] ?? "", merchantIdentifier: merchant))
    return TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: rootPEM)),
      keys: ProcessingKeyRing([Self.merchant: [processing]]))
  }

  package static let merchant = MerchantID("vectors")

  /// What the reader says about a vector; nil when it is as expected.
  ///
  /// - Parameter opener: nil for a new one, which has seen no certificate yet.
  package func difference(_ vector: TokenVector, with opener: TokenOpener? = nil) throws -> String? {
    let opener = try opener ?? self.opener(key: vector.key, merchant: vector.merchant)
    let found: TokenVector.Expectation
    do {
      let token = try EncryptedPaymentToken(bytes: vector.token)
      let opened = try opener.open(token, for: Self.merchant, at: vector.arrival, within: .seconds(60))
      if let wrong = try Self.payload(opened, vector) ?? use(opened, vector) { return "\(vector.name): \(wrong)" }
      found = .opens
    } catch let error as PaymentTokenError {
      found = .refused(stage: error.stage.rawValue, code: error.code.rawValue)
    }
    return found == vector.expectation ? nil : "\(vector.name): \(found) instead of \(vector.expectation)"
  }

  private static func payload(_ opened: OpenedPaymentToken, _ vector: TokenVector) throws -> String? {
    let inside = opened.paymentData.revealed.serialized()
    return String(decoding: inside, as: UTF8.self) == vector.paymentData ? nil : "something else stands inside"
  }

  /// Two spellings of a token are spent by the same key.
  private func use(_ opened: OpenedPaymentToken, _ vector: TokenVector) throws -> String? {
    guard let other = vector.spelling.flatMap(self.vector) else { return nil }
    let token = try EncryptedPaymentToken(bytes: other.token)
    return TokenUse(of: token) == opened.verified.use ? nil : "its spelling changes what is spent"
  }
}
