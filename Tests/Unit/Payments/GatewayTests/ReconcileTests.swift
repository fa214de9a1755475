import Acquiring
import Connectors
import Gateway
import Ledger
import PaymentTesting
import Storage
import TenderPayments
import TenderTesting
import Testing

/// Two payments, one of them captured, and the report that an acquirer would write of them.
private struct Month {
  let shop: Shop
  var report: [[String: String]]

  init() async throws {
    shop = try await Shop()
    let first = try await shop.gateway.authorize(Shop.order("order-1"), with: shop.token(for: Shop.order("order-1")))
    _ = try await shop.gateway.capture(first.id)
    shop.clock.advance(.seconds(60))
    let order = Shop.order("order-2", 700)
    let second = try await shop.gateway.authorize(order, with: shop.token(for: order))
    let operations =
      try await shop.journal.operations(of: first.id) + shop.journal.operations(of: second.id)
    report = operations.map { operation in
      [
        "reference": operation.reference.rawValue, "operation": operation.kind.rawValue,
        "amount": "\(operation.amount.minorUnits)", "currency": "EUR", "result": "approved",
        "time": operation.sentAt.description,
      ]
    }
  }

  var csv: String {
    let names = ["reference", "operation", "amount", "currency", "result", "time"]
    return ([names] + report.map { line in names.map { line[$0] ?? "" } }).map { $0.joined(separator: ",") + "\n" }
      .joined()
  }

  var jsonLines: String {
    report.map { line in
      let members = line.map { $0 == "amount" ? "\"amount\":\($1)" : "\"\($0)\":\"\($1)\"" }
      return "{\(members.joined(separator: ","))}\n"
    }.joined()
  }

  func kinds(_ text: String? = nil) async throws -> [Difference.Kind] {
    let report = try AcquirerReport(Array((text ?? csv).utf8))
    return try await shop.journal.differences(from: report).map(\.kind)
  }

  /// The line of the capture.
  var capture: Int { report.firstIndex { $0["operation"] == "capture" } ?? 0 }
  func new(_ operation: String, like line: Int) -> [String: String] {
    report[line].merging(["reference": "unknown", "operation": operation]) { $1 }
  }
}

@Suite struct `Comparing the journal with the acquirer's report` {
  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `asks for hundreds of lines at once, also of what the provider alone knows`() async throws {
    let place = try await EmptyDatabase(.postgres)
    let journal = Journal(try await place.open(Journal.migrations))
    let lines = (1...1_200).map { "line-\($0),authorize,100,EUR,approved,2026-01-01T00:00:00Z\n" }
    let report = try AcquirerReport(
      Array(("reference,operation,amount,currency,result,time\n" + lines.joined()).utf8))
    let before = try #require(journal.database.pool?.trips)
    #expect(try await journal.differences(from: report).count == 1_200)
    #expect(try #require(journal.database.pool?.trips) - before < 100)
    await journal.database.close()
  }

  @Test func `nothing is found when both tell the same, in either form`() async throws {
    let month = try await Month()
    #expect(month.report.count == 3)
    #expect(try await month.kinds() == [])
    #expect(try await month.kinds(month.jsonLines) == [])
  }

  /// Before the quotation mark that is missing is found.
  @Test(arguments: ["", "reference,operation,amount,currency,result,time\n"])
  func `a line of many columns is refused at the first that is too many`(head: String) {
    let text = head + "a" + String(repeating: ",", count: 300) + "\""
    let error = #expect(throws: ReportError.self) { try AcquirerReport(Array(text.utf8)) }
    #expect(error?.reason.contains("so many columns") == true, "\(error?.reason ?? "")")
  }

  @Test func `what the acquirer did without us`() async throws {
    var month = try await Month()
    month.report.append(month.new("authorize", like: 0))
    #expect(try await month.kinds() == [.missingHere])
    month.report[3]["result"] = "pending"
    #expect(try await month.kinds() == [.missingHere])
    month.report[3]["result"] = "declined"
    #expect(try await month.kinds() == [])
  }

  @Test func `what we count on and it does not know`() async throws {
    var month = try await Month()
    month.report.remove(at: month.capture)
    #expect(try await month.kinds() == [.missingThere])
  }

