import Foundation
import HTTPTransport
import StrictJSON
import TenderServer
import TenderTesting
import Testing

/// Requests that are refused before anything reads them.
@Suite struct `The head of a request` {
  private let port: Int
  private let system: TestSystem

  init() async throws {
    system = try await TestSystem.shared.value
    port = system.harbour.port
  }

  private func answer(_ lines: String, path: String = "/healthz") async throws -> RawConnection.Answer {
    try await RawConnection.answers(1, to: "GET \(path) HTTP/1.1\n\(lines)\n", port: port)[0]
  }

  @Test(arguments: [
    "", "Host: a.example\nHost: a.example\n", "Host: a.example\nHost: b.example\n", "Host: \n", "Host: a b\n",
    "Host: user@a.example\n", "Host: a.example:port\n", "Host: a.example:123456\n", "Host: a.example/path\n",
    "Host: a,b\n", "Host: \u{E9}.example\n", "Host: [::1\n", "Host: []\n", "Host: %61.example\n",
  ])
  func `is refused without exactly one valid host`(lines: String) async throws {
    let answer = try await answer(lines)
    #expect(answer.status == 400 && answer.body["code"] == "bad_host", "\(lines): \(answer.status) \(answer.body)")
    #expect(answer.headers.contains("connection: close"))
  }

  @Test(arguments: ["localhost", "a.example", "a.example:8443", "127.0.0.1:80", "[::1]:8401", "[::1]", "A_b.example."])
  func `is read with any other host`(host: String) async throws {
    #expect(try await answer("Host: \(host)\n").status == 200)
  }

  @Test(arguments: ["/healthz", "/readyz"])
  func `needs no host in HTTP/1.0, as probes send it`(path: String) async throws {
    let answers = try await RawConnection.answers(1, to: "GET \(path) HTTP/1.0\n\n", port: port)
    #expect(answers[0].status == 200, "\(answers)")
  }

  @Test(arguments: [
    "Origin", "Content-Type", "Authorization", "Date", "If-None-Match", "X-GCS-ClientMetaInfo", "Connection",
  ])
  func `is refused when a header of ASCII holds something else`(name: String) async throws {
    let answer = try await answer("Host: localhost\n\(name): e\u{301}\n")
    #expect(answer.status == 400 && answer.body["code"] == "bad_header" && answer.body["field"]?.text == name)
  }

  @Test func `may hold other text in a header that nothing reads, but no long run of combining marks`() async throws {
    let thirty = String(repeating: "\u{327}\u{301}", count: 15)
    #expect(try await answer("Host: localhost\nCookie: name=Zo\u{EB}\(thirty)\n").status == 200)
    let more = try await answer("Host: localhost\nCookie: name=Zo\u{EB}\(thirty)\u{301}\n")
    #expect(more.status == 400 && more.body["code"] == "bad_header" && more.body["field"] == "Cookie")
  }

  @Test func `is refused when it has more than 16 KiB, or more than 128 headers`() async throws {
    let long = String(repeating: "a", count: 15_000)
    #expect(try await answer("Host: localhost\nCookie: \(long)\n").status == 200)
    for lines in [
      "Cookie: \(long)\(long)\n", "Cookie: \(long)\nUser-Agent: \(long)\n",
      (0..<200).map { "X-\($0): a\n" }.joined(),
    ] {
      let answer = try await answer("Host: localhost\n\(lines)")
      #expect(answer.status == 431 && answer.body["code"] == "headers_too_large", "\(answer.status)")
    }
  }

  @Test func `is refused when its target is longer than 8 KiB or is no URL`() async throws {
    let long = try await answer("Host: localhost\n", path: "/healthz?" + String(repeating: "a", count: 8_192))
    #expect(long.status == 414 && long.body["code"] == "target_too_long")
    let marks = String(repeating: "%CC%81%CC%A7", count: 16)
    for path in ["/healthz?\u{E9}", "/healthz?\(marks)"] {
      let answer = try await answer("Host: localhost\n", path: path)
      #expect(answer.status == 400, "\(path): \(answer.status)")
    }
  }

  @Test func `that is not HTTP gets 400, after the requests before it, and ends the connection`() async throws {
    let alive = "GET /healthz HTTP/1.1\nHost: localhost\n\n"
    for bad in ["GET /healthz HTTP/1.1\n\n", "GET /healthz HTTP/1.1\nno colon\n\n"] {
      let answers = try await RawConnection.answers(3, to: alive + alive + bad + alive, port: port)
      #expect(answers.map(\.status) == [200, 200, 400])
      await #expect(throws: RawConnection.Trouble.self) {
        try await RawConnection.answers(4, to: alive + alive + bad + alive, port: port)
      }
    }
  }

  @Test func `is counted when it is refused`() async throws {
    _ = try await answer("")
    #expect(try await system.metrics().contains("tender_refusals_total{code=\"bad_host\"}"))
  }
}

/// Bodies that are not framed as HTTP/1.1 frames them.
@Suite struct `A body in chunks that are none` {
  @Test(arguments: ["zz\n{}\n0\n\n", "5\n{}\n0\n\n", "2\n{}x\n0\n\n", "-1\n{}\n0\n\n", "FFFFFFFFFFFFFFFFFF\n{}\n0\n\n"])
  func `is the client's fault: 400, and no line of an error in the log`(chunks: String) async throws {
    let system = try await TestSystem.shared.value
    let call = """
      POST /applepay/payment HTTP/1.1
      Host: localhost
      Content-Type: application/json
      Transfer-Encoding: chunked

      \(chunks)
      """
    let answer = try await RawConnection.answers(1, to: call, port: system.harbour.port)[0]
    #expect(answer.status == 400 && answer.body["code"] == "malformed_request", "\(answer.status) \(answer.body)")
    let id = try #require(answer.body["requestId"]?.text)
    #expect(system.log.count(of: id) == 1 && system.log.count(of: "HTTPParserError") == 0)
  }

  @Test func `are refused when there are thousands of one byte`() async throws {
    let system = try await TestSystem.shared.value
    func answer(_ count: Int) async throws -> RawConnection.Answer {
      let head = """
        POST /applepay/payment HTTP/1.1
        Host: localhost
        Content-Type: application/json
        Transfer-Encoding: chunked


        """
      let body = "{}" + String(repeating: " ", count: count)
      let chunks = body.map { "1\n\($0)\n" }.joined() + "0\n\n"
      return try await RawConnection.answers(1, to: head + chunks, port: system.harbour.port)[0]
    }
    #expect(try await answer(3_000).body["code"] == "invalid_body")
    let refused = try await answer(9_000)
    #expect(refused.status == 400 && refused.body["code"] == "malformed_request", "\(refused.status)")
  }

  @Test func `or that end before their end make no line of an error in the log either`() async throws {
    let system = try await TestSystem.shared.value
    let refused = system.log.count(of: "\"status\":400")
    for _ in 0..<5 {
      let connection = try RawConnection(port: system.harbour.port)
      try connection.send(
        "POST /applepay/payment HTTP/1.1\nHost: localhost\nContent-Type: application/json\nContent-Length: 9\n\n{")
    }
    try await waitFor("five more refusals than \(refused)", { system.log.count(of: "\"status\":400") }) {
      $0 >= refused + 5
    }
    #expect(system.log.count(of: "HTTPParserError") == 0)
  }
}
