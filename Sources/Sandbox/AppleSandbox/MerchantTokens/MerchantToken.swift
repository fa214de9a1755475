import StrictJSON
import TenderPayments
import TokenIssuer

/// A merchant token that the wallet gave, as Apple and the shopper see it.
struct MerchantToken: Sendable, Hashable, Codable {
  /// The network's identifier of it.
  let identifier: String
  let merchantIdentifier: String
  let cardID: String
  /// What the shopper agreed to.
  var agreement: String
  var notificationURL: String?
  var suffix: String
  /// `12/2031`
  var expiry: String
  /// How often the card behind it was replaced.
  var replacements = 0
  /// Who ended it: `user`, `issuer` or `merchant`; nil while it can be charged.
  var unlinkedBy: String?
  var givenAt: Timestamp

  var card: SandboxCard? { SandboxCards.card(id: cardID) }

  /// Apple's `MerchantTokenMetadata`.
  var metadata: JSONValue {
    [
      "cardMetadata": [
        "cardCountry": "IE", "expirationDate": .string(expiry), "fpanSuffix": .string(suffix),
        "shortDescription": .string(card?.label ?? cardID),
      ],
      "cardArt": [
        [
          "name": "card", "type": "image/png",
          "url": .string("https://sandbox.example/card-\(replacements).png"),
        ]
      ],
    ]
  }
}

/// What has happened to a merchant token, and which notifications of it are to be sent.
struct MerchantTokenEvent: Sendable, Hashable, Codable {
  /// Anything that can happen, and something of a later version of Apple's.
  enum Kind: String, Sendable, CaseIterable, Codable {
    case unlink = "UNLINK"
    case metadata = "UPDATED_METADATA"
    case cardArt = "UPDATED_CARD_ART"
    case publicKey = "UPDATED_MERCHANT_TOKEN_PUBLIC_KEY"
    case later = "UPDATED_SOMETHING_ELSE"
  }

  /// How the notification goes wrong.
  enum Delivery: String, Sendable, CaseIterable {
    case atOnce = "at_once"
    /// After half a minute.
    case late
    case twice
    /// After the token's next one; after half a minute where there is none.
    case outOfOrder = "out_of_order"
    case never
  }

  let id: String
  let token: String
  let merchantIdentifier: String
  let kind: Kind
  let reason: String
  /// The bytes of Apple's answer to those who ask, once made: they stay the same.
  let body: String
  let happenedAt: Timestamp
  /// How many notifications are still to be sent.
  var notifications: Int
  var notBefore: Timestamp
  /// Waits for the token's next event.
  var yields: Bool
  var tries = 0
  /// How often the merchant's server answered 200.
  var acknowledged = 0
  /// When the last notification of it was sent; nil before the first, and where there is none.
  var notifiedAt: Timestamp?

  /// Apple tells for so long after it has notified.
  static let life = Duration.seconds(7 * 86_400)
  /// One try, and three that follow it at once.
  static let mostTries = 4

  /// Whether Apple still tells of it. One whose notification is late is told of until so long after that notification.
  func isTold(at now: Timestamp) -> Bool { notifications > 0 || now <= (notifiedAt ?? happenedAt).adding(Self.life) }
}
