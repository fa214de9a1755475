/// What Apple says has happened to a merchant token.
package struct MerchantTokenNews: Sendable, Hashable {
  package enum Kind: Sendable, Hashable {
    /// Nothing can be charged to it any more.
    case unlinked
    /// The card behind it was replaced, or what is shown of it has changed.
    case cardChanged
    case cardArtChanged
    /// The key of the shopper's device has changed, by which usage information is sealed.
    case publicKeyChanged
    /// A type that this version does not know.
    case other
  }

  package let kind: Kind
  /// As Apple names it.
  package let type: String
  /// The network's identifier of the merchant token.
  package let token: String
  /// Who caused it, in Apple's words; at most 256 printable characters.
  package let reason: String
  /// The card as it is now; nil where Apple says nothing of it.
  package let card: MerchantTokenCard?

  package init(_ type: String, of token: String, because reason: String, card: MerchantTokenCard? = nil) {
    kind =
      switch type {
      case "UNLINK": .unlinked
      case "UPDATED_METADATA": .cardChanged
      case "UPDATED_CARD_ART": .cardArtChanged
      case "UPDATED_MERCHANT_TOKEN_PUBLIC_KEY": .publicKeyChanged
      default: .other
      }
    (self.type, self.token, self.reason, self.card) = (type, token, reason, card)
  }

  /// Apple says `user` or `issuer`, in words that it does not document.
  package var party: AgreementParty {
    let words = reason.lowercased()
    return ["user", "shopper", "cardholder"].contains { words.contains($0) } ? .shopper : .issuer
  }
}

/// The card behind a merchant token, as Apple describes it to the merchant. It has no number.
package struct MerchantTokenCard: Sendable, Hashable {
  /// The last digits of the card's own number.
  package let suffix: String?
  /// As Apple writes it.
  package let expiry: String?
  /// What people call the card.
  package let name: String?
  /// ISO 3166, two letters.
  package let country: String?

  package init(suffix: String?, expiry: String?, name: String?, country: String?) {
    (self.suffix, self.expiry, self.name, self.country) = (suffix, expiry, name, country)
  }
}
