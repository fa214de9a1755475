import Settings
package import TenderPayments

/// Walks the chain from the configuration to Apple's gateway and says of each link what is wrong, what that means and
/// what to do.
///
/// All that it looks at is handed in, so that tests hold the clock, the network, the resolver and the files.
package struct Doctor: Sendable {
  let subject: DoctorSubject
  let system: DoctorSystem
  /// What only the process that holds the store knows; nil where it does not say, or the store cannot be opened.
  let facts: ServerFacts?
  /// Why there are no ``facts``.
  let factsProblem: String
  /// What a server that runs answered in place of what it was asked; nil where it did not refuse.
  let serverRefusal: String?
  /// Why the secrets of the merchants in the store cannot be opened; nil where they can, or are not looked at.
  let secretsProblem: String?
  /// The moment at which validity is judged: now, or `--until`.
  let until: Timestamp

  var now: Timestamp { system.clock.now() }
  var configuration: ServerConfiguration { subject.configuration }
  var isSimulated: Bool { configuration.environment == .simulated }
  /// Whether the first start makes the store.
  var isStoreNew: Bool { configuration.store.path.map { system.machine.mode($0) == nil } ?? false }
  /// Why nothing is known that only a running server knows.
  var noAnswer: String {
    serverRefusal == nil ? "no server runs on the store" : "the server that runs does not say"
  }

  package init(
    _ subject: DoctorSubject, _ system: DoctorSystem, facts: ServerFacts?, factsProblem: String? = nil,
    serverRefusal: String? = nil, secretsProblem: String? = nil, until: Timestamp? = nil
  ) {
    (self.subject, self.system, self.facts, self.serverRefusal) = (subject, system, facts, serverRefusal)
    self.factsProblem = factsProblem ?? serverRefusal ?? "the store is not open"
    self.secretsProblem = secretsProblem ?? facts?.secretsProblem
    self.until = until ?? system.clock.now()
  }

  /// Every check, in the order in which they need each other. Nothing is changed, and no money moves.
  package func run() async -> DoctorReport {
    var findings = configurationFindings() + fileFindings() + (await runOnMerchants().checks)
    findings += await networkFindings() + (await publicAddressFindings())
    findings += connectorFindings()
    findings += await webhookFindings()
    findings += await mailFindings()
    findings += await signInFindings()
    return DoctorReport(
      in: configuration.environment, checks: findings + storeFindings() + databaseFindings() + machineFindings())
  }

  /// The checks of the merchants, of their certificates and domains, and of Apple's side of them.
  package func runOnMerchants() async -> DoctorReport {
    var findings = merchantFindings() + certificateFindings() + keyRingFindings() + selfTestFindings()
    findings += await domainFindings()
    findings += await associationFindings()
    return DoctorReport(checks: findings + (await appleFindings()))
  }
}

extension DoctorCheck {
  /// Every check, by group. docs/doctor.md has a row for each.
  package static let all: [DoctorCheck] = [
    configurationGroup, fileGroup, merchantGroup, certificateGroup, keyRingGroup, selfTestGroup, domainGroup,
    associationGroup, appleGroup, networkGroup, publicAddressGroup, connectorGroup, webhookGroup, mailGroup,
    signInGroup, storeGroup, databaseGroup, machineGroup,
  ].flatMap(\.self)

  /// The table of docs/doctor.md.
  package static var page: String {
    let rows = all.map { "| `\($0.code)` | \($0.claim) | \($0.meaning) | \($0.remedy) |" }
    return (["| code | holds when all is well | otherwise | remedy |", "|---|---|---|---|"] + rows)
      .joined(separator: "\n") + "\n"
  }
}
