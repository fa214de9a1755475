import ApplePayToken
import Foundation
import Sandbox
import TenderPayments
import Testing
import TokenVectors

@Suite struct `The conformance vectors` {
  static let library = Result { try VectorLibrary(directory: VectorMill.directory) }

  @Test func `are judged as they say, one by one`() throws {
    let library = try Self.library.get()
    #expect(library.vectors.count == TokenVariant.all.count)
    let differences = try library.vectors.compactMap { try library.difference($0) }
    #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
  }

  @Test(arguments: KeyHome.allCases)
  func `are judged the same by an opener that has seen all of them, wherever the key is`(home: KeyHome) throws {
    let library = try Self.library.get()
    for (key, vectors) in Dictionary(grouping: library.vectors, by: \.key) {
      let opener = try library.opener(key: key, merchant: VectorMill.merchant, held: home.held)
      for _ in 0..<2 {
        let differences = try vectors.compactMap { try library.difference($0, with: opener) }
        #expect(differences.isEmpty, "\(differences.joined(separator: "\n"))")
      }
    }
  }

  /// `make vectors` runs this test with `TENDER_WRITE_VECTORS=1`.
  @Test func `are what the seed makes, byte for byte`() throws {
    let made = try VectorMill().files()
    if ProcessInfo.processInfo.environment["TENDER_WRITE_VECTORS"] != nil { try write(made) }
    let kept = Set(try names()).subtracting(["README.md", "rsa-merchant.key.pem", "rsa-signer.key.pem"])
    #expect(kept == Set(made.keys))
    for (name, text) in made {
      let file = try? String(contentsOfFile: "\(VectorMill.directory)/\(name)", encoding: .utf8)
      #expect(file == text, "\(name) differs: make vectors")
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

  private func names() throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: VectorMill.directory)
  }

  private func write(_ files: [String: String]) throws {
    for name in try names() where name.hasSuffix(".txt") {
      try FileManager.default.removeItem(atPath: "\(VectorMill.directory)/\(name)")
    }
    for (name, text) in files {
      try Data(text.utf8).write(to: URL(filePath: "\(VectorMill.directory)/\(name)"))
    }
  }
}
