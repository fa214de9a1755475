import Foundation
import TenderTesting
import Testing

/// What a browser, or an attacker in its place, sends to the pages of the operators.
@Suite struct `A form for the back office of a running server` {
  private let system: TestSystem
  private let port: Int

  init() async throws {
    system = try await TestSystem.shared.value
    port = try #require(URL(string: system.office)?.port)
  }

  private static func head(_ path: String, _ type: String, _ length: Int, _ cookie: String = "tender-office=") -> String
  {
    "POST \(path) HTTP/1.1\nHost: localhost\nContent-Type: \(type)\nContent-Length: \(length)\n"
      + "Cookie: \(cookie)\n\n"
  }

  private func answer(_ type: String, _ body: String) async throws -> RawConnection.Answer {
    let length = body.replacingOccurrences(of: "\n", with: "\r\n").utf8.count
    return try await RawConnection.answers(1, to: Self.head("/sign-in", type, length) + body, port: port)[0]
  }

  @Test(arguments: ["=", ";=", "; =", "; =; boundary=mark", ";;", "; boundary", "; boundary=", "; boundary=\"\""])
  func `with a head that is none is refused, and the server serves on`(parameters: String) async throws {
    let type = "multipart/form-data\(parameters)"
    for body in ["", "--mark\n=\n\nx\n--mark--\n", "--mark\nContent-Disposition: form-data; =; ;\n\nx\n--mark--\n"] {
      #expect(try await answer(type, body).status == 400, "\(type)")
    }
    let alive = try await RawConnection.answers(
      1, to: "GET /healthz HTTP/1.1\nHost: localhost\n\n", port: system.harbour.port)
    #expect(alive[0].status == 200)
  }

  @Test func `with text that is long to compare, or that no text can hold, is refused before it is looked at`()
    async throws
  {
    let marks = String(repeating: "\u{327}\u{301}", count: 16)
    let escaped = String(repeating: "%CC%A7%CC%81", count: 16)
    for body in ["\(marks)=1", "name=\(marks)", "\(escaped)=1", "name=\(escaped)", "name=%00", "%00=1", "name=%FF"] {
      #expect(try await answer("application/x-www-form-urlencoded", body).status == 400, "\(body.prefix(40))")
    }
    for part in [
      "name=\"\(marks)\"\n\n1", "name=\"a\"\n\n\(marks)", "name=\"a\"\n\na\u{0}b",
      "name=\"a\"; filename=\"\(marks)\"\n\n1", "name=\"a\"; filename=\"a\u{0}b\"\n\n1",
    ] {
      let body = "--mark\nContent-Disposition: form-data; \(part)\n--mark--\n"
      #expect(try await answer("multipart/form-data; boundary=mark", body).status == 400, "\(part.prefix(40))")
    }
  }

  @Test func `with thousands of fields or parts is refused`() async throws {
    let fields = String(repeating: "a=&", count: 1_001)
    #expect(try await answer("application/x-www-form-urlencoded", fields).status == 400)
    let parts = String(repeating: "--mark\nContent-Disposition: form-data; name=\"a\"\n\n\n", count: 101)
    #expect(try await answer("multipart/form-data; boundary=mark", parts + "--mark--\n").status == 400)
  }

  /// None of these bodies ever arrives whole.
  @Test func `is read no further than 64 KiB before session and token are right`() async throws {
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let (cookie, _) = try await anna.session()
    let (type, length) = ("multipart/form-data; boundary=mark", 16 << 20)
    let forms = "application/x-www-form-urlencoded"
    let beginning = Self.beginning(token: "forged")
    let attempts = [
      (413, Self.head("/sign-in", forms, (64 << 10) + 1)), (413, Self.head("/sign-in", type, length) + beginning),
      (403, Self.head("/reconciliation", type, length)),
      (413, Self.head("/reconciliation", type, length + 1, cookie)),
      (413, Self.head("/reconciliation", forms, (256 << 10) + 1, cookie)),
      (413, Self.head("/payments/filters", type, (256 << 10) + 1, cookie)),
      (403, Self.head("/reconciliation", type, length, cookie) + beginning),
      (403, Self.head("/users", forms, 200_000, cookie) + "csrf=forged&a=" + String(repeating: "a", count: 66_000)),
    ]
    for (status, text) in attempts {
      let answer = try await RawConnection.answers(1, to: text, port: port)[0]
      #expect(answer.status == status, "\(text.prefix(100))")
    }
  }

