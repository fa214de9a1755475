import AppleSandbox
import Foundation
import SandboxTesting
import StrictJSON
import TenderPayments
import Testing

@Suite struct `The clock of the simulation` {
  private static func micros(_ answer: Caller.Answer, _ name: String = "nowMicroseconds") -> Int64 {
    if case .integer(let number)? = answer.json[name] { number } else { 0 }
  }

  private static func move(_ caller: Caller, to time: Int64) async throws -> Caller.Answer {
    try await caller.post("/sandbox/clock", ["toMicroseconds": .integer(time)])
  }

  @Test func `goes forwards alone, and on from there after a restart`() async throws {
    let (directory, year) = (try TemporaryDirectory(), Int64(365 * 86_400_000_000))
    let target = try await moveYear(year, in: directory)
    let again = try await TestSandbox(directory: directory)
    try await again.calls { caller in
      let (clock, authority) = (try await caller.get("/sandbox/clock"), try await caller.get("/sandbox/ca.json"))
      #expect(Self.micros(clock) >= target && Self.micros(authority, "clockAheadMicroseconds") == year)
    }
  }

  /// The time to which a sandbox has moved its clock, before it is gone.
  private func moveYear(_ year: Int64, in directory: TemporaryDirectory) async throws -> Int64 {
    let first = try await TestSandbox(directory: directory)
    let target = try await first.calls { caller in
      let before = Self.micros(try await caller.get("/sandbox/clock"))
      #expect(before == first.clock.wallClock.now().microseconds)
      let moved = try await Self.move(caller, to: before + year)
      moved.expect(status: 200)
      #expect(Self.micros(moved) == before + year && Self.micros(moved, "aheadMicroseconds") == year)
      #expect(Self.micros(moved, "followers") == 0)
      try await Self.move(caller, to: before + year - 1).expect(status: 400)
      try await caller.post("/sandbox/clock", ["toMicroseconds": "soon"]).expect(status: 400)
      try await Self.move(caller, to: .max).expect(status: 400)
      return before + year
    }
    await first.sandbox.close()
    return target
  }

  @Test func `is moved on when every server has done what was due, and tells what they have to do next`() async throws {
    let sandbox = try await TestSandbox()
    try await sandbox.calls { caller in
      let start = Self.micros(try await caller.get("/sandbox/clock"))
      let due = start + 5_000_000
      async let asked = caller.get("/sandbox/clock?follower=one&move=0&next=\(due)")
      let seen = try await asked
      #expect(Self.micros(seen, "followers") == 1 && Self.micros(seen, "nextMicroseconds") == due)
      async let moving = Self.move(caller, to: due)
      // The server hears of it, works, and asks again.
      let told = try await caller.get("/sandbox/clock?follower=one&move=0&next=\(due)")
      #expect(Self.micros(told, "move") == 1 && Self.micros(told, "late") == 1)
      async let following = caller.get("/sandbox/clock?follower=one&move=1&next=\(due + 1)")
      let moved = try await moving
      #expect(Self.micros(moved, "late") == 0 && Self.micros(moved, "nextMicroseconds") == due + 1)
      _ = try await following
    }
  }

  @Test func `goes until a merchant's certificates end, and says until when`() async throws {
    let sandbox = try await TestSandbox()
    try await sandbox.calls { caller in
      let signers = Self.micros(try await caller.get("/sandbox/clock"), "untilMicroseconds")
      let path = "/portal/merchants/\(Merchant.identifier)"
      try await caller.post("/portal/merchants", ["merchantIdentifier": .string(Merchant.identifier)]).expect(
        status: 201)
      try await caller.post("\(path)/certificates", ["type": "processing", "csr": .string(Merchant().processingCSR)])
        .expect(status: 201)
      let start = try await caller.get("/sandbox/clock")
      let until = Self.micros(start, "untilMicroseconds")
      #expect(until < signers && (700...800).contains((until - Self.micros(start)) / 86_400_000_000))
      let refused = try await Self.move(caller, to: until + 1_000_000)
      refused.expect(status: 400)
      #expect(refused.code == "clock_beyond_certificates")
      #expect(Self.micros(try await caller.get("/sandbox/clock"), "move") == 0)
      try await Self.move(caller, to: until - 1_000_000).expect(status: 200)
    }
  }

  @Test func `is closed to pages of other origins`() async throws {
    try await TestSandbox().calls { caller in
      try await caller.post("/sandbox/clock", ["toMicroseconds": 1], origin: "https://evil.example").expect(status: 403)
    }
  }
}
