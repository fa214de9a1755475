import DirectWire
import Dispatch
import Foundation
import Gateway
import JWTKit
import Ledger
import Orders
import Storage
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// What became of one of many calls.
private enum Fate: Sendable, Equatable {
  case done
  /// With this code.
  case refused(String)

  init(_ work: () async throws -> some Any) async throws {
    do {
      _ = try await work()
      self = .done
    } catch let error as OrderError {
      self = .refused(error.code.rawValue)
    } catch let error as GatewayError { self = .refused(error.code) }
  }
}

@Suite struct `Sixty-four calls for baskets at two processes` {
  @Test(arguments: StoreEngineUnderTest.present) func `pay each basket or cancel it, never both`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let shop = try await SharedShop(engine)
    let shown = try await shop.baskets(16, price: 1_290)
    let fates = try await shop.atOnce { number, orders in
      let one = shown[number % 16]
      return try await Fate {
        if number < 32 { return try await orders.cancel(one.basket, of: Shop.merchant) }
        _ = try await orders.place(one.payment, of: Shop.merchant, before: .after(TestRun.whole))
      }
    }
    let allowed: [Fate] = [
      .done, .refused("basket_placed"), .refused("basket_cancelled"), .refused("payment_in_progress"),
    ]
    #expect(fates.allSatisfy(allowed.contains), "\(fates)")
    for one in shown {
      let outcome = try await shop.order(0).outcome(one.basket, of: Shop.merchant)
      #expect((outcome.state == .cancelled) == (outcome.payment == nil), "\(outcome)")
    }
    let cancelled = try await shop.databases[0].read { try $0.rows("SELECT id FROM baskets WHERE cancelled = 1") }
    #expect(shop.acquirer.authorizations.count + cancelled.count == 16)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `pay what was shown, or give the basket other contents`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let shop = try await SharedShop(engine)
    let shown = try await shop.baskets(16, price: 1_290)
    let fates = try await shop.atOnce { number, orders in
      let (place, one) = (number % 16, shown[number % 16])
      return try await Fate {
        if number < 32 {
          _ = try await orders.put(SharedShop.document(place, price: 1_490), as: one.basket, of: Shop.merchant)
          return
        }
        _ = try await orders.place(one.payment, of: Shop.merchant, before: .after(TestRun.whole))
      }
    }
    let allowed: [Fate] = [.done, .refused("basket_placed"), .refused("quote_stale"), .refused("payment_in_progress")]
    #expect(fates.allSatisfy(allowed.contains), "\(fates)")
    for one in shown {
      let outcome = try await shop.order(1).outcome(one.basket, of: Shop.merchant)
      let total = try await shop.order(1).basket(one.basket, of: Shop.merchant).total.amount
      #expect(total == (outcome.payment == nil ? 1_490 : 1_290), "\(outcome)")
    }
  }

  @Test(arguments: StoreEngineUnderTest.present) func `show no price of contents that were replaced`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let shop = try await SharedShop(engine)
    if engine == .postgres { try await shop.pauseAfterInserts(into: "quotes") }
    for number in 0..<16 {
      try await shop.order(0).put(
        SharedShop.document(number, price: 1_000), as: SharedShop.basket(number), of: Shop.merchant)
    }
    _ = try await shop.atOnce { number, orders in
      let id = SharedShop.basket(number % 16)
      return try await Fate {
        guard number < 32 else { return try await orders.sheet(id, of: Shop.merchant).quote.total }
        let price = Int64(1_000 + number)
        try await orders.put(SharedShop.document(number % 16, price: price), as: id, of: Shop.merchant)
        return Amount.eur(price)
      }
    }
    #expect(try await shop.staleQuotes() == 0)
  }

  @Test(arguments: StoreEngineUnderTest.present) func `give one id to one of two merchants`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let shop = try await SharedShop(engine)
    let id = SharedShop.basket(1)
    let merchants = [MerchantID("harbour"), MerchantID("kitsune")]
    let fates = try await shop.atOnce { number, orders in
      let document = SharedShop.document(1, price: number.isMultiple(of: 2) ? 1_000 : 2_000)
      return (
        number % 2, try await Fate { try await orders.put(document, as: id, of: merchants[number % 2]) }
      )
    }
    let owner = try await shop.order(0).merchant(of: id)
    for (number, fate) in fates {
      #expect(fate == (merchants[number] == owner ? .done : .refused("basket_id_taken")))
    }
    let total = try await shop.order(1).basket(id, of: owner).total.amount
    #expect(total == (owner == merchants[0] ? 1_000 : 2_000))
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent), arguments: [true, false])
  func `let neither a cancellation nor other contents overtake a claim that is under way`(
    _ isCancellation: Bool
  ) async throws {
    let shop = try await SharedShop(.postgres)
    let shown = try await shop.shown(0, price: 1_290)
    let gate = try await StatementGate(shop.place)
    let (paying, changing) = (
      shop.service(over: try await shop.patientDatabase()), shop.service(over: try await shop.patientDatabase())
    )
    let (payment, change) = try await gate.stopping("AFTER INSERT ON orders") {
      let payment = Task { try await paying.place(shown.payment, of: Shop.merchant, before: .after(TestRun.whole)) }
      try await gate.untilStopped(1)
      let change = Task {
        try await Fate {
          if isCancellation { return try await changing.cancel(shown.basket, of: Shop.merchant) }
          try await changing.put(SharedShop.document(0, price: 1_490), as: shown.basket, of: Shop.merchant)
        }
      }
      try await shop.untilSomebodyWaits()
      return (payment, change)
    }
    #expect(try await payment.value.status.isLive)
    #expect(try await change.value == .refused("basket_placed"))
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `keep no quote of contents that are replaced meanwhile`() async throws {
    let shop = try await SharedShop(.postgres)
    let id = SharedShop.basket(0)
    let gate = try await StatementGate(shop.place)
    let (showing, changing) = (
      shop.service(over: try await shop.patientDatabase()), shop.service(over: try await shop.patientDatabase())
    )
    try await changing.put(SharedShop.document(0, price: 1_290), as: id, of: Shop.merchant)
    // The database runs these two in any order, and each leaves the basket locked.
    let (sheet, change) = try await gate.stopping("BEFORE INSERT ON quotes", "BEFORE UPDATE ON baskets") {
      let sheet = Task { try await showing.sheet(id, of: Shop.merchant).quote.total }
      try await gate.untilStopped(1)
      let change = Task {
        _ = try await changing.put(SharedShop.document(0, price: 1_490), as: id, of: Shop.merchant)
      }
      try await shop.untilSomebodyWaits()
      return (sheet, change)
    }
    _ = try await (sheet.value, change.value)
    #expect(try await shop.staleQuotes() == 0)
  }

  @Test(.enabled(if: PostgresUnderTest.isPresent))
  func `hold no audit chain while a payment waits for its basket`() async throws {
    let shop = try await SharedShop(.postgres)
    let patient = try await shop.patientDatabase()
    let shown = try await shop.shown(0, price: 1_290)
    let gate = DispatchSemaphore(value: 0)
    let holder = try await hold(shown.basket, in: patient, until: gate)
    let waiting = Task {
      try await shop.service(over: patient).place(shown.payment, of: Shop.merchant, before: .after(TestRun.whole))
    }
    do {
      defer { gate.signal() }
      try await shop.untilSomebodyWaits()
      // Ten times as many as there are chains: one would meet the chain of the payment that waits.
      let journal = Journal(shop.databases[0])
      try await withThrowingTaskGroup(of: Void.self) { group in
        for first in 0..<8 {
          group.addTask {
            for number in stride(from: first, to: 640, by: 8) {
              _ = try await journal.claim(.sample("order-\(number)"), spending: .sample(number), card: .sample)
            }
          }
        }
        try await group.waitForAll()
      }
    }
    try await holder.value
    #expect(try await waiting.value.status.isLive)
    await patient.close()
  }

  /// A transaction that has locked a basket and stays open.
  private func hold(
    _ basket: BasketID, in database: Database, until gate: DispatchSemaphore
  ) async throws -> Task<Void, any Error> {
    let (begun, begin) = AsyncStream.makeStream(of: Void.self)
    let task = Task {
      try await database.write { store in
        _ = try store.lockedRow("SELECT id FROM baskets WHERE id = $1", .text(basket.rawValue))
        begin.finish()
        gate.wait()
      }
    }
    for await _ in begun {}
    return task
  }
}

