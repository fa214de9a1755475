import Settings
import TenderPayments
import Webhooks

extension DoctorCheck {
  static let webhookGroup = [webhookAddress, webhookTLS, webhookDead, webhookLate]

  static let webhookAddress = DoctorCheck(
    "webhook_address", "The host of a webhook resolves to an address that is allowed.",
    meaning: "The merchant's server is not notified of payments.",
    remedy: "Correct the URL in merchant.yaml; `webhooks.allowPrivateAddresses` permits hosts of your own network.")
  static let webhookTLS = DoctorCheck(
    "webhook_tls", "The webhook's server has a TLS certificate that the system trusts.",
    meaning: "Nothing is sent to it.", remedy: "Use a certificate of a public authority, and send the whole chain.")
  static let webhookDead = DoctorCheck(
    "webhook_dead_letters", "No webhook was given up.", meaning: "The merchant's server lacks events of payments.",
    remedy: "`tender webhooks list` shows them; mend the merchant's server, then `tender webhooks replay`.")
  static let webhookLate = DoctorCheck(
    "webhook_late", "No webhook has been waiting for an hour.",
    meaning: "The merchant's server learns of payments late.",
    remedy: "Look at the merchant's server: `tender webhooks list --state waiting` shows what it answered.")
}

extension Doctor {
  func webhookFindings() async -> [DoctorFinding] {
    let parts = subject.merchants.compactMap(\.settings).flatMap { settings in
      settings.webhooks.enumerated().map { EndpointName.split($1, at: $0).url }
    }
    var findings: [DoctorFinding] = []
    for url in parts { findings += await webhook(url) }
    return findings + backlog()
  }

  private func webhook(_ url: String) async -> [DoctorFinding] {
    let host: String
    do throws(DestinationRefusal) {
      host = try DestinationGuard.host(of: url, allowsPlain: configuration.allowsPrivateWebhooks)
    } catch {
      return [DoctorCheck.webhookAddress.failed(url, error.words)]
    }
    let addresses = await system.network.resolve(host)
    guard !addresses.isEmpty else { return [DoctorCheck.webhookAddress.failed(url, "\(host) has no address")] }
    if let words = refusal(of: host, at: addresses) { return [DoctorCheck.webhookAddress.failed(url, words)] }
    let resolved = DoctorCheck.webhookAddress.ok(url, addresses.list)
    return [resolved] + (url.hasPrefix("https://") ? [await tls(url, host)] : [])
  }

  private func tls(_ url: String, _ host: String) async -> DoctorFinding {
    let port = url.dropFirst("https://".count).prefix { $0 != "/" }.split(separator: ":").last.flatMap { Int($0) }
    do {
      let seen = try await system.network.handshake(host, port ?? 443)
      return DoctorCheck.webhookTLS.require(
        seen.trustProblem == nil, url, ok: seen.version, failed: seen.trustProblem ?? "")
    } catch {
      return DoctorCheck.webhookTLS.notReachable(url, "\(error)")
    }
  }

  private func backlog() -> [DoctorFinding] {
    guard let store = facts?.store else { return [] }
    let dead = DoctorCheck.webhookDead.require(
      store.deadWebhooks == 0, "store", ok: "none",
      failed: store.deadWebhooks == 1 ? "1 webhook was given up" : "\(store.deadWebhooks) webhooks were given up")
    guard store.oldestWebhookSeconds > 3_600 else { return [dead, DoctorCheck.webhookLate.ok("store", "none")] }
    return [
      dead,
      DoctorCheck.webhookLate.warning(
        "store", "\(store.waitingWebhooks) wait, the oldest for \(store.oldestWebhookSeconds / 60) minutes"),
    ]
  }
}
