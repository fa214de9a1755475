import Administration
import HTTPTypes
import Settings
import Synchronization
package import TenderPayments

/// How many calls an API key, a merchant, a client session and a basket's sheet may make. Counted by each server for itself.
///
/// Each has a rate, and may be ahead of it by the calls of two seconds. A merchant that exceeds its rate is refused
/// before its bodies are read, and its refusals leave at a rate of their own: a caller that repeats at once waits for them,
/// and takes no time from others. Only so many wait, because each keeps a connection.
package final class Quotas: Sendable {
  /// Calls a second; nil for as many as come.
  package struct Rates: Sendable, Hashable {
    package var perKey: Int?
    package var perMerchant: Int?
    /// The rate of an app or a page.
    package var perClient: Int?
    /// How many calls of a merchant may be under way at once, so that slow answers of its acquirer take no place from
    /// others.
    package var underWay: Int
    /// How many merchant sessions are asked for at once; one merchant has half of them.
    package var sessionsUnderWay: Int
    /// How many refusals wait at once; one merchant has a quarter of them. Others leave at once.
    package var refusalsWaiting: Int

    package init(
      perKey: Int? = nil, perMerchant: Int? = nil, perClient: Int? = 20, underWay: Int = 256,
      sessionsUnderWay: Int = 128, refusalsWaiting: Int = 2_500
    ) {
      (self.perKey, self.perMerchant, self.perClient) = (perKey, perMerchant, perClient)
      (self.underWay, self.sessionsUnderWay) = (underWay, sessionsUnderWay)
      self.refusalsWaiting = refusalsWaiting
    }
  }

  private enum Subject: Hashable {
    case key(String)
    case merchant(MerchantID)
    case client(String)
    /// Merchant sessions of a basket's sheets.
    case sessions(BasketID)
    /// Refusals of a merchant, and of an app or a page.
    case refusals(MerchantID)
    case clientRefusals(String)
    /// Notifications of Apple about merchant tokens: of a merchant, and of all.
    case notifications(MerchantID?)
  }

  /// What of a merchant is counted while it is under way.
  private enum Work: Hashable { case call, session, refusal }
  private struct WorkOfMerchant: Hashable {
    let work: Work
    let merchant: MerchantID
  }

  private static let burst = Duration.seconds(2)
  /// Twenty notifications a second to one merchant, and to all as many as to five; each may be ahead by ten seconds.
  private static let (notificationInterval, notificationBurst) = (Duration.milliseconds(50), Duration.seconds(10))
  /// Twenty merchant sessions a minute for one basket: a shopper may open and close the sheet often.
  private static let (sessionInterval, sessionBurst) = (Duration.seconds(3), Duration.seconds(57))
  /// Between two refusals of one merchant: fifty leave in a second.
  private static let refusalInterval = Duration.milliseconds(20)
  /// The longest that a refusal waits. Later ones leave at once: a call that waits for longer is given up by its caller.
  private static let longestRefusal = Duration.seconds(10)
  /// Above it, subjects that have not called for long are forgotten.
  private static let remembered = 4_096

  private let rates: Rates
  private let uptime: @Sendable () -> Duration
  private let pause: @Sendable (Duration) async -> Void
  /// When the calls of each so far would have been made at its rate.
  private let schedule = Mutex<[Subject: Duration]>([:])
  private let underWay = Mutex<[WorkOfMerchant: Int]>([:])

  package init(
    _ rates: Rates, uptime: @escaping @Sendable () -> Duration = Scheduler.system.uptime,
    pause: @escaping @Sendable (Duration) async -> Void = { try? await Scheduler.system.sleep($0) }
  ) {
    (self.rates, self.uptime, self.pause) = (rates, uptime, pause)
  }

  /// Counts a call under an API key.
  ///
  /// - Returns: how long to wait, where the call is one too many; it is not counted then.
  package func take(key: String, of merchant: MerchantID) -> Duration? {
    take([(.key(key), Self.interval(rates.perKey)), (.merchant(merchant), Self.interval(rates.perMerchant))])
  }

  /// Takes a call under a client session from its quota, and nothing from that of the merchant's server.
  package func take(client: String) -> Duration? {
    take([(.client(client), Self.interval(rates.perClient))])
  }

  /// Counts a notification of Apple, which anyone may have written.
  package func takeNotification(to merchant: MerchantID) -> Duration? {
    take(
      [
        (.notifications(merchant), Self.notificationInterval), (.notifications(nil), Self.notificationInterval / 5),
      ], ahead: Self.notificationBurst)
  }

  private static func interval(_ rate: Int?) -> Duration? { rate.map { .seconds(1) / $0 } }

  /// Returns when a refusal may leave.
  ///
  /// - Parameter client: the client session that is refused; nil for the merchant's server.
  package func awaitRefusal(of merchant: MerchantID, client: String? = nil) async {
    let subject = client.map(Subject.clientRefusals) ?? .refusals(merchant)
    await admit(.refusal, of: merchant, atMost: rates.refusalsWaiting / 4, ofAll: rates.refusalsWaiting) {
      if let wait = waitForRefusal(subject) { await pause(wait) }
    }
  }

  private func waitForRefusal(_ subject: Subject) -> Duration? {
    let now = uptime()
    return schedule.withLock { schedule in
      let due = max(schedule[subject] ?? now, now) + Self.refusalInterval
      guard due - now <= Self.longestRefusal else { return nil }
      schedule[subject] = due
      return due - now
    }
  }

  /// Does the work of one call, unless too many of the merchant's are under way.
  ///
  /// - Returns: nil where it was not done.
  package func admit<Value>(_ merchant: MerchantID, _ work: () async throws -> Value) async rethrows -> Value? {
    try await admit(.call, of: merchant, atMost: rates.underWay, work)
  }

  /// Asks for a merchant session.
  ///
  /// - Parameter basket: nil for one that the merchant's server asks for.
  /// - Throws: ``Problem`` with `too_many_sessions` where the basket has had too many within a minute, or too many are under
  ///   way.
  package func session<Value>(
    of basket: BasketID?, _ merchant: MerchantID, _ work: () async throws -> Value
  ) async throws -> Value {
    if let basket, let wait = take([(.sessions(basket), Self.sessionInterval)], ahead: Self.sessionBurst) {
      throw Problem.tooManySessions(wait)
    }
    let value = try await admit(
      .session, of: merchant, atMost: rates.sessionsUnderWay / 2, ofAll: rates.sessionsUnderWay, work)
    guard let value else { throw Problem.tooManySessions(.zero) }
    return value
  }

  /// - Parameters:
  ///   - most: of the merchant; one is let through in every case.
  ///   - all: of all merchants together; nil for no limit.
  @discardableResult private func admit<Value>(
    _ kind: Work, of merchant: MerchantID, atMost most: Int, ofAll all: Int? = nil, _ work: () async throws -> Value
  ) async rethrows -> Value? {
    let subject = WorkOfMerchant(work: kind, merchant: merchant)
    let isAdmitted = underWay.withLock { counts in
      let isFull = all.map { all in counts.reduce(0) { $1.key.work == kind ? $0 + $1.value : $0 } >= all } ?? false
      guard !isFull, counts[subject, default: 0] < max(1, most) else { return false }
      counts[subject, default: 0] += 1
      return true
    }
    guard isAdmitted else { return nil }
    defer { underWay.withLock { $0[subject, default: 1] -= 1 } }
    return try await work()
  }

  /// - Parameter subjects: each with the time between two calls at its rate; nil for as many as come.
  private func take(_ subjects: [(Subject, Duration?)], ahead burst: Duration = Quotas.burst) -> Duration? {
    let now = uptime()
    return schedule.withLock { schedule in
      let limited = subjects.compactMap { subject, interval in interval.map { (subject, $0) } }
      let due = limited.map { max(schedule[$0.0] ?? now, now) }
      let wait = due.map { $0 - now - burst }.max() ?? .zero
      guard wait <= .zero else { return wait }
      for (index, (subject, interval)) in limited.enumerated() { schedule[subject] = due[index] + interval }
      if schedule.count > Self.remembered { schedule = schedule.filter { $0.value > now } }
      return nil
    }
  }
}

extension Problem {
  /// - Parameter wait: until the next session may be asked for.
  fileprivate static func tooManySessions(_ wait: Duration) -> Problem {
    let seconds = Int(wait.components.seconds) + 1
    return Problem(
      .tooManyRequests, "too_many_sessions", "The sheet was opened too often. Open it again after \(seconds) s.",
      retryAfter: seconds)
  }

  /// - Parameter wait: until the next call is taken.
  static func quotaExceeded(_ wait: Duration) -> Problem {
    let seconds = Int(wait.components.seconds) + 1
    return Problem(
      .tooManyRequests, "quota_exceeded", "Too many calls. Go on after \(seconds) s, and more slowly.",
      retryAfter: seconds)
  }
}

extension ServerConfiguration {
  func quotas(within budget: DescriptorBudget) -> Quotas.Rates {
    Quotas.Rates(
      perKey: callsPerKey == 0 ? nil : callsPerKey, perMerchant: callsPerMerchant == 0 ? nil : callsPerMerchant,
      underWay: budget.callsOfMerchant, sessionsUnderWay: budget.sessions, refusalsWaiting: budget.refusals)
  }
}
