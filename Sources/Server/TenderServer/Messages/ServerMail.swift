import ApplePayToken
import Doctor
import Foundation
import Ledger
import Mail
import MerchantIdentity
import Settings
import Storage
import SwiftASN1
import TenderPayments
import X509

/// The server's mail: what is said, to whom, and the dispatcher that delivers it.
struct ServerMail: Sendable {
  let settings: MailSettings
  let merchants: LiveMerchants
  let journal: Journal
  let dispatcher: MailDispatcher
  let clock: WallClock
  let random: RandomBytes
  /// The TLS certificate that a domain shows.
  let handshake: @Sendable (_ host: String, _ port: Int) async throws -> TLSHandshake

  private var database: Database { journal.database }

  /// Queues what is due: warnings of ends, the digest of alarms.
  ///
  /// - Parameter moment: the one that ends are judged at; nil for now.
  /// - Returns: how many messages were queued.
  @discardableResult
  func sayWhatIsDue(at moment: Timestamp? = nil) async throws -> Int {
    try await warn(at: moment ?? clock.now()) + (try await reportAlarms())
  }

  /// Warns of what ends soon, each end at each threshold once, however many nodes look.
  private func warn(at now: Timestamp) async throws -> Int {
    var queued = 0
    for merchant in merchants.current.folders {
      let things = merchant.expiringCertificates + (await domains(of: merchant))
      for warning in things.compactMap({ ExpiryWarning($0, at: now) }) { queued += try await send(warning, merchant) }
    }
    return queued
  }

  private func send(_ warning: ExpiryWarning, _ merchant: MerchantFolder) async throws -> Int {
    let brand = settings.brand
    let mails = [
      ("operator", QueuedMail(.expiry, to: settings.recipients, warning.content(brand), brand)),
      (
        "merchant",
        QueuedMail(
          .expiry, of: merchant.merchant.id, to: merchant.mail.recipients, warning.content(merchant.brand), brand)
      ),
    ]
    return try await database.write { [random] store in
      // An audience without recipients is warned when it gets one.
      try mails.filter { !$0.1.recipients.isEmpty }.map { audience, mail in
        try MailOutbox.add(mail, once: warning.notice(for: audience), random: random, in: store)
      }.reduce(0, +)
    }
  }

  /// The TLS certificates of its domains. What cannot be reached is the doctor's business.
  private func domains(of folder: MerchantFolder) async -> [ExpiringThing] {
    var things: [ExpiringThing] = []
    for site in folder.merchant.sites where !site.domain.isLoopback {
      guard let shown = try? await handshake(site.domain.host, 443), let end = shown.end else { continue }
      let kinds: [ExpiringThing.Kind] = site.association == nil ? [.site] : [.site, .verification]
      things += kinds.map { kind in
        ExpiringThing(kind, of: folder.merchant.id, named: site.domain.name, identity: site.domain.name, end: end)
      }
    }
    return things
  }

  /// Once a day while there are alarms.
  private func reportAlarms() async throws -> Int {
    let alarms = try await journal.alarms(limit: 50)
    guard !alarms.isEmpty, !settings.recipients.isEmpty else { return 0 }
    let count = try await journal.openOutcomes().alarms
    let rows = alarms.map { MailContent.Row($0.payment.id.rawValue, $0.reason) }
    let (brand, day) = (settings.brand, String(clock.now().description.prefix(10)))
    let mail = QueuedMail(.alarms, to: settings.recipients, .alarms(rows, count: count, brand), brand)
    return try await database.write { [random] in
      try MailOutbox.add(mail, once: "alarms/\(day)", random: random, in: $0)
    }
  }
}

extension MerchantFolder {
  /// The certificate of each kind that ends last: the end of an earlier one stops nothing.
  fileprivate var expiringCertificates: [ExpiringThing] {
    let processing =
      merchant.processing.map { (Hex.encode($0.publicKeyHash), $0.notAfter) }
      + certificatesOfKeysElsewhere.map { (Hex.encode($0.publicKeyHash), $0.notAfter) }
    let identity = merchant.identity.map { ("identity of \(merchant.id)", $0.notAfter) }
    return [
      (ExpiringThing.Kind.identity, identity), (.processing, processing.max { $0.1 < $1.1 }),
    ].compactMap { kind, found in
      found.map { ExpiringThing(kind, of: merchant.id, named: merchant.id.rawValue, identity: $0.0, end: $0.1) }
    }
  }
}

extension TLSHandshake {
  /// Until when the server's own certificate is valid.
  var end: Timestamp? {
    chain.first.flatMap { try? Certificate(derEncoded: $0) }
      .map { Timestamp($0.notValidAfter) }
  }
}
