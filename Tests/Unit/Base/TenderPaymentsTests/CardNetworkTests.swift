import Foundation
import TenderPayments
import Testing

@Suite struct `A payment network` {
  @Test(arguments: [
    ("visa", CardNetwork.visa), ("VISA", .visa), ("MasterCard", .masterCard), ("carteBancaire", .cartesBancaires),
    ("CarteBancaires", .cartesBancaires), ("CartesBancaires", .cartesBancaires),
  ])
  func `is known in any case and by its old names`(name: String, network: CardNetwork) {
    #expect(CardNetwork(rawValue: name)?.rawValue == network.rawValue)
    #expect(CardNetwork(known: name) == network)
  }

  @Test func `that is newer than this release keeps its name, and equals itself in any case`() throws {
    let new = try #require(CardNetwork(rawValue: "neuCard"))
    #expect(new.rawValue == "neuCard" && new.appleName == "neuCard" && new.facts == nil)
    #expect(new == CardNetwork(rawValue: "NeuCard") && Set([new, new]).count == 1 && new != .visa)
    #expect(CardNetwork(known: "neuCard") == nil)
    let written = try JSONEncoder().encode([new, .jcb])
    #expect(String(decoding: written, as: UTF8.self) == "[\"neuCard\",\"jcb\"]")
    #expect(try JSONDecoder().decode([CardNetwork].self, from: written) == [new, .jcb])
  }

  @Test(arguments: ["", "vi sa", "vísa", "1visa", "visa\u{0}", String(repeating: "a", count: 33)])
  func `has a name of ASCII letters and digits`(name: String) { #expect(CardNetwork(rawValue: name) == nil) }

  @Test func `has a name for devices and the versions with which it came`() {
    #expect(CardNetwork.known.count == 21 && CardNetwork.known.allSatisfy { $0.facts != nil })
    #expect(CardNetwork.bankAxept.facts?.webVersion == 15 && CardNetwork.jcb.facts?.appleName == "JCB")
  }
}