  @Test func `another amount, another currency, another operation`() async throws {
    var month = try await Month()
    month.report[0]["amount"] = "1249"
    #expect(try await month.kinds() == [.amount])
    month.report[0]["currency"] = "USD"
    #expect(try await month.kinds() == [.currency])
    month = try await Month()
    month.report[month.capture]["operation"] = "refund"
    #expect(try await month.kinds() == [.operation])
  }

  @Test func `an operation that took another route than the report is of`() async throws {
    let month = try await Month()
    let report = try AcquirerReport(Array(month.csv.utf8))
    let found = try await month.shop.journal.differences(from: report, through: "elsewhere")
    #expect(found.map(\.kind) == .init(repeating: .route, count: 3))
    let route = try #require(found.first?.here)
    #expect(found.first?.there == "elsewhere")
    #expect(try await month.shop.journal.differences(from: report, through: route) == [])
  }

  @Test func `a yes on one side only`() async throws {
    var month = try await Month()
    month.report[month.capture]["result"] = "declined"
    #expect(try await month.kinds() == [.status])
    month = try await Month()
    month.report.append(month.report[0].merging(["operation": "reverse"]) { $1 })
    #expect(try await month.kinds() == [.status])
  }

  @Test func `an undoing alone, of what an earlier report held`() async throws {
    var month = try await Month()
    month.report = [month.report[0].merging(["operation": "reverse"]) { $1 }]
    #expect(try await month.kinds().contains(.status))
  }

  @Test func `one operation done twice`() async throws {
    var month = try await Month()
    month.report.append(month.report[month.capture])
    #expect(try await month.kinds() == [.double])
  }

  @Test func `what is open here and decided there`() async throws {
    let month = try await Month()
    month.shop.fake.authorizes(.unknown(Interruption(.timeout)))
    let order = Shop.order("order-3", 900)
    let payment = try await month.shop.gateway.authorize(order, with: month.shop.token(for: order))
    let reference = try #require(try await month.shop.journal.operations(of: payment.id).first?.reference)
    let line = "\(reference),authorize,900,EUR,approved,\(month.shop.clock.now)\n"
    #expect(try await month.kinds(month.csv + line) == [.unsettled])
  }

  @Test func `nothing is found in what a spreadsheet has written, or another program`() async throws {
    let month = try await Month()
    let (mark, rows) = ("\u{FEFF}", month.csv)
    let quoted = rows.split(separator: "\n").map { row in
      row.split(separator: ",", omittingEmptySubsequences: false).map { "\"\($0)\"" }.joined(separator: ";")
    }.joined(separator: "\r\n")
    let array = "[\(month.jsonLines.split(separator: "\n").joined(separator: ",\n"))]"
    for text in [
      mark + rows, quoted, mark + quoted, rows.replacing(",", with: "\t"), rows.replacing("Z\n", with: "+00:00\n"),
      rows.replacing("\n", with: "\n\n"), mark + month.jsonLines, array,
    ] { #expect(try await month.kinds(text) == [], "\(text.prefix(80))") }
  }

  @Test func `only what was sent in the period is missed`() async throws {
    let month = try await Month()
    let report = try AcquirerReport(Array("reference,operation,amount,currency,result,time\n".utf8))
    let now = month.shop.clock.now
    let young = now.adding(.seconds(-30))..<now.adding(.seconds(1))
    #expect(try await month.shop.journal.differences(from: report, in: young).count == 1)
    let all = now.adding(.seconds(-90))..<now.adding(.seconds(1))
    #expect(
      try await month.shop.journal.differences(from: report, in: all).map(\.kind)
        == .init(repeating: .missingThere, count: 3))
  }

  private static let head = "reference,operation,amount,currency,result,time\n"
  private static let row = "r,capture,1,EUR,approved,2026-11-21T10:00:00Z\n"
  private static let object =
    #"{"reference":"r","operation":"capture","amount":1,"currency":"EUR","result":"approved","time":"2026-11-21T10:00:00Z"}"#

  @Test(arguments: [
    head + row + "r,chargeback,1,EUR,approved,2026-11-21T10:00:00Z\n\"r", "[\(object),{},{",
  ])
  func `a report is read up to the first line that is wrong`(_ text: String) throws {
    let error = try #require(throws: ReportError.self) { try AcquirerReport(Array(text.utf8)) }
    #expect(error.line == (text.hasPrefix("[") ? 2 : 3) && !error.reason.contains("quotation"), "\(error)")
  }

