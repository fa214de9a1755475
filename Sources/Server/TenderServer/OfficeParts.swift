import Acquiring
import Administration
import BackOffice
import Doctor
import Gateway
import Ledger
import Logging
import MerchantIdentity
import Orders
import Settings
import Storage
import TenderPayments

/// The back office of a running server: what it is handed.
struct OfficeParts: Sendable {
  let parts: Composition
  let merchants: MerchantAdministration

  init(_ parts: Composition) {
    self.parts = parts
    let (runtime, isShared) = (parts.runtime, parts.database.isShared)
    let reload: @Sendable () async throws -> Void = { [merchants = parts.merchants, logger = runtime.logger] in
      do { try await merchants.reloadIfChanged() } catch {
        // It may name another merchant.
        logger.error("the merchants were not read again", metadata: ["reason": .string("\(error)")])
        throw OfficeRefusal.refused(
          "The running server goes on with the merchants that it had. Its log says why; the operator of the server can "
            + "read it.")
      }
    }
    let server = LiveServer(
      network: runtime.network, checks: CallsUnderWay(parts.budget.domainChecks, ofEach: 4),
      served: { [merchants = parts.merchants] in merchants.current.served },
      reload: reload,
      // Apple's call may come to any of them.
      reloadEverywhere: { [scheduler = runtime.scheduler] in
        try await reload()
        if isShared { try await scheduler.sleep(MerchantPolling.interval * 2) }
      })
    merchants = MerchantAdministration(
      parts.configuration, parts.database, server: server, clock: runtime.clock, random: runtime.random)
  }

  func office() -> BackOffice {
    let (configuration, runtime) = (parts.configuration, parts.runtime)
    var services = OfficeServices(
      payments: PaymentAdministration(gateway: parts.gateway, journal: parts.journal, random: runtime.random),
      merchants: merchants, reconciliation: parts.reconciliation,
      webhooks: parts.dispatcher, health: { [parts] in parts.officeHealth })
    let looks = SharedRuns<Void>()
    services.checkAgain = { [parts] in
      try await looks.output {
        parts.doctor.note(try await ServerDoctor(parts).run(isDeep: false), at: parts.runtime.clock.now())
      }
    }
    services.openID = OpenIDProvider(
      configuration.office.openID, sender: runtime.network.signIn, clock: runtime.clock)
    if let traces = parts.traces { services.sequences = { traces.sequences } }
    return BackOffice(configuration, services, parts.database, clock: runtime.clock, random: runtime.random)
  }
}

extension Composition {
  fileprivate var officeHealth: OfficeHealth {
    let latest = doctor.latest
    return OfficeHealth(
      routes: gateway.routes.routes.map { .init(name: $0.name, isSuspended: breakers[$0.name]?.isOpen ?? false) },
      findings: latest.findings.filter { $0.status == .failed || $0.status == .warning }.map {
        .init(
          code: $0.code, subject: $0.subject, meaning: $0.finding, remedy: $0.remedy, isError: $0.status == .failed)
      }, checkedAt: latest.time)
  }
}
