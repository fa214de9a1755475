import Acquiring
import Connectors
import HTTPTransport
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Adyen's report` {
  @Test func `has every operation of ours under our reference`() async throws {
    try await AdyenVisit.run { visit async throws in
      let first = try await visit.held("R1")
      _ = try await visit.capture("C1", first, 500)
      _ = try await visit.events()
      _ = try await visit.refund("F1", first, 300)
      _ = try await visit.void("V1", try await visit.held("R2"), 1250)
      _ = try await visit.authorize("R3", card: "visa-lost")
      _ = try await visit.authorize("R4", card: "mastercard-answer-lost")
      _ = try await visit.reverse("R4")
      _ = try await visit.events()
      #expect(
        try await Self.lines(visit) == [
          "R1 authorize 12.50 EUR approved", "C1 capture 5.00 EUR approved", "R2 authorize 12.50 EUR approved",
          "R3 authorize 12.50 EUR declined", "R4 authorize 12.50 EUR approved", "F1 refund 3.00 EUR approved",
          "V1 void 12.50 EUR approved", "R4 reverse 12.50 EUR approved",
        ])
    }
  }

  @Test func `has what nobody of ours asked for under Adyen's name, and what failed later as declined`() async throws {
    try await AdyenVisit.run { visit async throws in
      let name = try await visit.held("R1", 2093)
      _ = try await visit.capture("C1", name, 2093)
      _ = try await visit.authorize("R2", card: "visa-pending")
      let other = try await visit.held("R3")
      try await visit.dashboard("captures", other, 100)
      let pending = try await Self.lines(visit)
      #expect(pending.contains("R2 authorize 12.50 EUR pending"))
      _ = try await visit.events()
      let lines = try await Self.lines(visit)
      #expect(lines.contains("C1 capture 20.93 EUR declined") && lines.contains("R2 authorize 12.50 EUR approved"))
      let foreign = lines.filter { $0.hasSuffix("capture 1.00 EUR approved") }
      #expect(foreign.count == 1 && !lines.contains { $0.hasPrefix("R3 capture") })
    }
  }

  private static func lines(_ visit: AdyenVisit) async throws -> [String] {
    try AcquirerReport(try await visit.manage("GET", "/adyen/report", nil)).lines.map {
      "\($0.reference) \($0.operation.rawValue) \($0.amount) \($0.result.rawValue)"
    }
  }

  private static let head =
    "Company Account,Psp Reference,Merchant Reference,Booking Date,TimeZone,Main Currency,Main Amount,Record Type,"
    + "Modification Merchant Reference\n"

  private static func report(_ rows: String) throws -> [AcquirerReport.Line] {
    try AcquirerReport(Array((head + rows).utf8)).lines
  }

  @Test func `is read with quotation marks, time zones and Adyen's decimals`() throws {
    let lines = try Self.report(
      """
      "A ""shop"", of two",P1,R1,2026-11-23 10:00:00,CET,CLP,1250.00,Authorised,
      A,P1,R1,2026-11-23 10:00:01,UTC,CLP,1250.00,Settled,

      """)
    #expect(lines.map(\.reference) == [AttemptReference("R1")])
    #expect(lines.first?.amount.minorUnits == 1250)
    #expect(lines.first?.time == Timestamp(rfc3339: "2026-11-23T09:00:00Z"))
  }

  @Test(
    arguments: [
      ("PST", "18"), ("PDT", "17"), ("JST", "01"), ("AEST", "00"), ("BRT", "13"), ("EST", "15"), ("SGT", "02"),
      ("America/Los_Angeles", "18"), ("Europe/Amsterdam", "09"), ("GMT+08:00", "02"), ("UTC-3", "13"),
    ])
  func `is read in every time zone of an account`(zone: String, hour: String) throws {
    let line = try #require(try Self.report("A,P1,R1,2026-11-23 10:00:00,\(zone),EUR,1.00,Authorised,\n").first)
    #expect(line.time.description == "2026-11-23T\(hour):00:00Z")
  }

  @Test(arguments: [
    "A,P1,R1,2026-11-23 10:00:00,UTC,EUR,1.005,Authorised,", "A,P1,R1,2026-11-23 10:00:00,MARS,EUR,1.00,Authorised,",
    "A,P1,R1,yesterday,UTC,EUR,1.00,Authorised,", "A,P1,R1,2026-11-23 10:00:00,UTC,XXX,1.00,Authorised,",
    "A,P1,R1,2026-11-23 10:00:00,UTC,EUR,1.00,Authorised", "\"A,P1,R1,2026-11-23 10:00:00,UTC,EUR,1.00,Authorised,",
  ])
  func `with a line that cannot be read is refused whole`(row: String) {
    #expect(throws: ReportError.self) {
      try Self.report("A,P1,R1,2026-11-23 10:00:00,UTC,EUR,1.00,Authorised,\n\(row)\n")
    }
  }
}
