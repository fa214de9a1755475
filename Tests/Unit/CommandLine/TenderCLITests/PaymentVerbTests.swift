import Foundation
import HTTPTransport
import Ledger
import Storage
import StrictJSON
import TenderPayments
import TenderTesting
import Testing

/// Captures, voids and refunds by hand: what a shell learns of them. No server runs; the acquirer is the sandbox's.
@Suite(.serialized) struct `A payment at the command line` {
  @Test func `is captured, voided and refunded, and the exit code says what became of it`() async throws {
    let port = try FreePorts.row(of: 4)
    let workshop = try Workshop()
    for (name, acquirer) in [("tender", port), ("unreachable", port + 3), ("garbled", port + 1)] {
      try workshop.write(Self.configuration(sandbox: port, acquirer: acquirer), to: "\(name).yaml")
    }
    try await workshop.with("tender-sandbox sandbox --port \(port)", sign: "gateway") { _ in
      let store = try await TestStore(workshop.path + "/tender.db", sandbox: "http://localhost:\(port)")
      // Ours and the acquirer's agree.
      let good = try await store.hold(.eur(1250))
      // We believe in more than the acquirer holds.
      let short = try await store.hold(.eur(2000), there: .eur(1250))
      // The journal has a capture that the acquirer never received.
      let untaken = try await store.hold(.eur(1250), captured: .eur(1250))
      await store.close()
      func run(_ words: String, _ payment: PaymentID, with file: String = "tender") async throws -> Workshop.Answer {
        try await workshop.run("tender payment \(words) \(payment) --yes --store tender.db --config \(file).yaml")
      }
      for words in ["capture --amount 5.00", "void", "refund --amount 2.00"] {
        let answer = try await run(words, good)
        #expect(answer.exitCode == 0, "\(words): \(answer.lines)")
      }
      for (words, payment) in [
        ("capture --amount 20.00", short), ("void --amount 20.00", short), ("refund --amount 1.00", untaken),
      ] {
        let answer = try await run(words, payment)
        let kind = words.prefix { $0 != " " }
        #expect(answer.exitCode == 1, "\(words): \(answer.lines)")
        #expect(answer.lines.last == "Error: the acquirer refused the \(kind) (13)", "\(answer.lines)")
        let unreached = try await run(words, payment, with: "unreachable")
        #expect(unreached.exitCode == 1 && unreached.lines.last?.contains("did not reach the acquirer") == true)
      }
      let raised = try await run("increment --amount 1.00", good)
      #expect(raised.exitCode == 1, "\(raised.lines)")
      let nothing = try await run("void", untaken)
      #expect(nothing.exitCode == 1 && nothing.lines.contains { $0.hasPrefix("void all that is left of") })
      #expect(
        try await run("void --amount -5", good).lines.last == "Error: --amount “-5”: the amount must be more than zero")
      #expect(try await run("refund --reason cold --amount '0.10 EUR'", good).exitCode == 0)
      #expect(try await run("refund --reason late --amount 900", good).exitCode == 1)
      let bare = try await run("increment", good)
      #expect(bare.exitCode == 2 && bare.lines.contains { $0.contains("--amount") }, "\(bare.lines)")
      let audit = try await TestStore.audit(workshop.path + "/tender.db", of: good).suffix(4)
      #expect(audit.allSatisfy { $0.hasPrefix("command line (\(NSUserName())) payment.refund") }, "\(audit)")
      let ends = [": 0.10 EUR, key", ".outcome: refund of 0.10 EUR: approved, key ", ": 900.00 EUR, key", ".refused: "]
      for (line, end) in zip(audit, ends) { #expect(line.contains("refund" + end), "\(line)") }
      #expect(audit.map { $0.suffix(4) } == ["cold", "cold", "late", "late"], "\(audit)")
      let first = try await run("refund --json --key once --amount 1.00", good)
      let again = try await run("refund --json --key once --amount 1.00", good)
      #expect(first.exitCode == 0 && again.lines.dropFirst() == first.lines.dropFirst(), "\(again.lines)")
      #expect(again.lines.contains { $0.contains(#""refunded" : 310"#) }, "\(again.lines)")
      let told = try await run("refund --key once --amount 1.00", good)
      #expect(
        told.lines.contains("refund of 1.00 EUR: approved, as it was done under this key before; nothing is moved now"),
        "\(told.lines)")
      let repeated = try await TestStore.audit(workshop.path + "/tender.db", of: good).suffix(6).prefix(4)
      #expect(
        repeated.map { String($0.split(separator: " ", maxSplits: 3)[3]) } == [
          "payment.refund: 1.00 EUR, key once, ",
          "payment.refund.outcome: refund of 1.00 EUR: approved, key once, ",
          "payment.refund.repeat: 1.00 EUR, key once, ",
          "payment.refund.repeat.outcome: refund of 1.00 EUR: approved, key once, ",
        ], "\(repeated)")
      let other = try await run("refund --key once --amount 2.00", good)
      #expect(other.exitCode == 1 && other.lines.last?.contains("another amount") == true, "\(other.lines)")
      let unnamed = try await run("refund --amount 1.00", good)
      #expect(unnamed.lines.contains { $0.hasPrefix("idempotency key: repeat with --key ") }, "\(unnamed.lines)")
      let refused = try await run("refund --json --amount 1.00", untaken)
      #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains(#""performed" : ["#) }, "\(refused.lines)")
      for (words, payment) in [("capture --amount 1.00", short), ("refund --amount 1.00", untaken)] {
        let answer = try await run(words, payment, with: "garbled")
        #expect(answer.exitCode == 1, "\(answer.lines)")
        #expect(answer.lines.last?.hasPrefix("Error: it is not known yet whether the") == true, "\(answer.lines)")
      }
    }
  }

  @Test func `is not captured, voided or refunded before the operator has seen what will be done`() async throws {
    let port = try FreePorts.row(of: 2)
    let workshop = try Workshop()
    try workshop.write(Self.configuration(sandbox: port, acquirer: port), to: "tender.yaml")
    try await workshop.with("tender-sandbox sandbox --port \(port)", sign: "gateway") { _ in
      let store = try await TestStore(workshop.path + "/tender.db", sandbox: "http://localhost:\(port)")
      let held = try await store.hold(.eur(1250))
      await store.close()
      let flags = "\(held) --store tender.db --config tender.yaml"
      let plan = "of payment \(held) of"
      for verb in ["capture", "void", "refund"] {
        let unasked = try await workshop.run("tender payment \(verb) \(flags) < /dev/null")
        #expect(unasked.exitCode == 2 && unasked.lines.last?.contains("repeat with --yes") == true, "\(unasked.lines)")
      }
      let refused = try await workshop.run("echo n | script -qec 'tender payment capture \(flags)' /dev/null")
      #expect(refused.exitCode == 1 && refused.lines.contains { $0.contains("nothing was done") }, "\(refused.lines)")
      let agreed = try await Self.answer("y", to: "tender payment capture --amount 5.00 \(flags)", in: workshop)
      #expect(agreed.exitCode == 0, "\(agreed.lines)")
      #expect(agreed.lines.contains { $0.hasPrefix("capture 5.00 EUR \(plan)") }, "\(agreed.lines)")
      let all = try await workshop.run("tender payment refund --yes \(flags)")
      #expect(all.exitCode == 0 && all.lines.first?.hasPrefix("refund 5.00 EUR, all that is left, \(plan)") == true)
      #expect(all.lines.contains("refund of 5.00 EUR: approved"), "\(all.lines)")
      let odd = try await workshop.run("tender payment refund --yes --amount 1,00 \(flags)")
      #expect(
        odd.exitCode == 2
          && odd.lines.last
            == "Error: --amount “1,00”: use a point before the decimals and no mark elsewhere, as in 12.50 EUR"
      )
    }
  }

  @Test func `of one name is shown with the others of that name`() async throws {
    let workshop = try Workshop()
    let store = try await TestStore(workshop.path + "/tender.db", sandbox: "")
    let ids = try await store.declinedAndHeld("order-7")
    await store.close()
    let show = "tender payment show order-7 --store tender.db"
    let (text, json) = (try await workshop.run(show), try await workshop.run("\(show) --json"))
    for id in ids { #expect(text.lines.contains("payment     \(id)"), "\(text.lines)") }
    #expect(json.lines.first == "[" && json.exitCode == 0, "\(json.lines)")
    let capture = try await workshop.run("tender payment capture order-7 --yes --store tender.db")
    #expect(capture.exitCode == 1 && capture.lines.last?.contains("has 2 payments") == true, "\(capture.lines)")
    let replay = try await workshop.run("tender webhooks replay order-7 --store tender.db")
    #expect(replay.exitCode == 1 && replay.lines.last?.contains("has 2 payments") == true, "\(replay.lines)")
  }

  @Test func `is named by a reference of any length`() async throws {
    let workshop = try Workshop()
    await (try await TestStore(workshop.path + "/tender.db", sandbox: "")).close()
    let reference = String(repeating: "r", count: 80)
    for command in ["payment show", "webhooks replay"] {
      let answer = try await workshop.run("tender \(command) \(reference) --store tender.db")
      #expect(answer.lines.last?.contains("there is no payment, order, basket") == true, "\(answer.lines)")
    }
  }

  @Test func `is left alone by commands and servers whose configuration names another account`() async throws {
    let port = try FreePorts.row(of: 2)
    let workshop = try Workshop()
    let configuration = Self.configuration(sandbox: port, acquirer: port)
    let settings = "  account: moved\nstore:\n  path: tender.db\nmerchants:\n  directory: .\n"
    try workshop.write(configuration + settings, to: "moved.yaml")
    try await workshop.with("tender-sandbox sandbox --port \(port)", sign: "gateway") { _ in
      let store = try await TestStore(workshop.path + "/tender.db", sandbox: "http://localhost:\(port)")
      let (held, open) = (try await store.hold(.eur(1250)), try await store.unknown())
      await store.close()
      for command in [
        "tender payment capture \(held) --yes --store tender.db --config moved.yaml",
        "tender payment inquire \(open) --store tender.db --config moved.yaml",
        "tender serve --port 0 --config moved.yaml",
      ] {
        let answer = try await workshop.run(command)
        #expect(answer.exitCode == 1, "\(answer.lines)")
        #expect(
          answer.lines.contains { $0.contains("sandbox: open operations 1, payments with held money 1") },
          "\(answer.lines)")
      }
      let seen = try await workshop.run("tender payment acknowledge \(held) --store tender.db --config moved.yaml")
      #expect(seen.exitCode == 0, "\(seen.lines)")
    }
  }

  @Test func `that stays open is ended by a person, who says why`() async throws {
    let port = try FreePorts.row(of: 2)
    let workshop = try Workshop()
    try workshop.write(Self.configuration(sandbox: port, acquirer: port), to: "tender.yaml")
    try await workshop.with("tender-sandbox sandbox --port \(port)", sign: "gateway") { _ in
      let store = try await TestStore(workshop.path + "/tender.db", sandbox: "http://localhost:\(port)")
      let open = try await store.unknown()
      await store.close()
      let resolve = "tender payment resolve \(open) --store tender.db --config tender.yaml"
      #expect(try await workshop.run("\(resolve) --as captured --note x").exitCode == 2)
      #expect(try await workshop.run("\(resolve) --as voided --note ' '").exitCode == 1)
      let done = try await workshop.run("\(resolve) --as voided --note 'Ms Byrne of the bank, by telephone'")
      #expect(done.exitCode == 0 && done.lines.contains("status      voided"), "\(done.lines)")
      #expect(try await workshop.run("\(resolve) --as failed --note 'once more'").exitCode == 1)
      let chain = try await workshop.run("tender payment verify-journal --store tender.db")
      #expect(chain.exitCode == 0, "\(chain.lines)")
    }
  }

  /// Answers a command at a terminal once it has asked: what is typed before would be echoed before the question.
  private static func answer(
    _ word: String, to command: String, in workshop: Workshop
  ) async throws -> Workshop.Answer {
    let path = workshop.path + "/typed"
    try #require(mkfifo(path, 0o600) == 0)
    // For reading too, so that opening it does not wait for the command.
    let typed = try FileHandle(forUpdating: URL(filePath: path))
    return try await workshop.with("script -qec '\(command)' /dev/null < typed", sign: "Go on?") { program in
      try typed.write(contentsOf: Data("\(word)\n".utf8))
      try typed.close()
      return Workshop.Answer(exitCode: await program.end(), lines: program.lines)
    }
  }

  private static func configuration(sandbox: Int, acquirer: Int) -> String {
    """
    environment: simulated
    sandboxURL: http://localhost:\(sandbox)/
    acquirer:
      baseURL: http://localhost:\(acquirer)
      apiKey: sandbox-acquirer-key

    """
  }
}