  private static let columns = "payment,authorized,captured,refunded,currency,name\n"
  private static let payment = "019aba5e7c0000000000000000000100"

  @Test(arguments: [
    (columns + "\(payment),1,0,0,EUR,n\n\(payment),1,1,0,EUR,n\n", 3, "named twice"),
    (columns + "\(payment),1000000000000,0,0,EUR,n\n", 2, "authorized"),
    (columns + "\(payment),1,0,9223372036854775807,EUR,n\n", 2, "refunded"),
    (columns + "\(payment),1,0,0,EUR," + String(repeating: "n", count: 1_025) + "\n", 2, "name"),
    (columns + "HK-1042,1,0,0,EUR,n\n", 2, "payment"),
  ])
  func `orders that name a payment twice, or more than is taken, are refused`(
    _ text: String, _ line: Int, _ word: String
  ) throws {
    let error = try #require(throws: ReportError.self) { try OrderBalances.read(Array(text.utf8)) }
    #expect(error.line == line && error.reason.contains(word), "\(error)")
    #expect(try OrderBalances.read(Array((Self.columns + "\(Self.payment),999999999999,0,0,EUR,n\n").utf8)).count == 1)
  }

  @Test(arguments: ["reference", "authorization", "name"])
  func `a report with a name of more than 1,024 bytes is refused`(_ column: String) throws {
    let head = "reference,operation,amount,currency,result,time,authorization,name\n"
    func text(_ length: Int) -> [UInt8] {
      let long = String(repeating: "x", count: length)
      let (own, first, name) = (
        column == "reference" ? long : "r", column == "authorization" ? long : "a", column == "name" ? long : "n"
      )
      return Array((head + "\(own),capture,1,EUR,approved,2026-11-21T10:00:00Z,\(first),\(name)\n").utf8)
    }
    #expect(try AcquirerReport(text(1_024)).lines.count == 1)
    let error = try #require(throws: ReportError.self) { try AcquirerReport(text(1_025)) }
    #expect(error.line == 2 && error.reason.contains(column), "\(error)")
  }

  /// PostgreSQL takes none in a text.
  @Test(arguments: [head + row + "r\u{0}," + row.dropFirst(2), head + "\"\u{0}\"," + row.dropFirst(2)])
  func `a report with the character NUL in a field is refused at its line`(_ text: String) throws {
    let error = try #require(throws: ReportError.self) { try AcquirerReport(Array(text.utf8)) }
    #expect(error.reason.contains("NUL") && error.line == (text.contains(Self.row) ? 3 : 2), "\(error)")
  }

  @Test(arguments: [head + row + row + row, object + "\n" + object + "\n" + object, "[\(object),\(object),\(object)]"])
  func `a report of more lines than are taken is refused, with their number`(_ text: String) throws {
    #expect(try AcquirerReport(Array(text.utf8), limit: 3).lines.count == 3)
    let error = try #require(throws: ReportError.self) { try AcquirerReport(Array(text.utf8), limit: 2) }
    #expect(error.reason.contains("at most 2 lines"))
    #expect(AcquirerReport.mostLines == 200_000)
  }

