import Administration
import BackOffice
import HTTPTypes
import Storage
import TenderPayments
import TenderTesting
import Testing

@Suite struct `Money and dates in the office` {
  @Test func `are written as the account says, by its clock, with UTC beside`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let form = ["language": "de-DE", "zone": "Asia/Tokyo"]
      #expect(try await visitor.post("/account/format", form).headers[.location] == "/account/format?done=changed")
      let page = try await visitor.get("/payments/\(id)").text
      // The bench's clock stands at 08:00 in UTC.
      #expect(page.contains("12,50\u{A0}€") && !page.contains("€12.50"), "\(page)")
      #expect(page.contains("17:00:00 in Tokyo, 8:00:00 UTC"), "\(page)")
      #expect(page.contains("datetime=\"2027-01-15T08:00:00Z\""), "\(page)")
      let list = try await visitor.get("/payments").text
      #expect(list.contains("Began (Tokyo)") && list.contains("12,50\u{A0}€"))
      #expect(try await visitor.get("/payments.csv").text.contains(",EUR,12.50,"))
      // In Tokyo the day begins nine hours before.
      #expect(try await visitor.get("/payments?from=2027-01-15&until=2027-01-15").text.contains("/payments/\(id)"))
      let late = ["language": "", "zone": "Pacific/Kiritimati"]
      _ = try await visitor.post("/account/format", late)
      #expect(try await visitor.get("/payments/\(id)").text.contains("€12.50"))
    }
  }

  @Test(arguments: [
    (["language": "de_AT; --", "zone": ""], "is no language"), (["language": "", "zone": "Dublin"], "is no time zone"),
    (["language": "", "zone": "Europe/Atlantis"], "is no time zone"),
  ])
  func `are not written in what is no language, and by no clock`(_ form: [String: String], _ reason: String)
    async throws
  {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.post("/account/format", form)
      #expect(page.status == .badRequest && page.text.contains(reason) && page.text.contains("aria-invalid"))
    }
  }

  @Test func `of one account change no other's`() async throws {
    let bench = try await OfficeBench()
    let id = try await bench.captured()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      _ = try await visitor.post("/account/format", ["language": "de-DE", "zone": "Europe/Berlin"])
    }
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      #expect(try await visitor.get("/payments/\(id)").text.contains("€12.50"))
    }
  }
}

@Suite struct `The look of the office` {
  @Test func `has the colours, the space and the type that all surfaces share`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit { visitor async throws in
      let style = try await visitor.get("/office.css").text
      #expect(style.contains("--page: #") && style.contains("--space-3: ") && !style.contains("@import \""))
    }
    for file in ["office/office.css", "hosted/hosted.css", "sandbox/front.css", "sandbox/device.css", "shop/shop.css"] {
      #expect(try Repository.text("Web/\(file)").contains("@import \"../style/tokens.css\";"), "\(file)")
    }
  }

  @Test func `is shown part by part, where everything is simulated`() async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      let page = try await visitor.get("/parts")
      #expect(page.status == .ok && page.text.contains("class=\"money\"") && page.text.contains("class=\"chart\""))
    }
    try await bench.visit(as: [Grant(.administrator, of: "shop")]) { visitor async throws in
      #expect(try await visitor.get("/parts").status == .forbidden)
    }
  }
}

@Suite struct `The list of one's sessions` {
  @Test(arguments: [
    ("Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/140.0 Safari/537.36", "Chrome on Linux"),
    ("Mozilla/5.0 (Windows NT 10.0) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0 Edg/140.0", "Edge on Windows"),
    ("Mozilla/5.0 (iPhone; CPU iPhone OS 19_0 like Mac OS X) Version/19.0 Mobile Safari/604.1", "Safari on iPhone"),
    ("curl/8.9", "curl/8.9"),
  ])
  func `names browser and system`(_ agent: String, _ name: String) async throws {
    let bench = try await OfficeBench()
    try await bench.visit(as: [Grant(.viewer)]) { visitor async throws in
      try await bench.database.write { try $0.run("UPDATE office_sessions SET agent = $1", .text(agent)) }
      #expect(try await visitor.get("/account").text.contains(">\(name)</span>"))
    }
  }
}