/// A store of Tender's, filled by its own journal, and the acquirer's ledger beside it.
private struct TestStore: Sendable {
  private let database: Database
  private let journal: Journal
  private let sandbox: String

  init(_ path: String, sandbox: String) async throws {
    database = try await Database.sqlite(path: path, migrations: Journal.migrations)
    journal = Journal(database)
    self.sandbox = sandbox
  }

  func close() async { await database.close() }

  /// A payment that is authorized here, and at the acquirer with another amount if one is given.
  func hold(_ amount: Amount, there: Amount? = nil, captured: Amount? = nil) async throws -> PaymentID {
    let attempt = try await attempt(amount)
    let name = try await acquirerHolds(there ?? amount, attempt.reference)
    let payment = try await journal.record(.approved(Approval(acquirerReference: name)), for: attempt).payment.id
    guard let captured else { return payment }
    let capture = try await journal.reserve(.capture, captured, of: payment)
    return try await journal.record(.approved(Approval(acquirerReference: "C")), for: capture).payment.id
  }

  /// Two payments of an order.
  func declinedAndHeld(_ order: String) async throws -> [PaymentID] {
    var ids: [PaymentID] = []
    for answer in [
      AcquirerAnswer.declined(Decline(reason: .other, code: "05")), .approved(Approval(acquirerReference: "A")),
    ] {
      guard
        case .new(let attempt) = try await journal.claim(
          .sample(order), spending: .sample(ids.count), card: .sample)
      else { throw NoAttempt() }
      ids.append(try await journal.record(answer, for: attempt).payment.id)
    }
    return ids
  }

