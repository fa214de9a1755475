import TenderTesting
import Testing

@Suite struct `What ends the process` {
  @Test func `stands nowhere, but for what is named with its reason, and all of that is still there`() throws {
    let files = try Repository.swiftFiles(under: "Sources")
    try #require(files.count > 500)
    let (found, needless) = Traps().violations(files)
    #expect(found.isEmpty, "\(found)")
    #expect(needless.isEmpty, "\(needless)")
    #expect(Traps.places.allSatisfy { !$0.reason.isEmpty })
  }

  private static func rules(_ text: String, allowed: [Traps.Allowed] = []) -> [String] {
    let file = SourceFile(path: "Sources/Payments/Ledger/File.swift", text: "import A\n\(text)\n")
    return Traps(allowed: allowed).violations([file]).found.map { "\($0.line) \($0.rule)" }
  }

  private static let planted: [(String, Traps.Rule)] = [
    (
      "let shipping = (order.shipping?.shippingCost ?? 0) + (order.shipping?.shippingCostTax ?? 0)", .arithmetic
    ),
    (".integer(amount.minorUnits * factor(amount.currency))", .arithmetic),
    ("captured += movement.amount", .arithmetic), ("let rest = whole - payment.captured", .arithmetic),
    ("case \"held\" where intent.capturable + intent.received == asked: return", .arithmetic),
    ("Amount(minorUnits: try field.member(name).integer, currency: currency)", .rawAmount),
    ("received = try field.memberIfPresent(\"amount_received\")?.integer ?? 0", .rawAmount),
    ("let fields = line.split(separator: \",\"); name = fields[0]", .index),
    ("let pairs = text.split(separator: \"&\").map { $0.split(separator: \"=\")[0..<1] }.map { $0[1] }", .index),
    ("let seconds = Int64(date.timeIntervalSince1970)", .conversion), ("let port = UInt16(number)", .conversion),
    ("let count = Int((share * 10).rounded(.down))", .conversion), ("Int32(length)", .conversion),
    ("bytes.map { CChar($0) }", .conversion), ("let name = parts.first!", .unwrapping),
    ("names[text]!.count", .unwrapping), ("read(text)!", .unwrapping), ("let a = try! f()", .unwrapping),
    ("let a = b as! C", .unwrapping),
  ]

  @Test(arguments: planted.indices) func `is found where it is planted, and once`(_ place: Int) {
    let (line, rule) = Self.planted[place]
    #expect(Self.rules(line) == ["2 \(rule.rawValue)"], "\(line)")
  }

  @Test func `is found in a sum of SQL, and in an index after a check of another text`() {
    let sum = Self.rules("let sql = \"\"\"\n  SELECT SUM(amount) FROM payments\n  \"\"\"")
    #expect(sum == ["3 \(Traps.Rule.databaseSum.rawValue)"])
    let text = "let a = text.split { $0 == 1 }\nlet b = text.split { $0 == 2 }\nguard a.count == 2 else { return }\n"
    #expect(Self.rules(text + "use(a[1])").isEmpty)
    #expect(Self.rules(text + "use(b[1])") == ["5 \(Traps.Rule.index.rawValue)"])
  }

  @Test(arguments: [
    "let total = try costs.total(in: currency)", "// amount + amount, try!, CChar(a)", "let text = \"a\" + amount.text",
    "lines = [amount] + rest",
    "let first = text.split(separator: \"/\", omittingEmptySubsequences: false)[...]; return first",
    "let parts = text.split(separator: \"/\", omittingEmptySubsequences: false)\nuse(parts[0])",
    "let parts = text.split(separator: \"/\")\nreturn parts.count == 2 ? parts[1] : nil", "Int64(exactly: seconds)",
    "UInt8(clamping: number)", "UInt16(truncatingIfNeeded: number)", "guard !isEmpty, a != b else { return }",
    "static let name = HTTPField.Name(\"X-A\")!", "let s = \"\"\"\n  captured + amount > 0 AND 1!\n  \"\"\"",
    "try row.integer(\"amount\")", "try field.member(\"amount\").amount(in: currency)",
  ])
  func `is not what is safe`(_ text: String) {
    #expect(Self.rules(text).isEmpty)
  }

  @Test func `may stay where it is named, and is missed there when it is gone`() {
    let place = Traps.Allowed("Sources/Payments/", "captured +=", .arithmetic, "because")
    #expect(Self.rules("captured += 1", allowed: [place]).isEmpty)
    #expect(Self.rules("captured -= 1", allowed: [place]).count == 1)
    #expect(Traps(allowed: [place]).violations([]).needless == ["Sources/Payments/: captured +="])
  }
}
