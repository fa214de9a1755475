package import ApplePayToken
import Foundation
import StrictJSON
package import TenderPayments

/// The conformance vectors, and the result that Tender's public API gives for each.
package struct VectorLibrary: Sendable {
  package let vectors: [TokenVector]
  /// What each flag stands for.
  package let notes: [String: String]

  /// - Parameter directory: the one of `vectors.json`.
  package init(directory: String) throws {
    let file = try Data(contentsOf: URL(filePath: "\(directory)/vectors.json"))
    let document = JSONField(try JSONReader.read(Array(file), limits: JSONLimits(depth: 16, size: 16 << 20)))
    vectors = try document.member("testGroups").array.flatMap { group in
      try group.member("tests").array.map { try TokenVector($0, in: group) }
    }
    notes = Dictionary(
      uniqueKeysWithValues: try document.member("notes").object.members.map { flag, note in
        (flag, try JSONField(note).member("description").string)
      })
  }

  package func vector(_ name: String) -> TokenVector? { vectors.first { $0.name == name } }

  /// What opens the tokens of the vector's group.
  ///
  /// - Parameter held: puts the key elsewhere, and gives back one that asks there.
  package func opener(
    for vector: TokenVector, held: (ProcessingKey) throws -> ProcessingKey = { $0 }
  ) throws -> TokenOpener {
    let processing = try held(ProcessingKey(privateKeyPEM: vector.key, merchantIdentifier: vector.merchant))
    return TokenOpener(
      verifier: TokenVerifier(trust: try .simulated(rootPEM: vector.root)),
      keys: ProcessingKeyRing([Self.merchant: [processing]]))
  }

  package static let merchant = MerchantID("vectors")

  /// What the reader says about a vector; nil when it is as expected.
  ///
  /// - Parameter opener: nil for a new one, which has seen no certificate yet.
  package func difference(_ vector: TokenVector, with opener: TokenOpener? = nil) throws -> String? {
    let opener = try opener ?? self.opener(for: vector)
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