  @Test func `holds no field that is longer than what people write`() async throws {
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let long = String(repeating: "a", count: (64 << 10) + 1)
    // The token of the form may stand behind it.
    #expect(
      [400, 403].contains(try await anna.post("/payments/filters", ["name": "mine", "query": "q=\(long)"]).status))
    #expect(
      try await anna.post("/payments/filters", ["name": "mine", "query": "q=\(long.prefix(1_100))"]).status == 400)
    #expect(try await anna.post("/payments/filters", ["name": String(long.prefix(121)), "query": "q=a"]).status == 400)
    #expect(try await anna.post("/payments/filters", ["name": "mine", "query": "q=a"]).status == 303)
  }

  @Test func `leaves no more than two kilobytes of a text in the record`() async throws {
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let fields = ["setting": "displayName", "value": String(repeating: "a", count: 16_000), "reason": "tries"]
    #expect(try await anna.post("/merchants/kitsune/edit", fields).status == 409)
    let page = try await anna.get("/audit").text
    #expect(page.contains("aaa… (") && !page.contains(String(repeating: "a", count: 2_048)))
    #expect(try await anna.get("/audit?verify=yes").status == 200)
  }

  @Test func `takes room for what has arrived alone, and of a user's long ones no more than a file's`() async throws {
    let anna = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let (cookie, token) = try await anna.session()
    let type = "multipart/form-data; boundary=mark"
    let text = Self.head("/reconciliation", type, 16 << 20, cookie) + Self.beginning(token: token)
    let bert = try await OfficePerson(office: system.office, store: system.directory, system.sender)
    let long = String(repeating: "not a report\n", count: 8_000)
    // None of them ends.
    let silent = try (0..<3).map { _ in try RawConnection.Shared(port: port) }
    for connection in silent { try await RawConnection.onThread { try connection.value.send(text) } }
    #expect(try await anna.upload("/reconciliation", [:], "report", long).status != 503)
    var large = try await begin(text)
    try await waitFor(
      "no room",
      {
        // It is refused itself where an upload has not given its room back.
        if large.answered.value == true { large = try await begin(text) }
        return try await anna.upload("/reconciliation", [:], "report", long + long + long).status
      }, until: { $0 == 503 })
    #expect(try await bert.upload("/reconciliation", [:], "report", long).status != 503)
    for connection in silent + [large.connection] { connection.value.end() }
    try await waitFor(
      "room", { try await anna.upload("/reconciliation", [:], "report", long).status }, until: { $0 != 503 })
  }

  /// A long upload that never ends, and whether it has been answered all the same.
  private func begin(_ text: String) async throws -> (connection: RawConnection.Shared, answered: Mailbox<Bool>) {
    let (connection, answered) = (try RawConnection.Shared(port: port), Mailbox<Bool>())
    Task {
      _ = try? await RawConnection.onThread { try connection.value.answers(1) }
      answered.put(true)
    }
    try await RawConnection.onThread {
      try connection.value.send(text)
      try? connection.value.send(String(repeating: "a", count: (16 << 20) - 480_000))
    }
    return (connection, answered)
  }

  /// More than 64 KiB of a form with a file.
  private static func beginning(token: String) -> String {
    "--mark\nContent-Disposition: form-data; name=\"csrf\"\n\n\(token)\n--mark\n"
      + "Content-Disposition: form-data; name=\"report\"; filename=\"a.csv\"\n\n"
      + String(repeating: "a", count: 70_000)
  }
}
