import Ledger
import Logging
import MerchantIdentity
import ServiceLifecycle
import Settings
import Storage
import TenderPayments

/// Asks Apple what its notifications are about, and tells Apple which merchant tokens are charged no more.
///
/// What is to be done stands in the store. A node takes some of it, calls Apple, and writes down what came of it; another
/// node takes over what this one leaves undone.
struct MerchantTokenService: Service {
  let journal: Journal
  let merchants: LiveMerchants
  let random: RandomBytes
  let scheduler: Scheduler
  let logger: Logger
  let rounds: SharedRuns<Bool>

  /// How many calls to Apple are under way at once.
  private static let batch = 16
  /// How long the record of a notification is kept.
  private static let life = Duration.seconds(90 * 86_400)

  private var database: Database { journal.database }

  func run() async throws {
    await cancelWhenGracefulShutdown {
      var forgetAt = scheduler.uptime()
      while !Task.isCancelled {
        let hasMore = await round()
        if scheduler.uptime() >= forgetAt {
          forgetAt = scheduler.uptime() + (await forget() ? .seconds(5) : .seconds(3_600))
        }
        do { try await scheduler.sleep(hasMore ? .milliseconds(50) : .seconds(1)) } catch { return }
      }
    }
  }

  /// Does what is due. When it returns, no call that was due before it is under way.
  ///
  /// - Returns: whether there may be more.
  func round() async -> Bool { (try? await rounds.output { await work() }) ?? false }

  private func work() async -> Bool {
    do {
      guard try await database.read({ try Journal.hasMerchantTokenWork(in: $0) }) else { return false }
      let events = try await database.write { try Journal.takeMerchantTokenEvents(atMost: Self.batch, in: $0) }
      await withTaskGroup(of: Void.self) { group in
        for event in events { group.addTask { await follow(event) } }
      }
      let tokens = try await database.write { try Journal.takeUnneededMerchantTokens(atMost: Self.batch, in: $0) }
      await withTaskGroup(of: Void.self) { group in
        for token in tokens { group.addTask { await unlink(token) } }
      }
      return events.count == Self.batch || tokens.count == Self.batch
    } catch {
      logger.error("merchant tokens cannot be looked after", metadata: ["reason": .string("\(error)")])
      return false
    }
  }

  private func follow(_ event: MerchantTokenEvent) async {
    let answer = await asking(event.merchant) { calls, merchant in
      await calls.news(of: event.id, to: merchant, request: random.uuid())
    }
    do {
      let state = try await database.write { [journal] store in
        switch answer {
        case .given(let news): try journal.apply(news, of: event, in: store)
        case .refused(let words): try Journal.refuse(event, because: words, in: store)
        case .unavailable(let words): try Journal.postpone(event, because: words, in: store)
        }
      }
      note(state, event, answer)
    } catch {
      // It is taken again after its lease.
      logger.error("a notification of Apple cannot be applied", metadata: ["reason": .string("\(error)")])
    }
  }

  private func unlink(_ token: UnneededMerchantToken) async {
    let answer = await asking(token.merchant) { calls, merchant in
      await calls.unlink(token.token, of: merchant, request: random.uuid())
    }
    do {
      try await database.write { store in
        switch answer {
        case .given: try Journal.endUnlinking(token, in: store)
        case .refused(let words): try Journal.endUnlinking(token, refused: words, in: store)
        case .unavailable(let words): try Journal.postpone(token, because: words, in: store)
        }
      }
      if case .refused(let words) = answer {
        logger.warning(
          "Apple does not unlink a merchant token",
          metadata: ["merchant": .string(token.merchant.rawValue), "reason": .string(words)])
      }
    } catch {
      logger.error("an unlinked merchant token cannot be noted", metadata: ["reason": .string("\(error)")])
    }
  }

  /// Asks in the merchant's name. On the platform's own pages a merchant may have another one at Apple: where Apple does
  /// not know the first name's event or token, it is asked in the other.
  private func asking<Value: Sendable>(
    _ merchant: MerchantID,
    _ call: (MerchantTokenCalls, MerchantIdentifier) async -> MerchantTokenCalls.Answer<Value>
  ) async -> MerchantTokenCalls.Answer<Value> {
    var last = MerchantTokenCalls.Answer<Value>.unavailable("no identity certificate on this server")
    var asked: Set<MerchantIdentifier> = []
    guard let served = merchants.current[merchant] else { return last }
    for access in [served.appleAccess(onHostedPage: false), served.appleAccess(onHostedPage: true)] {
      let name = access.partner.map { MerchantIdentifier($0) } ?? served.folder.merchant.identifier
      guard let validator = access.validator, asked.insert(name).inserted else { continue }
      last = await call(validator.merchantTokens, name)
      guard case .refused = last else { return last }
    }
    return last
  }

  private func note(
    _ state: MerchantTokenEventState, _ event: MerchantTokenEvent,
    _ answer: MerchantTokenCalls.Answer<MerchantTokenNews>
  ) {
    var metadata: Logger.Metadata = [
      "merchant": .string(event.merchant.rawValue), "event": .string(event.id), "state": .string(state.rawValue),
    ]
    switch answer {
    case .given(let news): metadata["type"] = .string(news.type)
    case .refused(let words), .unavailable(let words): metadata["reason"] = .string(words)
    }
    switch state {
    case .received: logger.debug("Apple is asked again about a notification", metadata: metadata)
    case .applied, .unknown: logger.info("a notification of Apple is settled", metadata: metadata)
    case .refused: logger.warning("Apple knows no such notification: nothing was changed", metadata: metadata)
    case .expired: logger.error("Apple never said what a notification is about", metadata: metadata)
    }
  }

  /// - Returns: whether there may be more.
  private func forget() async -> Bool {
    do {
      return try await database.write {
        try Journal.forgetMerchantTokenEvents(before: $0.now.adding(.zero - Self.life), atMost: 200, in: $0)
      } == 200
    } catch {
      logger.error("old notifications cannot be removed", metadata: ["reason": .string("\(error)")])
      return false
    }
  }
}

extension MerchantTokenService {
  init(_ parts: Composition) {
    (journal, merchants) = (parts.journal, parts.merchants)
    (random, scheduler, logger) = (parts.runtime.random, parts.runtime.scheduler, parts.runtime.logger)
    rounds = parts.merchantTokenRounds
  }
}
