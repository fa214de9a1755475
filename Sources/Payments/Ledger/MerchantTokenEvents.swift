import Storage
package import TenderPayments

/// What has become of a notification.
package enum MerchantTokenEventState: String, Sendable, Hashable, CaseIterable {
  /// Apple is to be asked what happened.
  case received
  /// The agreements have followed.
  case applied
  /// It is about a token of which the merchant has no agreement.
  case unknown
  /// Apple did not tell within seven days.
  case expired
  /// Apple has no such event of this merchant.
  case refused
}

/// A notification that Apple is asked about.
package struct MerchantTokenEvent: Sendable, Hashable {
  package let merchant: MerchantID
  /// Apple's name of it.
  package let id: String
  package let arrivedAt: Timestamp
  /// How often Apple was asked before.
  package let tries: Int64
}

/// A merchant token that the merchant charges no more.
package struct UnneededMerchantToken: Sendable, Hashable {
  package let merchant: MerchantID
  package let token: String
  package let tries: Int64
}

/// What is known of an agreement's merchant token beside its identifier.
package struct MerchantTokenFacts: Sendable, Hashable {
  /// As Apple described it last; nil where Apple never did.
  package let card: MerchantTokenCard?
  package let describedAt: Timestamp?
  /// Nil while it is charged.
  package let unlinking: Unlinking?
  /// Why Apple refused to unlink it.
  package let detail: String?

  package enum Unlinking: String, Sendable, Hashable, Codable, CaseIterable { case due, done, refused }
}

/// The name of a notification, which anyone may have written.
package enum MerchantTokenEventID {
  /// Letters, digits and `-_.`, at most 128, beginning with a letter or a digit: it stands in a path at Apple.
  package static func isWellFormed(_ text: String) -> Bool {
    let bytes = text.utf8
    guard (1...128).contains(bytes.count), let first = bytes.first, isLetterOrDigit(first) else { return false }
    return bytes.allSatisfy {
      isLetterOrDigit($0) || [UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: ".")].contains($0)
    }
  }

  private static func isLetterOrDigit(_ byte: UInt8) -> Bool {
    (0x30...0x39).contains(byte) || (0x41...0x5A).contains(byte) || (0x61...0x7A).contains(byte)
  }
}

extension MerchantTokenEvent {
  init(_ row: Row) throws {
    merchant = try row.value("merchant")
    id = try row.text("event")
    arrivedAt = try row.time("arrived_at")
    tries = try row.integer("tries")
  }
}

extension MerchantTokenFacts {
  init(_ row: Row) throws {
    describedAt = try row.timeOrNil("described_at")
    card = try describedAt.map { _ in
      MerchantTokenCard(
        suffix: try row.textOrNil("card_suffix"), expiry: try row.textOrNil("card_expiry"),
        name: try row.textOrNil("card_name"), country: try row.textOrNil("card_country"))
    }
    unlinking = try row.textOrNil("unlinking").map { _ in try row.value("unlinking") }
    detail = try row.textOrNil("detail")
  }
}
