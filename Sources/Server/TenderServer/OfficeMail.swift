import Administration
import BackOffice
import Mail
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import Webhooks

/// The endpoints of the running server, which are replaced when merchants are read again.
struct ServerWebhooks: WebhookUseCases {
  let dispatcher: WebhookDispatcher
  let configured: WebhookEndpoints
  let clock: WallClock

  init(_ parts: Composition) {
    (dispatcher, configured, clock) = (parts.dispatcher, parts.webhookEndpoints, parts.runtime.clock)
  }

  func endpoints(of merchant: MerchantID) -> [OfficeEndpoint] {
    (configured[merchant] ?? []).map { OfficeEndpoint(name: $0.id, url: $0.url) }
  }

  func sendTest(to endpoint: OfficeEndpoint, of merchant: MerchantID) async throws -> String? {
    try await dispatcher.sendTest(to: endpoint.url, of: merchant, at: clock.now())
  }
}