@Suite struct `Guest tokens of several nodes` {
  @Test(arguments: StoreEngineUnderTest.present)
  func `are checked with one key set, whichever node has signed them with whichever key`(
    _ engine: StoreEngineUnderTest
  ) async throws {
    let shop = try await SharedShop(engine)
    let keys = (0..<4).map { _ in ES256PrivateKey().pemRepresentation }
    // 64 nodes start at once; a key is about to take another one's place.
    let issuers = try await withThrowingTaskGroup(of: GuestTokenIssuer.self) { group in
      for number in 0..<64 {
        group.addTask {
          try await GuestTokenIssuer(
            privateKeyPEM: keys[number % 4], issuer: "https://pay.example",
            database: shop.databases[number % shop.databases.count])
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    var sets: Set<String> = []
    for issuer in issuers { sets.insert(try await issuer.keySet) }
    #expect(sets.count == 1 && sets.first?.components(separatedBy: "\"kid\"").count == 5)
    let published = try await JWTKeyCollection().add(jwksJSON: try #require(sets.first))
    for signer in issuers.prefix(8) {
      let text = try signer.token(for: OrderID("o-1"), of: Shop.basket, guest: "g-1", issued: Shop.noon)
      _ = try await published.verify(text, as: AnyClaims.self)
      for reader in issuers.prefix(8) { #expect(await reader.order(in: text) == OrderID("o-1")) }
    }
  }
}

private struct AnyClaims: JWTPayload {
  let sub: String
  func verify(using key: some JWTAlgorithm) async throws {}
}
