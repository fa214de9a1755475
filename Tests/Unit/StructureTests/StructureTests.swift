import TenderTesting
import Testing

@Suite struct `The structure` {
  @Test func `imports go down, to modules that the package declares`() throws {
    let found = try architecture().importsThatPointUp(try sources(), manifest: try manifest())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `dependencies go down, and every module lies in an area`() throws {
    let found = try architecture().targetsThatPointUp(try manifest())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `every module has its sentence`() throws {
    let found = try architecture().modulesWithoutSentence(try Repository.text("docs/architecture.md"))
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `modules that go into apps use nothing newer than iOS 16`() throws {
    let found = try architecture().newAPIInPortableModules(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `the sources and the example leave every check for data races on, but for what is named`() throws {
    let example = try Repository.swiftFiles(under: "Examples")
    try #require(!example.isEmpty)
    let found = try architecture().escapes(try sources() + example)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no connector's own refusal counts as the network's`() throws {
    let found = try architecture().localRefusals(try sources())
    #expect(found.isEmpty, "\(found)")
    let path = "Sources/Payments/Connectors/New/NewConnector.swift"
    for (line, count) in [
      ("return .notSent(\"no such card\")", 1), ("NetworkUse.note()", 1), ("return .notTaken(\"card\")", 0),
      (".failure(.notSent(\"no time was left to ask\"))", 0), ("case .notSent(let reason): .notSent(reason)", 0),
    ] {
      #expect(try architecture().localRefusals([SourceFile(path: path, text: line)]).count == count, "\(line)")
    }
  }

  @Test func `no file is too long, leaves a note or ends the process`() throws {
    let found = Tidiness.violations(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no function with effects is named by a participle`() throws {
    let found = Names.violations(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no folders of a module form a circle`() throws {
    let found = Folders.cycles(try sources())
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `every command and every service has a name, which no start has to find out`() throws {
    let files = try sources()
    try #require(files.contains { $0.text.contains("CommandConfiguration(") })
    #expect(Starts.unnamedCommands(files).isEmpty)
    #expect(Starts.unnamedServices(files).isEmpty)
  }

  @Test func `every listener reads heads and bodies as all others do`() throws {
    let files = try sources()
    try #require(files.contains { $0.text.contains("server: .strict(") })
    let found = Reading.violations(files)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `what a command puts into the query of a call is quoted`() throws {
    let files = try sources()
    try #require(files.contains { $0.path.hasPrefix("Sources/CommandLine/") && $0.text.contains(".inQuery") })
    let found = Queries.unquoted(files)
    #expect(found.isEmpty, "\(found)")
    for (line, count) in [
      (#"route.map { "route=\($0)" }"#, 1), (#""?by=\(user.inQuery)&note=\(note)""#, 1),
      (#"route.map { "route=\($0.inQuery)" }"#, 0), (#""?state=\(state.inQuery)&limit=\(limit)""#, 0),
    ] {
      let file = SourceFile(path: "Sources/CommandLine/TenderCLI/Command.swift", text: line)
      #expect(Queries.unquoted([file]).count == count, "\(line)")
    }
  }

  @Test func `no test uses what a module keeps to itself`() throws {
    let tests = try Repository.swiftFiles(under: "Tests").filter { !$0.path.contains("StructureTests") }
    let found = tests.filter { !$0.code(with: ["@testable"]).isEmpty }.map(\.path)
    #expect(found.isEmpty, "\(found)")
  }

  @Test func `no test depends on the machine's speed`() throws {
    let tests = try Repository.swiftFiles(under: "Tests").filter { !$0.path.contains("StructureTests") }
    let found = TimeLimits.violations(tests)
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

  @Test func `the path of a payment token calls what its page says, and nothing that the page does not name`() throws {
    let path = PaymentPath(try Repository.text(PaymentPath.page), try sources())
    #expect(path.steps.count == 12)
    #expect(path.violations.isEmpty, "\(path.violations)")
  }

  private static let sources = Result { try Repository.swiftFiles(under: "Sources") }

  private func sources() throws -> [SourceFile] {
    let files = try Self.sources.get()
    let modules = try manifest().modules
    try #require(files.count >= modules.count)
    return files
  }

  private func architecture() throws -> Architecture { Architecture(try manifest()) }

  private func manifest() throws -> Manifest { Manifest(try Repository.text("Package.swift")) }
}

@Suite struct `The rules of the structure find` {
  let architecture = Architecture(Self.manifest)

  @Test(arguments: [
    ("Ledger", "import Gateway", "may not import"), ("Ledger", "public import Acquiring", "may not import"),
    ("TenderServer", "import TokenIssuer", "may not import"), ("TenderCLI", "import TokenIssuer", "may not import"),
    ("TenderCLI", "import Demo", "may not import"), ("CommandSupport", "import TokenIssuer", "may not import"),
    ("TokenIssuer", "import Ledger", "may not import"),
    ("DemoShop", "import Orders", "may not import"), ("Gateway", "import Orders", "may not import"),
    ("TenderPayments", "import StrictJSON", "may not import"), ("TenderSheet", "import Storage", "may not import"),
    ("Gateway", "  @preconcurrency import struct Orders.Basket", "may not import"),
    ("TenderSheet", "import Crypto", "goes into apps"), ("Ledger", "import HTTPTransport", "does not declare"),
    ("Cellar", "import Foundation", "not in Package.swift"),
  ])
  func `an import that points up`(_ module: String, _ line: String, _ rule: String) {
    let file = SourceFile(path: "Sources/Area/\(module)/File.swift", text: "import Foundation\n\(line)\n")
    let found = architecture.importsThatPointUp([file], manifest: Self.manifest)
    #expect(found.count { $0.line == 2 && $0.rule.contains(rule) } == 1 || module == "Cellar" && found.count == 1)
  }

  @Test(arguments: [
    ("let pages: Pages", 1), ("// Pages", 0), ("let text = \"Pages\"", 0), ("let page = Office.Pages()", 0),
  ])
  func `folders that form a circle`(_ line: String, _ circles: Int) {
    let files = [
      SourceFile(path: "Sources/Server/Office/Pages/Page.swift", text: "struct Pages { let form: Form }"),
      SourceFile(path: "Sources/Server/Office/Web/Form.swift", text: "struct Form {\n  \(line)\n}"),
    ]
    #expect(Folders.cycles(files).count == circles)
  }

  @Test(arguments: [
    "@Test(.timeLimit(.minutes(5))) func f() {}", "try await Task.sleep(for: .seconds(2))",
    "for _ in 0..<400 where try await isMissing() { try await Task.sleep(for: .milliseconds(50)) }",
    "setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)",
  ])
  func `a limit of time in a test`(_ line: String) {
    #expect(TimeLimits.violations([SourceFile(path: "Tests/Unit/File.swift", text: line)]).count == 1)
  }

  @Test func `an import that is allowed is not reported`() {
    let file = SourceFile(
      path: "Sources/Payments/Gateway/File.swift", text: "package import Ledger\nimport Crypto\n// import Orders\n")
    #expect(architecture.importsThatPointUp([file], manifest: Self.manifest).isEmpty)
  }

  @Test func `a target that points up, and one in no area`() {
    let rules = architecture.targetsThatPointUp(Self.manifest).map(\.rule)
    #expect(rules == ["TenderSheet may not depend on Ledger", "there is no area Attic"])
  }

  @Test func `a module without a sentence, with two, and with a wrong mark`() {
    let page = """
      | `Ledger` | The journal. |
      | `Ledger` | The journal. |
      | `TenderSheet` | The sheet. |
      | `Gateway` | Turns one thing into another. |
      | `Orders` | |
      """
    let rules = architecture.modulesWithoutSentence(page).map(\.rule)
    #expect(rules.contains("Ledger has 2 sentences"))
    #expect(rules.contains("Orders has 0 sentences"))
    #expect(rules.contains("the mark ◆ of TenderSheet is wrong"))
    #expect(!rules.contains { $0.contains("Gateway") })
  }

  @Test(arguments: [
    "// TODO: later", "/// FIXME", "  /// The same for others.", "// Of a payment.", "fatalError()", "let a = try! f()",
    "let a = b as! C", "print(amount)", "  print()",
    "  dump(key)",
    "  preconditionFailure(\"\")",
  ])
  func `a line that has no place in Sources`(_ line: String) {
    let found = Tidiness.violations([
      SourceFile(path: "Sources/Payments/Ledger/File.swift", text: "import A\n\(line)\n")
    ])
    #expect(found.map(\.line) == [2])
  }

  @Test(arguments: [
    "func settled(_ id: PaymentID) async throws -> Payment {",
    "  static func kept(_ id: PaymentID, in store: Transaction) throws -> Payment { payment }",
    "  private func sent<T>(\n    _ work: () -> T = { 0 },\n    _ transaction: Transaction\n  ) throws -> T {",
    "  mutating func closed()",
  ])
  func `a participle that names a function with effects`(_ text: String) {
    let found = Names.violations([SourceFile(path: "Sources/Payments/Ledger/File.swift", text: "import A\n\(text)\n")])
    #expect(found.map(\.line) == [2])
  }

  @Test(arguments: [
    "func settle(_ id: PaymentID) async throws -> Payment {", "func read(_ id: PaymentID, in store: Transaction) {",
    "func feed() async {", "func isKept() async -> Bool {", "func settled(_ work: () async -> Int) -> Payment {",
    "func settled() -> Payment { store.write { async in } }", "/// func settled() async",
    "func kept(_ read: (Transaction) throws -> Int) -> Self {",
  ])
  func `a verb, and a participle without effects, may name a function`(_ line: String) {
    #expect(Names.violations([SourceFile(path: "Sources/Payments/Ledger/File.swift", text: line)]).isEmpty)
  }

  @Test(arguments: [
    "static let configuration = CommandConfiguration(abstract: \"Lists.\")",
    "CommandConfiguration(\n    abstract: \"\")",
  ])
  func `a command without a name`(_ text: String) {
    #expect(Starts.unnamedCommands([SourceFile(path: "a", text: text)]) == ["a"])
    let named = text.replacing("abstract:", with: "commandName: \"list\", abstract:")
    #expect(Starts.unnamedCommands([SourceFile(path: "a", text: named)]).isEmpty)
  }

  @Test(arguments: [".init(service: a)", ".init(services: [self], logger: logger)"])
  func `a service without a name`(_ text: String) {
    #expect(Starts.unnamedServices([SourceFile(path: "a", text: text)]).count == 1)
    let named = ".init(services: [.init(service: self, serviceName: \"a\")], logger: logger)"
    #expect(Starts.unnamedServices([SourceFile(path: "a", text: named)]).isEmpty)
  }

  @Test(arguments: [
    "    Application(\n      router: router,\n      logger: logger)", "    let server = HTTPServerBuilder.http1()",
    "    let body = try await request.body.collect(upTo: 4_096)", "    let page = request.uri.queryParameters[name]",
    "    let router = Router(context: ServerContext.self)",
  ])
  func `a listener or a body that is read in a way of its own`(_ text: String) {
    #expect(Reading.violations([SourceFile(path: "Sources/Server/A/File.swift", text: text)]).count == 1)
    for text in [
      "    Application(\n      router: router, server: .strict(),\n      logger: logger)",
      "    let page = request.query[name]",
      "    let router = Router(context: ServerContext.self, options: [.autoGenerateHeadEndpoints])",
    ] { #expect(Reading.violations([SourceFile(path: "Sources/Server/A/File.swift", text: text)]).isEmpty) }
  }

  @Test func `words in sentences and in other words are not calls`() {
    let text = """
      // Never fatalError here, says this comment.
      let words = "try! print(this)" + #"as! that"#
      fingerprint(key); printer.print(page)
      """
    #expect(Tidiness.violations([SourceFile(path: "Sources/Payments/Ledger/File.swift", text: text)]).isEmpty)
  }

  @Test func `a file of 401 lines`() {
    let lines = { SourceFile(path: "Sources/Payments/Ledger/File.swift", text: String(repeating: "\n", count: $0)) }
    #expect(Tidiness.violations([lines(400)]).isEmpty)
    #expect(Tidiness.violations([lines(401)]).count == 1)
  }

  @Test func `new API in a module that goes into apps, and only there`() {
    let text = "let lock = Mutex(0)\n"
    #expect(
      architecture.newAPIInPortableModules([SourceFile(path: "Sources/Kit/TenderSheet/File.swift", text: text)]).count
        == 1)
    #expect(
      architecture.newAPIInPortableModules([SourceFile(path: "Sources/Payments/Ledger/File.swift", text: text)]).isEmpty
    )
  }

  @Test(arguments: [
    "final class Box: @unchecked Sendable {}", "nonisolated(unsafe) var box = 0", "  @preconcurrency import PassKit",
    "MainActor.assumeIsolated { 0 }", "await withUnsafeContinuation { $0.resume() }",
  ])
  func `a check for data races that is switched off, wherever nobody has named it`(_ line: String) {
    let file = { (folder: String) in
      SourceFile(path: "\(folder)/File.swift", text: "import A\n\(line)\n// @unchecked Sendable: no\n")
    }
    for folder in ["Sources/Kit/TenderCheckout", "Examples/iOSShop", "Sources/Payments/Ledger"] {
      #expect(architecture.escapes([file(folder)]).map(\.line) == [2])
      #expect(architecture.escapes([file(folder)], trusted: ["\(folder)/File.swift": [line]]).isEmpty)
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
    let known = SourceFile(path: "Sources/Payments/Ledger/Known.swift", text: "Problem(.conflict, \"known\", \"\")")
    let file = SourceFile(path: "Sources/Checkout/Orders/File.swift", text: text)
    #expect(
      ErrorCodes.violations([known, file], page: page).map(\.description) == [
        "Sources/Checkout/Orders/File.swift:0: planted is not in docs/errors.md"
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

  @Test func `a page of the path that names no function, skips a file or has the wrong order`() {
    let sources = [
      SourceFile(
        path: "Sources/Payments/Gateway/A.swift",
        text: "func a() {\n  b(1)\n  // d(1)\n  journal.c()\n}\n\nfunc gone() {}\n"),
      SourceFile(path: "Sources/Payments/Gateway/B.swift", text: "  func b(_ x: Int) { a() }\n"),
      SourceFile(path: "Sources/Payments/Ledger/C.swift", text: "  package func c() {}\n  private func d() {}\n"),
    ]
    let row = { (number: Int, file: String, function: String) in
      "| \(number) | `Sources/Payments/\(file).swift` | `\(function)` | does it | |\n"
    }
    let (a, b, c) = (row(1, "Gateway/A", "a"), row(2, "Gateway/B", "b"), row(3, "Ledger/C", "c"))
    #expect(PaymentPath(a + b + c, sources).violations.isEmpty)
    #expect(
      PaymentPath(a + b, sources).violations.map(\.rule) == [
        "c is in Sources/Payments/Ledger/C.swift, which the page does not name"
      ])
    #expect(PaymentPath(b + c + a, sources).violations.map(\.rule) == ["no step above calls c"])
    #expect(
      PaymentPath(a + b + row(3, "Ledger/C", "e"), sources).violations.map(\.rule) == [
        "there is no function e", "no step above calls e",
      ])
  }

  private static let manifest = Manifest(
    """
    module("Base/TenderPayments"),
    module("Base/StrictJSON", ["TenderPayments"]),
    module("Base/Storage"),
    module("Base/HTTPTransport"),
    module("Kit/TenderSheet", ["TenderPayments", "Ledger"]),
    module("Payments/Acquiring"),
    module("Payments/Ledger", ["Storage", "TenderPayments", crypto]),
    module(
      "Payments/Gateway",
      [
        "Ledger", "TenderPayments",
      ], plugins: ["EmbedWeb"]),
    module("Checkout/Orders"),
    module("Sandbox/TokenIssuer"),
    module("Sandbox/DemoShop"),
    module("Server/TenderServer"),
    module("CommandLine/CommandSupport"),
    module("CommandLine/Demo"),
    module("Attic/Trunk"),
    tool(
      "Sources/CommandLine/TenderCLI",
      ["TenderServer", arguments]),
    """)
}
