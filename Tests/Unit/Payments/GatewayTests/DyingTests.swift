import Acquiring
import Gateway
import Ledger
import PaymentTesting
import Synchronization
import TenderPayments
import TenderTesting
import Testing

/// What dies at a crash point.
struct Died: Error {}

func dying(at point: CrashPoint) -> CrashPoints {
  CrashPoints { if $0 == point { throw Died() } }
}

/// A process that dies at every named point, and one that comes after it. Whatever the point: one authorization is
/// asked for, and the balances agree with the acquirer.
@Suite struct `A process that dies` {
  @Test(arguments: CrashPoint.allCases.filter { !$0.rawValue.hasPrefix("recovery") && !$0.rawValue.hasPrefix("event") })
  func `leaves nothing that the next one cannot resolve`(point: CrashPoint) async throws {
    let shop = try await Shop(crashes: dying(at: point))
    let ledger = Mutex<[AttemptReference: AcquirerAnswer]>([:])
    let keeping: FakeAcquirer.Responder = { reference, _ in
      ledger.withLock { ledger in
        let answer = ledger[reference] ?? FakeAcquirer.approval(reference)
        ledger[reference] = answer
        return answer
      }
    }
    shop.fake.authorizes(keeping)
    shop.fake.captures(keeping)
    shop.fake.voids(keeping)
    shop.fake.refunds(keeping)
    shop.fake.finds { reference in ledger.withLock { $0[reference] }.map(Inquiry.answer) ?? .notFound }
    let order = Shop.order()
    _ = try? await shop.gateway.authorize(order, with: shop.token())
    if let payment = try await shop.journal.payment(of: order.id)?.id {
      _ = try? await shop.gateway.capture(payment, .eur(1000))
      _ = try? await shop.gateway.void(payment)
      _ = try? await shop.gateway.refund(payment, .eur(100))
    }
    let next = shop.reborn()
    for _ in 0..<4 {
      shop.clock.advance(.seconds(70))
      _ = try await next.recover()
    }
    #expect(shop.fake.authorizations.count <= 1)
    #expect(try await shop.journal.openOutcomes().operations == 0)
    let audit = try await shop.journal.verifyAudit()
    #expect(audit.isIntact, "\(audit.violations)")
    guard let payment = try await shop.journal.payment(of: order.id) else { return }
    let done = try await shop.journal.operations(of: payment.id)
    #expect(done.allSatisfy { !$0.state.isOpen })
    let first = try #require(done.first { $0.kind == .authorize }).reference
    let held = ledger.withLock { $0.keys.contains(first) }
    #expect(payment.status.isLive == held)
  }
}
