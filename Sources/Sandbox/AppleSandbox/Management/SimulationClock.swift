import StrictJSON
import Synchronization
import TenderPayments
import TokenIssuer

/// The clock of the whole simulation, which a person moves on: the sandbox has it, and the servers that use the sandbox follow.
///
/// It goes forwards alone, also over a restart.
final class SimulationClock: Sendable {
  /// A server that follows.
  private struct Follower {
    /// The move that it has done, with all that came due.
    var move: Int
    /// The move that it was told of.
    var told: Int
    /// What it has to do next.
    var next: Timestamp?
    /// In the machine's time.
    var seen: Timestamp
  }

  private struct State {
    var ahead: Duration
    /// How many moves there were.
    var move = 0
    var followers: [String: Follower] = [:]
  }

  /// How long a question waits for a move.
  private static let longestQuestion: Duration = .seconds(2)
  /// A server that has not asked for so long has ended, unless it works off a move.
  private static let presence: Duration = .seconds(5)
  /// How long a move waits for the servers.
  private static let longestStep: Duration = .seconds(120)
  private static let mostFollowers = 64
  private static let file = "clock.json"

  private let base: WallClock
  private let files: StateDirectory
  private let state: Mutex<State>

  /// - Parameter base: the machine's.
  init(_ base: WallClock, files: StateDirectory) throws {
    (self.base, self.files) = (base, files)
    var ahead: Int64 = 0
    if let text = try files.text(Self.file),
      case .integer(let kept)? = try JSONReader.read(Array(text.utf8))["aheadMicroseconds"]
    {
      ahead = max(0, kept)
    }
    state = Mutex(State(ahead: .microseconds(ahead)))
  }

  var ahead: Duration { state.withLock { $0.ahead } }
  var wall: WallClock { WallClock(ahead: { self.ahead }, of: base) }

  /// What it shows, and who follows.
  struct Reading: Sendable {
    let now: Timestamp
    let ahead: Duration
    let move: Int
    /// When a server has something to do next.
    let next: Timestamp?
    let followers: Int
    /// Those that have not done the last move.
    let late: Int
  }

  var reading: Reading {
    state.withLock { state in
      let now = base.now()
      state.followers = state.followers.filter { _, follower in
        now.since(follower.seen) < (follower.told > follower.move ? Self.longestStep : Self.presence)
      }
      return Reading(
        now: now.adding(state.ahead), ahead: state.ahead, move: state.move,
        next: state.followers.values.compactMap(\.next).min(), followers: state.followers.count,
        late: state.followers.values.count { $0.move < state.move })
    }
  }

  /// Moves on to a time, and waits until every server has done what was due by then.
  ///
  /// - Parameter notify: tells the servers what they can learn only from the sandbox. It is done before they hear of the move.
  /// - Returns: nil for a time that is over.
  func move(to time: Timestamp, after notify: @Sendable () async throws -> Void) async throws -> Reading? {
    let moved = try state.withLock { state in
      let ahead = time.since(base.now())
      guard ahead >= state.ahead else { return false }
      let text = JSONValue.object(["aheadMicroseconds": .integer(ahead.microseconds)]).serialized()
      try files.write(String(decoding: text, as: UTF8.self), to: Self.file)
      state.ahead = ahead
      return true
    }
    guard moved else { return nil }
    try await notify()
    state.withLock { $0.move += 1 }
    return try await wait(Self.longestStep) { self.reading.late == 0 }
  }

  /// Notes what a server has done, and waits a moment for the next move.
  func follow(_ name: String, move: Int, next: Timestamp?) async throws -> Reading {
    state.withLock { state in
      guard state.followers[name] != nil || state.followers.count < Self.mostFollowers else { return }
      state.followers[name] = Follower(move: move, told: move, next: next, seen: base.now())
    }
    let reading = try await wait(Self.longestQuestion) { self.reading.move != move }
    state.withLock { $0.followers[name]?.told = reading.move }
    return reading
  }

  private func wait(_ limit: Duration, until isDone: () -> Bool) async throws -> Reading {
    let step = Duration.milliseconds(25)
    var waited = Duration.zero
    while !isDone(), waited < limit {
      try await Task.sleep(for: step)
      waited += step
    }
    return reading
  }
}
