import HTTPServing
import Hummingbird
import StrictJSON
import TenderPayments

/// The simulation's clock, for `tender sandbox clock` and for the servers that follow it.
struct ClockRoutes: Sendable {
  let clock: SimulationClock

  /// `GET /sandbox/clock`, and of a server `?follower=…&move=…&next=…`: then it waits a moment for the next move.
  func show(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let query = request.query
    guard let name = query["follower"], let move = query["move"].flatMap({ Int($0) }) else {
      return Self.answer(clock.reading)
    }
    guard (1...64).contains(name.utf8.count) else { throw Self.refusal("follower has 1 to 64 characters.") }
    let next = query["next"].flatMap { Int64($0) }.map { Timestamp(microseconds: $0) }
    return Self.answer(try await clock.follow(name, move: move, next: next))
  }

  /// `POST /sandbox/clock {"toMicroseconds": …}`: moves it on, and answers when every server has followed.
  func move(_ request: Request, _ context: SandboxContext) async throws -> Response {
    let time = try await request.json().member("toMicroseconds").integer
    guard (0..<253_402_300_800_000_000).contains(time) else {
      throw Self.refusal("toMicroseconds is a time before 10000.")
    }
    guard let reading = try await clock.move(to: Timestamp(microseconds: time)) else {
      throw Self.refusal("It is later already: the clock goes forwards alone.")
    }
    return Self.answer(reading)
  }

  private static func refusal(_ words: String) -> SandboxProblem {
    SandboxProblem(status: 400, code: "invalid_request", message: words)
  }

  private static func answer(_ reading: SimulationClock.Reading) -> Response {
    JSONAnswer.response([
      "now": .string(reading.now.description), "nowMicroseconds": .integer(reading.now.microseconds),
      "aheadMicroseconds": .integer(reading.ahead.microseconds), "move": .integer(Int64(reading.move)),
      "nextMicroseconds": reading.next.map { .integer($0.microseconds) } ?? .null,
      "followers": .integer(Int64(reading.followers)), "late": .integer(Int64(reading.late)),
    ])
  }
}
