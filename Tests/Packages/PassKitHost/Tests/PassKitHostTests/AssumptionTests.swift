import Foundation
import Testing

@Suite struct `The list of what a Mac has to confirm` {
  private let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../../../../..").standardized

  private func declarations(in text: String) -> Set<String> {
    Set(text.matches(of: /\b(?:PK|CN)[A-Z]\w+|\bNSUserActivity\b|\bPayWithApplePayButton\w*/).map { String($0.output) })
  }

  @Test func `names everything of Apple's that the adapter names`() throws {
    let adapter = root.appending(path: "Sources/Kit/TenderCheckout/PassKit")
    let files = try FileManager.default.contentsOfDirectory(atPath: adapter.path).filter { $0.hasSuffix(".swift") }
    let used = try files.reduce(into: Set<String>()) { names, file in
      names.formUnion(
        declarations(in: try String(contentsOf: adapter.appending(path: file), encoding: .utf8)))
    }
    #expect(used.count > 40)
    let listed = declarations(in: try String(contentsOf: root.appending(path: "docs/passkit.md"), encoding: .utf8))
    #expect(used.subtracting(listed).sorted() == [])
    #expect(listed.subtracting(used).sorted() == [])
  }

  @Test func `would miss a name that is not there`() {
    #expect(declarations(in: "let a = PKNewThing() // CNOther").sorted() == ["CNOther", "PKNewThing"])
    #expect(declarations(in: "PK, CN and a PKG are no declarations").isEmpty)
  }
}
