import Auditing
import Foundation
import Testing

@Suite struct `A search for secrets` {
  private let card = "4761739000000012"
  private var search: SecretSearch { SecretSearch([card, "another-secret"]) }

  @Test(
    arguments: [
      "4761739000000012", "34373631373339303030303030303132", "4761 7390 0000 0012", "4761-7390-0000-0012",
    ]) func `finds it as it is, in hex and in groups`(_ form: String)
  {
    #expect(search.finds(in: Data("before \(form) behind".utf8)))
  }

  @Test func `finds it in base64, wherever it begins`() {
    for shift in 0..<6 {
      let text = Data((String(repeating: "x", count: shift) + card + "behind").utf8).base64EncodedString()
      #expect(search.finds(in: Data(text.utf8)), "shifted by \(shift)")
    }
  }

  @Test(arguments: [String.Encoding.utf16LittleEndian, .utf16BigEndian])
  func `finds it in UTF-16`(_ encoding: String.Encoding) throws {
    #expect(search.finds(in: try #require("number \(card)".data(using: encoding))))
  }

  @Test func `finds it at the very end, and nothing where there is nothing`() {
    #expect(search.finds(in: Data("44761739000000012".utf8)))
    #expect(!search.finds(in: Data("476173900000001".utf8)))
    #expect(!search.finds(in: Data()))
  }
}
