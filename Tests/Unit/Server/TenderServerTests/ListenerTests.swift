import Foundation
import HTTPTransport
import StrictJSON
import TenderServer
import TenderTesting
import Testing

/// The sockets of a running system that read HTTP from outside.
enum ListenerUnderAttack: CaseIterable {
  case shoppers, office, metrics, administration, sandbox

  func connection(_ system: TestSystem) throws -> RawConnection.Shared {
    switch self {
    case .shoppers: try RawConnection.Shared(port: system.harbour.port)
    case .office: try RawConnection.Shared(port: Self.port(system.office))
    case .metrics: try RawConnection.Shared(port: Self.port(system.office) + 1)
    case .administration: try RawConnection.Shared(socket: "\(system.directory)/tender.db.sock")
    case .sandbox: try RawConnection.Shared(port: Self.port(system.sandbox.base))
    }
  }

  /// Every answer to these bytes, until the server ends the connection.
  func answers(to calls: String) async throws -> [RawConnection.Answer] {
    let system = try await TestSystem.shared.value
    return try await RawConnection.onThread {
      let connection = try connection(system)
      try connection.value.send(calls)
      return try connection.value.answersUntilTheEnd()
    }
  }

  /// All that the server sends to these bytes, until it ends the connection.
  func text(to calls: String) async throws -> String {
    let system = try await TestSystem.shared.value
    return try await RawConnection.onThread {
      let connection = try connection(system)
      try connection.value.send(calls)
      return try connection.value.textUntilTheEnd()
    }
  }

  private static func port(_ address: String) throws -> Int { try #require(URL(string: address)?.port) }
}

@Suite struct `Every listener` {
  private static let marks = String(repeating: "\u{327}\u{301}", count: 16)

  private static let heads: [(status: Int, text: String)] = [
    (400, "GET / HTTP/1.1\n\n"), (400, "GET / HTTP/1.1\nHost: a.example\nHost: b.example\n\n"),
    (400, "GET / HTTP/1.1\nHost: a.example\nno colon\n\n"),
    (400, "GET /%00 HTTP/1.1\nHost: a.example\n\n"), (400, "GET /?q=a%00b HTTP/1.1\nHost: a.example\n\n"),
    (400, "GET /?q=%FF HTTP/1.1\nHost: a.example\n\n"),
    (400, "GET /?%FF\(String(repeating: "%CC%81%CC%A7", count: 16)) HTTP/1.1\nHost: a.example\n\n"),
    (400, "GET / HTTP/1.1\nHost: a.example\nX-Other: a\u{0}b\n\n"),
    (400, "GET / HTTP/1.1\nHost: a.example\nCookie: \(marks)=1; tender-office=\(marks)\n\n"),
    (400, "GET / HTTP/1.1\nHost: a.example\nSec-Fetch-Site: \(marks)\n\n"),
    (400, "POST / HTTP/1.1\nHost: a.example\nTransfer-Encoding: gzip\n\n"),
    (400, "POST / HTTP/1.1\nHost: a.example\nTransfer-Encoding: gzip, chunked\n\n0\n\n"),
    (400, "POST / HTTP/1.1\nHost: a.example\nTransfer-Encoding: chunked\nTransfer-Encoding: chunked\n\n0\n\n"),
    (414, "GET /\(String(repeating: "a", count: 8_192)) HTTP/1.1\nHost: a.example\n\n"),
    (431, "GET / HTTP/1.1\nHost: a.example\nCookie: \(String(repeating: "a", count: 17_000))\n\n"),
  ]

  @Test(arguments: ListenerUnderAttack.allCases)
  func `answers HEAD without a body, whatever it answers`(listener: ListenerUnderAttack) async throws {
    let rest = " HTTP/1.1\nHost: localhost\n"
    let long = "/\(String(repeating: "a", count: 9_000))"
    for path in ["/", "/nothing", "/metrics", "/merchants/calls", "/journal/verification", long] {
      let text = try await listener.text(to: "HEAD \(path)\(rest)\nGET /nothing\(rest)Connection: close\n\n")
      let parts = text.split(separator: "\r\n\r\n", maxSplits: 1, omittingEmptySubsequences: false)
      #expect(parts[0].hasPrefix("HTTP/1.1 "), "\(listener) \(path.prefix(30)): \(text.prefix(300))")
      let next = parts.last ?? ""
      #expect(
        next.hasPrefix("HTTP/1.1 ") || next.isEmpty && parts[0].hasPrefix("HTTP/1.1 414 "),
        "\(listener) \(path.prefix(30)): \(next.prefix(300))")
    }
  }