  /// The entries of the office's audit chain, oldest first.
  static func audit(_ path: String, of payment: PaymentID) async throws -> [String] {
    let database = try await Database.sqlite(path: path, migrations: [])
    let lines = try await database.read { store in
      try store.rows("SELECT * FROM office_audit WHERE subject = $1 ORDER BY seq", .text(payment.rawValue)).map {
        "\(try $0.text("actor")) \(try $0.text("action")): \(try $0.text("state_after")), \(try $0.text("reason"))"
      }
    }
    await database.close()
    return lines
  }

  func unknown() async throws -> PaymentID {
    let attempt = try await attempt(.eur(1250))
    return try await journal.record(.unknown(Interruption(.timeout)), for: attempt).payment.id
  }

  private struct NoAttempt: Error {}

  private func attempt(_ amount: Amount) async throws -> Attempt {
    let number = Int.random(in: 0..<1_000_000_000)
    let claim = try await journal.claim(
      .sample("order-\(number)", amount), spending: .sample(number), card: .sample)
    guard case .new(let attempt) = claim else { throw NoAttempt() }
    return attempt
  }

  private func acquirerHolds(_ amount: Amount, _ reference: AttemptReference) async throws -> String {
    let body: JSONValue = [
      "reference": .string(reference.rawValue), "merchantReference": "R", "amount": .integer(amount.minorUnits),
      "currency": "EUR", "dpan": "4761739000000012", "expiry": "3112",
      "cryptogram": .string(Base64.encode(Array(reference.rawValue.utf8))),
    ]
    let request = OutboundRequest(
      method: "POST", url: sandbox + "/acquirer/v1/authorizations",
      headers: [
        HTTPField("Authorization", "Bearer sandbox-acquirer-key"), HTTPField("Content-Type", "application/json"),
      ], body: body.serialized())
    let client = try LiveHTTPClient()
    let answer = try await client.sender.send(request, TestRun.whole)
    try await client.shutdown()
    guard case .string(let name)? = try JSONReader.read(answer.body)["acquirerReference"] else { throw NoAttempt() }
    return name
  }
}