  @Test(arguments: ["[]", " [ ] \n", "[\(object)]", "[ {\"a\":\"]},\\\"\"},\(object)"])
  func `an array is read to its end`(_ text: String) {
    #expect(
      (try? AcquirerReport(Array(text.utf8)))?.lines.count == (text.contains("\\") ? nil : text.count > 9 ? 1 : 0))
  }

  @Test(arguments: [
    ("r,capture,35.50,EUR,approved,2026-11-21T10:00:00Z", "“35.50”; it must be a whole number of minor units"),
    ("r,capture,1,EUX,approved,2026-11-21T10:00:00Z", "“EUX”; it must be a code of ISO 4217"),
    ("r,capture,1,EUR,Approved,2026-11-21T10:00:00Z", "“Approved”; it must be one of approved, declined, pending"),
    ("r,Capture,1,EUR,approved,2026-11-21T10:00:00Z", "“Capture”; it must be one of authorize, capture, void"),
    ("r,capture,1,EUR,approved,28.11.2026", "“28.11.2026”; it must be a time of RFC 3339, such as 2026-11-21T10"),
    (",capture,1,EUR,approved,2026-11-21T10:00:00Z", "“”; it must be our reference of an operation"),
  ])
  func `a field that is wrong is shown, with what is right`(_ row: String, _ words: String) throws {
    let error = try #require(throws: ReportError.self) { try AcquirerReport(Array((Self.head + row).utf8)) }
    #expect(error.line == 2 && error.reason.contains(words), "\(error)")
  }

  @Test(arguments: [
    "4761340000000019", "4761 3400 0000 0019", "4761-3400-0000-0019", "378282246310005", "x 4761340000000019",
  ])
  func `a card's number is no name in a report or in orders, and is in no message about them`(_ number: String) throws {
    let names = ["reference", "operation", "amount", "currency", "result", "time", "authorization", "name"]
    let right = ["r", "capture", "1", "EUR", "approved", "2026-11-21T10:00:00Z", "a", "n"]
    let orders = ["payment", "authorized", "captured", "refunded", "currency", "name"]
    let order = ["01a22a88d396d35bf9b5233eec880dd5", "2", "1", "0", "EUR", "n"]
    func refusal(_ names: [String], _ row: [String], _ column: Int, _ read: ([UInt8]) throws -> Void) -> String? {
      let fields = row.indices.map { $0 == column ? number : row[$0] }
      do { try read(Array("\(names.joined(separator: ","))\n\(fields.joined(separator: ","))\n".utf8)) } catch {
        return "\(error)"
      }
      return nil
    }
    let found =
      names.indices.map { refusal(names, right, $0) { _ = try AcquirerReport($0) } }
      + orders.indices.map { refusal(orders, order, $0) { _ = try OrderBalances.read($0) } }
    for text in found {
      let text = try #require(text)
      #expect(text.contains(number.suffix(4)) && !text.contains(number.suffix(6)) && !text.contains("4761"), "\(text)")
    }
  }

  /// A provider's name of 16 digits that ends like a card's number, one that begins like one, and a long one.
  @Test(arguments: ["8836183819713014", "4761340000000018", "47613400000000190000001", "a47613400000000190b"])
  func `another number is a name in a report`(_ name: String) throws {
    let head = "reference,operation,amount,currency,result,time,name\n"
    let report = try AcquirerReport(Array((head + "r,capture,1,EUR,approved,2026-11-21T10:00:00Z,\(name)\n").utf8))
    #expect(report.lines.map(\.name) == [name])
  }

  private static let (marks, long) = (String(repeating: "\u{301}", count: 31), String(repeating: "x", count: 5_000))

  @Test(arguments: [
    "reference,operation,amount,currency,result\nr,capture,1,EUR,approved\n",
    "reference,operation,amount,currency,result,time\nr,capture,1.5,EUR,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time\nr,capture,9223372036854775807,EUR,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time\nr,capture,1,EUX,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time\nr,chargeback,1,EUR,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time\nr,capture,1,EUR,approved\n",
    "reference,reference,operation,amount,currency,result,time\n",
    "reference,operation,amount,currency,result,time\na\(marks),capture,1,EUR,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time\n\(long),capture,1,EUR,approved,2026-11-21T10:00:00Z\n",
    "reference,operation,amount,currency,result,time,\(String(repeating: "x", count: 129))\n",
    "reference,operation,amount,currency,result,time\(String(repeating: ",x", count: 300))\n",
    "", "\n\n", "<!DOCTYPE html><title>502 Bad Gateway</title>\n", "{\"error\":\"unauthorized\"}\n", "Not Found",
    "{\"reference\":\"r\",\"operation\":\"capture\"}\n", "{\"reference\":\"r\"\n",
    "{\"reference\":\"r\",\"operation\":\"capture\",\"amount\":1.0,\"currency\":\"EUR\",\"result\":\"approved\",\"time\":\"2026-11-21T10:00:00Z\"}\n",
  ])
  func `a report that cannot be read is refused whole`(_ text: String) {
    #expect(throws: ReportError.self) { try AcquirerReport(Array(text.utf8)) }
  }
}
