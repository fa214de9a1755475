#if canImport(Darwin)
  import Darwin
#else
  import Glibc
#endif
import Foundation
import HTTPTransport
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer
import TenderTesting
import Testing

/// `tender serve` in a process that may open few files, while all that others can open is opened.
@Suite struct `A server with few files` {
  private static let files = 320

  @Test func `lives, answers at every listener and takes payments, however many connections are open`() async throws {
    let (system, silent) = (try await TestSystem.shared.value, try SilentServer())
    defer { silent.end() }
    let (ports, merchants) = (try FreePorts.row(of: 2), try Self.merchants(system, notifying: silent.port))
    defer { try? FileManager.default.removeItem(atPath: merchants) }
    let served = try await ServedTender(
      system, files: Self.files, merchants: merchants,
      settings: "backOffice:\n  port: \(ports)\nmetrics:\n  port: \(ports + 1)\n")
    defer { served.end() }
    let shop = try Shopfront(TestSystem.harbourMerchant, system.directory, served.url, system.sender)
    for _ in 0..<16 { try await Self.pays(system, shop) }
    try await waitUntil("webhooks that are not answered") { silent.count > 0 }
    let socket = "\(served.directory)/tender.db.sock"
    let idle = try (0..<Self.files).map { _ in
      [
        try RawConnection.Shared(port: served.port), try RawConnection.Shared(port: ports),
        try RawConnection.Shared(port: ports + 1), try RawConnection.Shared(socket: socket),
      ]
    }
    for (path, port) in [("/healthz", served.port), ("/sign-in", ports), ("/metrics", ports + 1)] {
      let call = "GET \(path) HTTP/1.1\nHost: localhost\n\n"
      #expect(try await RawConnection.answers(1, to: call, port: port)[0].status == 200, "\(path)")
    }
    let listed = try await RawConnection.onThread {
      let connection = try RawConnection(socket: socket)
      try connection.send("GET /payments HTTP/1.1\nHost: localhost\n\n")
      return try connection.answers(1)[0].status
    }
    #expect(listed == 200)
    try await Self.pays(system, shop)
    #expect(served.process.isRunning && idle.count == Self.files)
    #expect(try served.lines(at: "warning").allSatisfy { !$0.contains("accepts no connections") })
  }

  @Test func `says at its start what it takes, and lowers what may be under way`() async throws {
    let system = try await TestSystem.shared.value
    let served = try await ServedTender(system, files: 320)
    defer { served.end() }
    let line = try #require(try served.lines(at: "info").first { $0.contains("open files are shared out") })
    let shares = line.matches(of: /"(shoppers|own|administration|acquirers|apple|merchants|webhooks)":"?(\d+)/)
    let sum = shares.reduce(0) { $0 + (Int($1.output.2) ?? 0) }
    #expect(shares.count == 7 && (1...320).contains(sum), "\(line)")
    // A call may open a connection, and both count.
    for (calls, connections) in [
      ("callsOfMerchant", "acquirers"), ("sessions", "apple"), ("callsToMerchants", "merchants"),
    ] {
      let numbers = [calls, connections].compactMap { name in
        line.firstMatch(of: try! Regex("\"\(name)\":\"?([0-9]+)")).flatMap {
          $0.output[1].substring.flatMap { Int($0) }
        }
      }
      #expect(numbers.count == 2 && numbers[0] >= 1 && 2 * numbers[0] <= numbers[1], "\(calls): \(line)")
    }
    #expect(try served.lines(at: "warning").contains { $0.contains("fewer payments than payments.maximumInFlight") })
  }

  @Test func `does not start with too few of them, and says so`() async throws {
    let system = try await TestSystem.shared.value
    let error = await #expect(throws: ServedTender.NotStarted.self) { try await ServedTender(system, files: 72) }
    let log = try #require(error).log
    #expect(log.contains("raise the limit (ulimit -n, LimitNOFILE)"), "\(log)")
  }

  private static func pays(_ system: TestSystem, _ shop: Shopfront) async throws {
    let answer = try await Shopper.enters(system, shop, service: "collection").pays()
    try #require(answer.body["status"] == "captured", "\(answer.errorText)")
  }

  /// The system's first merchant, whose five endpoints are at this port.
  private static func merchants(_ system: TestSystem, notifying port: Int) throws -> String {
    let folder = "\(system.directory)-notifying-\(RandomBytes.system.hex(4))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    let merchant = folder + "/harbour"
    try FileManager.default.copyItem(atPath: "\(system.directory)/merchants/harbour", toPath: merchant)
    let file = merchant + "/merchant.yaml"
    let endpoints = (1...5).map { "\"e\($0)=http://localhost:\(port)/\($0)\"" }.joined(separator: ", ")
    let kept = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").filter {
      !$0.hasPrefix("webhooks")
    }
    try (kept + ["webhooks: [\(endpoints)]", ""]).joined(separator: "\n").write(
      toFile: file, atomically: true, encoding: .utf8)
    return folder
  }
}

/// Takes every connection and never answers.
private final class SilentServer: Sendable {
  let port: Int
  private let descriptor: Int32
  private let taken = Mutex<[Int32]>([])

  struct NotListening: Error { let code: Int32 }

  init() throws {
    let opened = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    descriptor = opened
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let code = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(opened, $0, length) == 0 && listen(opened, 512) == 0 ? getsockname(opened, $0, &length) : -1
      }
    }
    guard code == 0 else { throw NotListening(code: errno) }
    port = Int(in_port_t(bigEndian: address.sin_port))
    Thread.detachNewThread { self.take() }
  }

  /// How many connections it has taken.
  var count: Int { taken.withLock(\.count) }

  func end() {
    shutdown(descriptor, Int32(SHUT_RDWR))
    for connection in taken.withLock({ $0 }) { close(connection) }
  }

  private func take() {
    while true {
      let connection = accept(descriptor, nil, nil)
      guard connection >= 0 else { break }
      taken.withLock { $0.append(connection) }
    }
    close(descriptor)
  }
}
