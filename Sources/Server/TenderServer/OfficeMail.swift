import Administration
import BackOffice
import Mail
import MerchantIdentity
import Settings
import Storage
import TenderPayments
import Webhooks

/// Sends an invitation to a user whose name is an e-mail address. The link lets in who has it, so the text is sealed.
struct OfficeMail: InvitationMail {
  let brand: MailBrand
  /// Nil while the store has none.
  let keys: @Sendable () async throws -> MasterKeys?
  let random: RandomBytes

  func invitation(
    of name: String, by person: String, link: String, until end: Timestamp, isFirst: Bool
  ) async throws -> (@Sendable (Transaction) throws -> Void)? {
    guard let address = MailAddress(name), let keys = try await keys() else { return nil }
    let mail = AccountMail(brand: brand, keys: keys, random: random)
    return { store in
      if isFirst {
        try mail.invite(address, from: person, link: link, until: end, in: store)
      } else {
        try mail.resetPassword(of: address, link: link, until: end, in: store)
      }
    }
  }
}

extension OfficeMail {
  /// Nil where mail is off.
  init?(_ parts: Composition) {
    guard let mail = parts.mail else { return nil }
    self.init(
      brand: mail.settings.brand,
      keys: { [configuration = parts.configuration] in try await configuration.storeKeys() },
      random: parts.runtime.random)
  }
}

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
