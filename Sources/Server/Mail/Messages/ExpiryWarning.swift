package import TenderPayments
import TenderSheet

/// Something that ends on a day, and with it Apple Pay.
package struct ExpiringThing: Sendable, Hashable {
  package enum Kind: String, Sendable, Hashable, CaseIterable {
    /// Certificates of a merchant.
    case identity, processing
    /// The TLS certificate of a domain, and with it Apple's verification of the domain.
    case site, verification
  }

  package let kind: Kind
  package let merchant: MerchantID
  /// The merchant's or the domain's.
  package let name: String
  /// What it is, for saying it once: a renewed certificate is another.
  package let identity: String
  package let end: Timestamp

  package init(_ kind: Kind, of merchant: MerchantID, named name: String, identity: String, end: Timestamp) {
    (self.kind, self.merchant, self.name, self.identity, self.end) = (kind, merchant, name, identity, end)
  }
}

/// When and how it is warned of an end.
package struct ExpiryWarning: Sendable, Hashable {
  /// At this many days before the end, once each.
  package static let days = [60, 30, 14, 7, 3, 1]
  private static let day: Duration = .seconds(86_400)

  package let thing: ExpiringThing
  /// The one of ``days`` that has been reached.
  package let threshold: Int
  private let left: Duration

  /// Nil while the end is far, and after it.
  package init?(_ thing: ExpiringThing, at now: Timestamp) {
    let left = thing.end.since(now)
    guard left > .zero, let threshold = Self.days.last(where: { left <= Self.day * $0 }) else { return nil }
    (self.thing, self.threshold, self.left) = (thing, threshold, left)
  }

  /// The name of what is said. A node that was down through several thresholds says the nearest alone.
  ///
  /// - Parameter audience: who is warned.
  package func notice(for audience: String) -> String {
    "expiry/\(thing.kind.rawValue)/\(thing.identity)/\(thing.end.seconds)/\(threshold)/\(audience)"
  }

  package func content(_ brand: MailBrand) -> MailContent {
    let language = brand.language
    let values = [
      "thing": language.text(name), "name": thing.name, "days": days(language),
      "date": String(thing.end.description.prefix(10)),
    ]
    return MailContent(
      subject: language.text(.expirySubject, values),
      paragraphs: [language.text(.expiryBody, values), language.text(effect), language.text(remedy)])
  }

  private func days(_ language: ShopperLanguage) -> String {
    let days = left.components.seconds / 86_400
    switch days {
    case 0: return language.text(.lessThanOneDay)
    case 1: return language.text(.oneDay)
    default: return language.text(.manyDays, ["days": "\(days)"])
    }
  }

  private var name: MailText {
    switch thing.kind {
    case .identity: .identityCertificate
    case .processing: .processingCertificate
    case .site: .siteCertificate
    case .verification: .domainVerification
    }
  }

  private var effect: MailText {
    switch thing.kind {
    case .identity: .identityEffect
    case .processing: .processingEffect
    case .site: .siteEffect
    case .verification: .verificationEffect
    }
  }

  private var remedy: MailText {
    switch thing.kind {
    case .identity, .processing: .certificateRemedy
    case .site: .siteRemedy
    case .verification: .verificationRemedy
    }
  }
}
