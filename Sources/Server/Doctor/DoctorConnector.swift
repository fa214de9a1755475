import Acquiring
import Administration
import Settings

extension DoctorCheck {
  static let connectorGroup = [connectorCredentials, connectorCircuit, routeKnown]

  static let connectorCredentials = DoctorCheck(
    "connector_credentials", "The provider accepts the route's credentials.",
    meaning: "Every payment on the route is refused for configuration.",
    remedy: "Write the credential of this account into its file in the connector's folder, then `tender reload`.")
  static let connectorCircuit = DoctorCheck(
    "connector_circuit", "Calls to the provider are not suspended.",
    meaning: "The provider does not answer: payments go to the next route, or are refused with 503.",
    remedy: "Look at the provider's status page and at the network; calls resume by themselves.")
  static let routeKnown = DoctorCheck(
    "route_known", "Every route that a merchant's rules name exists.",
    meaning: "The rule is skipped: payments take the next route, or none.",
    remedy:
      "Make the connector's folder, or correct `routes` in merchant.yaml; `tender route explain` shows the choice.")
}

extension Doctor {
  func connectorFindings() -> [DoctorFinding] { credentials() + circuits() + rules() }

  private func credentials() -> [DoctorFinding] {
    let check = DoctorCheck.connectorCredentials
    guard let facts, facts.isRunning else {
      return subject.routes.map { check.skipped($0, noAnswer) }
    }
    return facts.routes.map { route in
      switch route.credentials {
      case "accepted": check.ok(route.route, "accepted")
      case "not_offered": check.skipped(route.route, "the provider has no call that moves no money")
      case "refused": check.failed(route.route, route.reason ?? "refused")
      default: check.notReachable(route.route, route.reason ?? route.credentials)
      }
    }
  }

  private func circuits() -> [DoctorFinding] {
    guard let facts, facts.isRunning else { return [] }
    return facts.routes.map { route in
      DoctorCheck.connectorCircuit.require(
        !facts.openCircuits.contains(route.route), route.route, ok: "closed",
        failed: "calls are suspended, because the provider does not answer")
    }
  }

  private func rules() -> [DoctorFinding] {
    subject.merchants.flatMap { merchant in
      (merchant.settings?.routes ?? []).map { rule in
        DoctorCheck.routeKnown.require(
          subject.routes.contains("\(rule.route)"), "\(merchant.id) \(rule.route)", ok: "there",
          failed: "there is no route \(rule.route); there are \(subject.routes.joined(separator: ", "))")
      }
    }
  }
}
