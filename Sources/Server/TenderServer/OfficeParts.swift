import Acquiring
import Administration
import Connectors
import BackOffice
import Doctor
import Gateway
import HTTPServing
import Hummingbird
import Ledger
import Logging
import MerchantIdentity
import NIOCore
import Orders
import Settings
import Storage
import StrictJSON
import TenderPayments

/// The back office of a running server: what it is handed.
struct OfficeParts: Sendable {
  let parts: Composition
  let administration: PaymentAdministration
  /// Reads the merchants again after a change.
  let reload: @Sendable () async throws -> Void
  /// The merchants as they were read last.
  let served: @Sendable () -> ServedMerchants

  init(
    _ parts: Composition, reload: @escaping @Sendable () async throws -> Void,
    served: @escaping @Sendable () -> ServedMerchants
  ) {
    (self.parts, self.served) = (parts, served)
    self.reload = { [logger = parts.runtime.logger] in
      do { try await reload() } catch {
        // It may name another merchant.
        logger.error("the merchants were not read again", metadata: ["reason": .string("\(error)")])
        throw OfficeRefusal.refused(
          "The running server goes on with the merchants that it had. Its log says why; the operator of the server can "
            + "read it.")
      }
    }
    administration = PaymentAdministration(
      gateway: parts.gateway, journal: parts.journal, random: parts.runtime.random)
  }

  /// Reads the merchants again, and waits until the other servers on the store have done so too: Apple's call may come to
  /// any of them.
  private var reloadEverywhere: @Sendable () async throws -> Void {
    let (reload, isShared, scheduler) = (reload, parts.database.isShared, parts.runtime.scheduler)
    return {
      try await reload()
      if isShared { try await scheduler.sleep(MerchantPolling.interval * 2) }
    }
  }

  func office() -> BackOffice {
    let (configuration, runtime) = (parts.configuration, parts.runtime)
    let merchantCalls = MerchantAdministration(
      configuration, parts.database, clock: runtime.clock, random: runtime.random)
    let merchants = ServerMerchants(
      administration: merchantCalls,
      apple: AppleRegistration(
        administration: merchantCalls, network: runtime.network,
        checks: CallsUnderWay(parts.budget.domainChecks, ofMerchant: 4), reload: reloadEverywhere),
      reload: reload, served: served)
    var services = OfficeServices(
      payments: ServerPayments(administration: administration), merchants: merchants,
      reconciliation: Reconciliation(parts.journal, routes: parts.gateway.routes),
      webhooks: ServerWebhooks(parts), health: { [parts] in parts.officeHealth })
    if let store = parts.traces?.store { services.sequences = { store.sequences } }
    return BackOffice(configuration, services, parts.database, clock: runtime.clock, random: runtime.random)
  }
}

/// The use cases of `tender payment`.
private struct ServerPayments: PaymentUseCases {
  let administration: PaymentAdministration

  func perform(
    _ verb: PaymentVerb, on payment: PaymentID, amount: String?, isFinal: Bool, key: String,
    adding addition: ReservationAddition?
  ) async throws -> String {
    func once() async throws -> String {
      try await administration.perform(
        PaymentAdministration.Operation(verb), on: payment, amount: amount, isFinal: isFinal, key: key,
        adding: addition
      ).outcome
    }
    return try await OfficeRefusal.translating { () async throws -> String in
      for _ in 0..<Self.repeats {
        do { return try await once() } catch GatewayError.callInProgress {
          try await Task.sleep(for: .milliseconds(200))
        } catch let problem as Problem where problem.code == "idempotency_key_reused" {
          var refusal = OfficeRefusal.refused(
            "This form was sent before, with another amount. Look at what was done, and send it again if you mean more.",
            at: "amount")
          refusal.isKeySpent = true
          throw refusal
        }
      }
      return try await once()
    }
  }

  /// A second click, or another operator at the same moment, waits so often for the answer of the first call.
  private static let repeats = 20

  func resolve(
    _ payment: PaymentID, as resolution: Resolution, operation: AttemptReference?, note: String
  ) async throws -> String {
    try await OfficeRefusal.translating {
      try await administration.resolve(payment, as: resolution, operation: operation, note: note).outcome
    }
  }
}

extension PaymentAdministration.Operation {
  fileprivate init(_ verb: PaymentVerb) {
    self =
      switch verb {
      case .capture: .capture
      case .void: .void
      case .refund: .refund
      case .inquire: .inquire
      case .acknowledge: .acknowledge
      }
  }
}

extension Composition {
  fileprivate var officeHealth: OfficeHealth {
    OfficeHealth(
      routes: gateway.routes.routes.map { .init(name: $0.name, isSuspended: breakers[$0.name]?.isOpen ?? false) },
      findings: doctor.findings.filter { $0.status == .failed || $0.status == .warning }.map {
        .init(
          code: $0.code, subject: $0.subject, meaning: $0.finding, remedy: $0.remedy, isError: $0.status == .failed)
      })
  }
}
