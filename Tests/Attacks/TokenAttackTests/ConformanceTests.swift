import ApplePayToken
import Foundation
import TenderPayments
import Testing
import TokenIssuer
import TokenVectors

@Suite struct `The conformance vectors` {
  static let library = Result { try VectorLibrary(directory: ConformanceVectors.directory) }

  @Test func `have the expected result, one by one`() throws {
    let library = try Self.library.get()
    let differences = try library.vectors.compactMap { try library.difference($0) }
    #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
  }

  @Test(arguments: KeyLocation.allCases)
  func `have the same result with one opener for all, wherever the key is`(location: KeyLocation) throws {
    let library = try Self.library.get()
    for vectors in Dictionary(grouping: library.vectors, by: \.key).values {
      let opener = try library.opener(for: vectors[0], held: location.held)
      for _ in 0..<2 {
        let differences = try vectors.compactMap { try library.difference($0, with: opener) }
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
      }
    }
  }

  @Test func `are one for each variant, and expect the same`() throws {
    let kept = Dictionary(uniqueKeysWithValues: try Self.library.get().vectors.map { ($0.name, $0.expectation) })
    #expect(Set(kept.keys) == Set(TokenVariant.all.map(\.name)))
    for variant in TokenVariant.all {
      let expected: TokenVector.Expectation =
        switch variant.expectation {
        case .opens: .opens
        case .refused(let code): .refused(stage: code.stage.rawValue, code: code.rawValue)
        }
      #expect(kept[variant.name] == expected, "\(variant.name)")
    }
  }

  @Test func `have flags, each of which is explained and needed`() throws {
    let library = try Self.library.get()
    #expect(!library.vectors.contains { $0.flags.isEmpty })
    #expect(Set(library.vectors.flatMap(\.flags)) == Set(library.notes.keys))
  }

  @Test func `hold the keys and the root that lie beside them as files`() throws {
    let library = try Self.library.get()
    for file in ["ec-merchant.key.pem", "rsa-merchant.key.pem", "root.pem"] {
      let text = try String(contentsOfFile: "\(ConformanceVectors.directory)/\(file)", encoding: .utf8)
      #expect(library.vectors.contains { $0.key == text || $0.root == text }, "\(file)")
    }
  }

  @Test func `have each its own name, and every stage that a token alone can fail at`() {
    #expect(Set(TokenVariant.all.map(\.name)).count == TokenVariant.all.count)
    let stages = TokenVariant.all.compactMap { variant -> PaymentTokenError.Stage? in
      if case .refused(let code) = variant.expectation { code.stage } else { nil }
    }
    #expect(Set(stages) == Set(PaymentTokenError.Stage.allCases).subtracting([.replay, .order]))
    #expect(stages.count >= 120)
  }
}
