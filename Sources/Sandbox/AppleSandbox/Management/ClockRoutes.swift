import AcquirerSandbox
import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// The simulation's clock, for `tender sandbox clock` and for the servers that follow it.
struct ClockRoutes: Sendable {
  let clock: SimulationClock
  let portal: DeveloperPortal
  let tokens: MerchantTokenStore
  let events: EventDelivery

  /// `GET /sandbox/clock`, and of a server `?follower=…&move=…&next=…`: then it waits a moment for the next move.
  func show(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let query = request.query
    guard let name = query["follower"], let move = query["move"].flatMap({ Int($0) }) else {
      return await answer(clock.reading)
    }
    guard (1...64).contains(name.utf8.count) else { throw Self.refusal("follower has 1 to 64 characters.") }
    let next = query["next"].flatMap { Int64($0) }.map { Timestamp(microseconds: $0) }
    return await answer(try await clock.follow(name, move: move, next: next))
  }

  /// `POST /sandbox/clock {"toMicroseconds": …}`: moves it on, and answers when every server has followed.
  func move(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let time = try await request.json().member("toMicroseconds").integer
    guard (0..<253_402_300_800_000_000).contains(time) else {
      throw Self.refusal("toMicroseconds is a time before 10000.")
    }
    let end = await portal.lastTime
    guard time <= end.microseconds else {
      throw SandboxProblem(
        status: 400, code: "clock_beyond_certificates",
        message: "The sandbox's certificates end: the clock goes until \(end), and no further.")
    }
    let moved = try await clock.move(to: Timestamp(microseconds: time)) { [tokens, events] in
      try await tokens.notify(by: events.get)
    }
    guard let moved else { throw Self.refusal("It is later already: the clock goes forwards alone.") }
    return await answer(moved)
  }

  private static func refusal(_ words: String) -> SandboxProblem {
    SandboxProblem(status: 400, code: "invalid_request", message: words)
  }

  private func answer(_ reading: SimulationClock.Reading) async -> Response {
    JSONAnswer.response([
      "untilMicroseconds": .integer(await portal.lastTime.microseconds),
      "now": .string(reading.now.description), "nowMicroseconds": .integer(reading.now.microseconds),
      "aheadMicroseconds": .integer(reading.ahead.microseconds), "move": .integer(Int64(reading.move)),
      "nextMicroseconds": reading.next.map { .integer($0.microseconds) } ?? .null,
      "followers": .integer(Int64(reading.followers)), "late": .integer(Int64(reading.late)),
    ])
  }
}