  @Test(arguments: ListenerUnderAttack.allCases)
  func `refuses a head that is not as it must be with one answer, and ends the connection`(
    listener: ListenerUnderAttack
  ) async throws {
    for head in Self.heads {
      let answers = try await listener.answers(to: head.text + "GET / HTTP/1.1\nHost: a.example\n\n")
      #expect(answers.map(\.status) == [head.status], "\(listener): \(head.text.prefix(200))")
      #expect(answers.first?.headers.contains("connection: close") == true)
    }
  }

  /// RFC 9112, section 3.2, binds HTTP/1.1 alone.
  @Test(arguments: ListenerUnderAttack.allCases)
  func `answers a request in HTTP/1.0 without a host, and ends the connection`(listener: ListenerUnderAttack)
    async throws
  {
    for head in ["", "Connection: keep-alive\n"] {
      let answers = try await listener.answers(
        to: "GET /healthz HTTP/1.0\n\(head)\nGET / HTTP/1.1\nHost: a.example\n\n")
      #expect(answers.count == 1 && answers[0].body["code"] != "bad_host", "\(listener): \(answers)")
    }
  }

  /// RFC 9112, section 6.1: who sends it may be part of a chain that frames the body otherwise.
  @Test(arguments: ListenerUnderAttack.allCases)
  func `refuses a request in HTTP/1.0 with chunks, or with two hosts`(listener: ListenerUnderAttack) async throws {
    for head in ["Transfer-Encoding: chunked\n", "Host: a.example\nHost: a.example\n", "Host: a b\n"] {
      let answers = try await listener.answers(to: "POST /healthz HTTP/1.0\n\(head)\n0\n\n")
      #expect(answers.map(\.status) == [400], "\(listener) \(head): \(answers)")
    }
  }

  /// RFC 9110, section 10.1.1.
  @Test(arguments: ListenerUnderAttack.allCases)
  func `asks nobody for a body in HTTP/1.0, which has no answer for it`(listener: ListenerUnderAttack) async throws {
    let answers = try await listener.answers(
      to: "POST /sign-in HTTP/1.0\nExpect: 100-continue\nContent-Length: 2\n\n{}")
    #expect(answers.count == 1 && answers[0].status != 100, "\(listener): \(answers)")
  }

  @Test(arguments: ListenerUnderAttack.allCases)
  func `asks at once for a body that its sender holds back`(listener: ListenerUnderAttack) async throws {
    let system = try await TestSystem.shared.value
    let answer = try await RawConnection.onThread {
      let connection = try listener.connection(system)
      try connection.value.send(
        "POST /sign-in HTTP/1.1\nHost: localhost\nExpect: 100-Continue\nContent-Length: 2\n\n")
      return try connection.value.answers(1)
    }
    #expect(answer.first?.status == 100)
  }

  /// Also where nothing reads the body, and the answer has gone when the chunks arrive.
  @Test(arguments: ListenerUnderAttack.allCases)
  func `gives one answer to a request whose chunks are none, and it is no 500`(
    listener: ListenerUnderAttack
  ) async throws {
    for method in ["GET", "POST"] {
      for path in ["/healthz", "/sign-in", "/users/calls", "/merchants/calls", "/keys/retire", "/payments/search"] {
        let answers = try await listener.answers(
          to: "\(method) \(path) HTTP/1.1\nHost: localhost\nTransfer-Encoding: chunked\n\nzz\n{}\n0\n\n")
        #expect(answers.count == 1 && answers.allSatisfy { $0.status < 500 }, "\(listener) \(path): \(answers)")
      }
    }
  }
}
