import Testing

@Suite struct `The house` {
  @Test func `imports go down, or along an arrow, to declared rooms`() throws {
    let found = House.drawing.importsThatPointUp(try sources(), manifest: try manifest())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `the package and the drawing are the same house`() throws {
    let found = House.drawing.targetsThatPointUp(try manifest())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `every room has its sentence`() throws {
    let found = House.drawing.roomsWithoutSentence(try Repository.text("docs/rooms.md"))
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `rooms that go into apps use nothing newer than iOS 16`() throws {
    let found = House.drawing.newAPIInPortableRooms(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `rooms and the example leave every check for data races on, but for what is named`() throws {
    let example = try Repository.swiftFiles(under: "Examples")
    try #require(!example.isEmpty)
    let found = House.drawing.escapes(try sources() + example)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no file is too long, leaves a note or ends the process`() throws {
    let found = Tidiness.violations(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no test looks behind a front door`() throws {
    let tests = try Repository.swiftFiles(under: "Tests").filter { $0.room != "HouseTests" }
    let found = tests.filter { !$0.code(with: ["@testable"]).isEmpty }.map(\.path)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no package with a known fault can be resolved`() throws {
    let found = try manifest().faultyPackages()
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `every code of an error is explained, and no other`() throws {
    let page = SourceFile(path: "docs/errors.md", text: try Repository.text("docs/errors.md"))
    let found = ErrorCodes.violations(try sources(), page: page)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `every page of docs is looked at`() {
    #expect(Documents.pages.contains("docs/reliability.md") && Documents.pages.count > 15)
  }

  @Test(arguments: Documents.pages) func `a file that a document names is there`(_ page: String) throws {
    let found = Documents.brokenPaths(
      in: SourceFile(path: page, text: try Repository.text(page)), exists: Repository.has)
    #expect(found.isEmpty, "\(found)")
  }

  private func sources() throws -> [SourceFile] {
    let files = try Repository.swiftFiles(under: "Sources")
    try #require(files.count >= House.drawing.rooms.count)
    return files
  }

  private func manifest() throws -> Manifest { Manifest(try Repository.text("Package.swift")) }
}

@Suite struct `The checkers of the house catch what is planted` {
  let house = House.drawing

  @Test(arguments: [
    ("Ledger", "import Gateway", "may not import"), ("Ledger", "public import Acquiring", "may not import"),
    ("TenderServer", "import Sandbox", "may not import"), ("Sandbox", "import Ledger", "may not import"),
    ("DemoShop", "import Orders", "may not import"), ("Gateway", "import Orders", "may not import"),
    ("TenderPayments", "import StrictJSON", "may not import"), ("TenderSheet", "import Storage", "may not import"),
    ("Gateway", "  @preconcurrency import struct Orders.Basket", "may not import"),
    ("TenderSheet", "import Crypto", "goes into apps"), ("Ledger", "import HTTPTransport", "does not declare"),
    ("Cellar", "import Foundation", "not in the drawing"),
  ])
  func `an import that points up`(_ room: String, _ line: String, _ rule: String) {
    let file = SourceFile(path: "Sources/\(room)/File.swift", text: "import Foundation\n\(line)\n")
    let found = house.importsThatPointUp([file], manifest: Self.manifest)
    #expect(found.count { $0.line == 2 && $0.rule.contains(rule) } == 1 || room == "Cellar" && found.count == 1)
  }

  @Test func `an import that is allowed is not reported`() {
    let file = SourceFile(
      path: "Sources/Gateway/File.swift", text: "package import Ledger\nimport Crypto\n// import Orders\n")
    #expect(house.importsThatPointUp([file], manifest: Self.manifest).isEmpty)
  }

  @Test func `a target that points up, one that is not drawn, and one that is gone`() {
    let rules = house.targetsThatPointUp(Self.manifest).map(\.rule)
    #expect(rules.contains("TenderSheet may not depend on Ledger"))
    #expect(rules.contains("the room Attic is not in the drawing"))
    #expect(rules.contains("the room Acquiring is not built"))
  }

  @Test func `a room without a sentence, with two, and with a wrong mark`() {
    let page = """
      | `Ledger` | The journal. |
      | `Ledger` | The journal. |
      | `TenderSheet` | The sheet. |
      | `Gateway` | Turns one thing into another. |
      | `Orders` | |
      """
    let rules = house.roomsWithoutSentence(page).map(\.rule)
    #expect(rules.contains("the room Ledger has 2 sentences"))
    #expect(rules.contains("the room Orders has 0 sentences"))
    #expect(rules.contains("the mark ◆ of TenderSheet is wrong"))
    #expect(!rules.contains { $0.contains("Gateway") })
  }

  @Test(arguments: [
    "// TODO: later", "/// FIXME", "fatalError()", "let a = try! f()", "let a = b as! C", "print(amount)", "  print()",
    "  dump(key)",
    "  preconditionFailure(\"\")",
  ])
  func `a line that has no place in Sources`(_ line: String) {
    let found = Tidiness.violations([SourceFile(path: "Sources/Ledger/File.swift", text: "import A\n\(line)\n")])
    #expect(found.map(\.line) == [2])
  }

  @Test func `words in sentences and in other words are not calls`() {
    let text = """
      // Never fatalError here, says this comment.
      let words = "try! print(this)" + #"as! that"#
      fingerprint(key); printer.print(page)
      """
    #expect(Tidiness.violations([SourceFile(path: "Sources/Ledger/File.swift", text: text)]).isEmpty)
  }

  @Test func `a file of 401 lines`() {
    let lines = { SourceFile(path: "Sources/Ledger/File.swift", text: String(repeating: "\n", count: $0)) }
    #expect(Tidiness.violations([lines(400)]).isEmpty)
    #expect(Tidiness.violations([lines(401)]).count == 1)
  }

  @Test func `new API in a room that goes into apps, and only there`() {
    let text = "let lock = Mutex(0)\n"
    #expect(house.newAPIInPortableRooms([SourceFile(path: "Sources/TenderSheet/File.swift", text: text)]).count == 1)
    #expect(house.newAPIInPortableRooms([SourceFile(path: "Sources/Ledger/File.swift", text: text)]).isEmpty)
  }

  @Test(arguments: [
    "final class Box: @unchecked Sendable {}", "nonisolated(unsafe) var box = 0", "  @preconcurrency import PassKit",
    "MainActor.assumeIsolated { 0 }", "await withUnsafeContinuation { $0.resume() }",
  ])
  func `a check for data races that is switched off, wherever nobody has named it`(_ line: String) {
    let file = { (folder: String) in
      SourceFile(path: "\(folder)/File.swift", text: "import A\n\(line)\n// @unchecked Sendable: no\n")
    }
    for folder in ["Sources/TenderCheckout", "Examples/iOSShop", "Sources/Ledger"] {
      #expect(house.escapes([file(folder)]).map(\.line) == [2])
      #expect(house.escapes([file(folder)], trusted: ["\(folder)/File.swift": [line]]).isEmpty)
    }
  }

  @Test func `a package from before its fault was mended`() {
    let old = Manifest(#".package(url: "https://example.com/apple/swift-crypto", from: "3.12.3"),"#)
    let new = Manifest(#".package(url: "https://example.com/apple/swift-crypto", from: "4.10.0"),"#)
    #expect(old.faultyPackages().count == 1)
    #expect(new.faultyPackages().isEmpty)
  }

  @Test(arguments: [
    "throw Problem(.notFound, \"planted\", \"Nothing.\")",
    "throw Problem(\n  .init(code: 402, reasonPhrase: \"Payment Required\"),\n  \"planted\", \"Nothing.\")",
    "  public enum Code: String, Sendable {\n    case known\n    case other = \"planted\"\n  }",
    "  enum Code: String {\n    case known, planted\n  }",
    "  var code: String {\n    switch self {\n    case .a: \"known\"\n    case .b: \"planted\"\n    }\n  }",
  ])
  func `a code of an error that is not explained`(_ text: String) {
    let page = SourceFile(path: "docs/errors.md", text: "**`known`** — Known.")
    let known = SourceFile(path: "Sources/Ledger/Known.swift", text: "Problem(.conflict, \"known\", \"\")")
    let file = SourceFile(path: "Sources/Orders/File.swift", text: text)
    #expect(
      ErrorCodes.violations([known, file], page: page).map(\.description) == [
        "Sources/Orders/File.swift:0: planted is not in docs/errors.md"
      ])
  }

  @Test func `an explanation of a code that is gone`() {
    let page = SourceFile(path: "docs/errors.md", text: "**`gone`** — Gone.")
    #expect(ErrorCodes.violations([], page: page).map(\.rule) == ["nobody uses gone"])
  }

  @Test func `a document that names a file that is gone`() {
    let page = SourceFile(path: "README.md", text: "a\nSee [it](docs/gone.md), `Sources/Gone.swift` and `Web/here.js`.")
    let rules = Documents.brokenPaths(in: page) { $0 == "Web/here.js" }
    #expect(
      rules.map(\.description) == [
        "README.md:2: there is no docs/gone.md", "README.md:2: there is no Sources/Gone.swift",
      ])
  }

  private static let manifest = Manifest(
    """
    room("TenderPayments"),
    room("Ledger", ["Storage", "TenderPayments", crypto]),
    room("TenderSheet", ["TenderPayments", "Ledger"]),
    room(
      "Gateway",
      [
        "Ledger", "TenderPayments",
      ], plugins: ["EmbedWeb"]),
    room("Attic"),
    .executableTarget(
      name: "TenderCLI",
      dependencies: ["TenderServer", arguments], swiftSettings: house),
    """)
}
