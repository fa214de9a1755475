import ArgumentParser
import CommandSupport
import HTTPTransport
import Ledger
import StrictJSON
import TenderPayments

/// `tender-sandbox sandbox clock`
struct ClockCommand: AsyncParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "clock",
    abstract: "Shows the clock of a running sandbox, or moves it on with its servers.",
    discussion:
      "It goes in steps of a day at most, and stops where a server has something to do, so that what is due in between happens "
      + "in order. It goes until the sandbox's certificates end, about two years after the first start. Servers follow that have the environment simulated and a store of their own. It never goes back."
  )

  /// Read with what begins with a hyphen, so that `-3d` gets an answer.
  @Argument(
    parsing: .allUnrecognized,
    help: ArgumentHelp(
      "+13mo, +3d, +2h, also y, w and min; or a time as 2027-12-31T09:00:00Z. Without it the clock is shown.",
      valueName: "to"))
  var words: [String] = []
  @Option(help: "The sandbox's address.") var sandbox = "http://127.0.0.1:8402"
  @Flag(help: "Print the clock as a line of JSON.") var json = false

  private var to: String? { words.first }
  private static let longestStep = Duration.seconds(86_400)
  /// A hundred years have 36,525 steps of a day; charges between them are steps too.
  private static let mostSteps = 100_000

  func validate() throws {
    if let option = words.first(where: { $0.hasPrefix("-") }) {
      let isTime = option.dropFirst().first.map { $0.isASCII && $0.isNumber } ?? false
      throw ValidationError(isTime ? "The clock goes forwards alone: write +3d." : "Unknown option '\(option)'")
    }
    guard words.count < 2 else { throw ValidationError("One time is named, and not \(words.count).") }
    guard let to, Move(to) == nil else { return }
    throw ValidationError(
      "“\(to)” is no time: write +13mo, +3d, +2h or +30min, or a time as 2027-12-31T09:00:00Z.")
  }

  func run() async throws {
    try await LiveHTTPClient.during { sender in
      let client = JSONClient(sandbox, sender: sender)
      var clock = try Reading(try await client.require("GET", "/sandbox/clock"))
      if let move = to.flatMap(Move.init) {
        guard let target = move.target(from: clock.now) else { throw CallFailure("there is no such time before 10000") }
        guard target > clock.now else { throw CallFailure("it is \(clock.now) already; the clock goes forwards alone") }
        guard target <= clock.until else {
          throw CallFailure(
            "the sandbox's certificates end: the clock goes until \(clock.until). To begin again, begin with empty directories"
          )
        }
        clock = try await step(clock, to: target, client)
      }
      show(clock, isMoved: to != nil)
    }
  }

  private func step(_ start: Reading, to target: Timestamp, _ client: JSONClient) async throws -> Reading {
    var (clock, steps) = (start, 0)
    while clock.now < target, steps < Self.mostSteps {
      // What is overdue already could not be done, and waits for nothing.
      let due = clock.next.flatMap { $0 > clock.now ? $0 : nil } ?? target
      let next = min(target, due, clock.now.adding(Self.longestStep))
      let body: JSONValue = ["toMicroseconds": .integer(next.microseconds)]
      let answer = try await client.call("POST", "/sandbox/clock", body, timeout: .seconds(180))
      // Real time passes too: it may be later by now.
      if answer.status == 400 {
        clock = try Reading(try await client.require("GET", "/sandbox/clock"))
      } else {
        guard answer.isSuccess else { throw CallFailure("the sandbox does not move its clock: \(answer.errorText)") }
        clock = try Reading(answer.body)
      }
      guard clock.late == 0 else {
        throw CallFailure("\(clock.late) of \(clock.followers) servers have not followed to \(clock.now)")
      }
      steps += 1
    }
    return clock
  }

  private func show(_ clock: Reading, isMoved: Bool) {
    // Not `json`: the sandbox's command has a flag of this name too, and takes it.
    guard !Terminal.printsJSON else {
      return Terminal.say(
        Terminal.jsonLine([
          "now": .string(clock.now.description), "aheadSeconds": .integer(clock.ahead.components.seconds),
          "followers": .integer(clock.followers),
        ]))
    }
    Terminal.say("\(clock.now)")
    let servers = clock.followers == 1 ? "1 server follows" : "\(clock.followers) servers follow"
    Terminal.say("\((clock.ahead.components.seconds + 43_200) / 86_400) days ahead; \(servers)")
    if isMoved, clock.followers == 0 {
      Terminal.say(
        "No server uses this sandbox at the moment, or its store is a PostgreSQL database, which keeps its own time.")
    }
  }

  /// What the sandbox says of its clock.
  private struct Reading {
    let now: Timestamp
    let ahead: Duration
    let next: Timestamp?
    /// As far as it goes.
    let until: Timestamp
    let followers: Int64
    let late: Int64

    init(_ body: JSONValue) throws {
      func whole(_ name: String) throws -> Int64 {
        guard case .integer(let number)? = body[name] else {
          throw CallFailure("the sandbox does not tell its \(name)")
        }
        return number
      }
      now = Timestamp(microseconds: try whole("nowMicroseconds"))
      until = Timestamp(microseconds: try whole("untilMicroseconds"))
      ahead = .microseconds(try whole("aheadMicroseconds"))
      if case .integer(let due)? = body["nextMicroseconds"] { next = Timestamp(microseconds: due) } else { next = nil }
      (followers, late) = (try whole("followers"), try whole("late"))
    }
  }

  /// Where the clock goes.
  enum Move {
    case by(BillingInterval)
    case to(Timestamp)

    init?(_ text: String) {
      guard text.hasPrefix("+") else {
        guard let time = Timestamp(rfc3339: text) else { return nil }
        self = .to(time)
        return
      }
      let digits = text.dropFirst().prefix { $0.isASCII && $0.isNumber }
      guard let count = Int(digits), (1...36_500).contains(count) else { return nil }
      switch text.dropFirst(1 + digits.count) {
      case "min": self = .by(BillingInterval(.minute, count: count))
      case "h": self = .by(BillingInterval(.hour, count: count))
      case "d": self = .by(BillingInterval(.day, count: count))
      case "w": self = .by(BillingInterval(.day, count: count * 7))
      case "mo": self = .by(BillingInterval(.month, count: count))
      case "y": self = .by(BillingInterval(.year, count: count))
      default: return nil
      }
    }

    func target(from now: Timestamp, in timeZone: String = "UTC") -> Timestamp? {
      switch self {
      case .to(let time): time
      case .by(let interval): DateSeries(start: now, interval: interval, timeZone: timeZone)?.date(1)
      }
    }
  }
}
