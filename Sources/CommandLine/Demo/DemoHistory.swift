import Administration
import CommandSupport
import Foundation
import HTTPTransport
import Logging
import ServiceLifecycle
import Settings
import StrictJSON
import Synchronization
import TenderPayments
import TenderServer

/// A clock that is behind the system's until it has been advanced to it.
final class CatchingUpClock: Sendable {
  private let behind: Mutex<Duration>

  init(behind duration: Duration) { behind = Mutex(duration) }

  var wall: WallClock { WallClock { WallClock.system.now().adding(.zero - self.behind.withLock(\.self)) } }

  /// It is this time, or later if it was later already; never later than the system's clock.
  func advance(to time: Timestamp) {
    behind.withLock { $0 = min($0, max(.zero, WallClock.system.now().since(time))) }
  }
}

/// A month of payments, each paid through the sandbox, so that the back office's charts and search show something.
struct DemoHistory: Sendable {
  static let days: Int64 = 31
  private static let fewestADay: Int64 = 4

  /// A shop that took part in the month.
  struct Shop: Sendable {
    let origin: String
    /// The merchant's folder, for its API key.
    let folder: String
  }

  let clock: CatchingUpClock
  let serverURL: String
  let sandboxURL: String
  /// The last one sells least.
  let shops: [Shop]
  let store: StoreAccess
  let sender: HTTPSender

  /// What happens to a payment after it was made.
  private enum Sequel { case none, refundHalf, refund }

  private struct Entry {
    let time: Timestamp
    let card: String
    /// In minor units.
    let amount: Int64
    let isOfLastShop: Bool
    let isCollected: Bool
    let sequel: Sequel

    init(at time: Timestamp, number: Int) {
      self.time = time
      card = Self.cards[number % Self.cards.count]
      amount = Int64(900 + number * 377 % 4_600)
      isOfLastShop = number % 6 == 4
      isCollected = isOfLastShop || number % 3 == 0
      sequel = number % 17 == 3 ? .refundHalf : number % 23 == 5 ? .refund : .none
    }

    /// Two of eleven are declined.
    private static let cards = [
      "visa-debit", "mastercard-credit", "visa-debit", "amex-credit", "mastercard-debit", "visa-debit",
      "visa-insufficient-funds", "mastercard-credit", "visa-debit", "mastercard-debit", "amex-do-not-honour",
    ]
  }

  /// At noon and in the evening, more of them at the end of the week.
  private static func entries(until now: Timestamp) -> [Entry] {
    let today = now.seconds / 86_400
    let all = (0..<days).flatMap { day in
      let count = fewestADay + (today + day) % 7 / 5 * 2
      return (0..<count).map { entry(day, $0, today: today) }
    }
    return all.sorted { $0.time < $1.time }
  }

  private static func entry(_ day: Int64, _ place: Int64, today: Int64) -> Entry {
    let hours: [Int64] = [12, 13, 18, 19, 20, 21]
    let number = day * 7 + place
    let second = hours[Int(place % 6)] * 3_600 + number * 37 % 3_600
    return Entry(at: Timestamp(seconds: (today - days + day) * 86_400 + second), number: Int(number))
  }

  /// Pays in the order of time. The clock has caught up when it returns.
  func live() async throws {
    for entry in Self.entries(until: WallClock.system.now()) {
      clock.advance(to: entry.time)
      try await pay(entry)
    }
    clock.advance(to: WallClock.system.now())
    try await awaitWebhooks()
  }

  /// Until the shops have received theirs, or for half a minute.
  private func awaitWebhooks() async throws {
    for _ in 0..<300 {
      let waiting: [DeliveryReport] = try await store.askServer("GET", "/webhooks/deliveries?state=waiting&limit=1")
      if waiting.isEmpty { return }
      try await Task.sleep(for: .milliseconds(100))
    }
  }

  private func pay(_ entry: Entry) async throws {
    let shop = shops[entry.isOfLastShop ? shops.count - 1 : 0]
    var payment = SandboxPayment(
      page: JSONClient(serverURL, sender: sender, headers: [HTTPField("Origin", shop.origin)]),
      shop: SigningShop(
        key: try MerchantFolder.apiKey(at: shop.folder), server: serverURL, sender: sender, clock: clock.wall),
      sandbox: JSONClient(sandboxURL, sender: sender), origin: shop.origin, isQuiet: true)
    try await payment.run(plan(entry))
    guard entry.sequel != .none, payment.isGood else { return }
    clock.advance(to: clock.wall.now().adding(.seconds(5_400)))
    try await refund(entry)
  }

  private func plan(_ entry: Entry) -> SandboxPayment.Plan {
    .init(
      card: entry.card, contact: "gb-london", method: nil, coupon: nil, amount: entry.amount,
      collects: entry.isCollected, declinesFirst: false, cancels: false, replays: false, isThroughProvider: true,
      tokenFile: nil)
  }

  /// Refunds the newest payment.
  private func refund(_ entry: Entry) async throws {
    let listing: PaymentListing = try await store.askServer("GET", "/payments?limit=1")
    guard let newest = listing.payments.first, newest.captured > 1, let currency = Currency(code: newest.currency)
    else { return }
    let half = Amount(minorUnits: newest.captured / 2, currency: currency)
    let amount = entry.sequel == .refundHalf ? "amount=\(half.decimalString.inQuery)&" : ""
    let _: PaymentReport = try await store.askServer(
      "POST", "/payments/\(newest.id)/refund?\(amount)key=\(RandomBytes.system.hex(8))")
  }
}

extension Service {
  /// Runs while the work lasts, and ends by itself.
  func during(logger: Logger, _ work: () async throws -> Void) async throws {
    let group = ServiceGroup(
      configuration: .init(services: [.init(service: self, serviceName: "history")], logger: logger))
    let run = Task { try await group.run() }
    let result: Result<Void, any Error>
    do { result = .success(try await work()) } catch { result = .failure(error) }
    await group.triggerGracefulShutdown()
    _ = await run.result
    try result.get()
  }
}
