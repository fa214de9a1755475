package import TenderPayments

/// What a message is about.
package enum MailKind: String, Sendable, Hashable, Codable, CaseIterable {
  case expiry, alarms, invitation, order, refund, test
  case passwordReset = "password-reset"

  /// Whether the message carries a link that lets in whoever has it. Its text is sealed in the store, and erased when it
  /// has been sent.
  var isConfidential: Bool { self == .invitation || self == .passwordReset }
}

/// A message to be queued, for one or more recipients, each of whom gets it alone.
package struct QueuedMail: Sendable, Hashable {
  package let kind: MailKind
  /// Nil for the operator's own.
  package let merchant: MerchantID?
  package let recipients: [MailAddress]
  /// What a message to a shopper is about; it goes with the shopper's data.
  package var order: OrderID?
  package let replyTo: MailAddress?
  package let content: MailContent
  package let brand: MailBrand

  package init(
    _ kind: MailKind, of merchant: MerchantID? = nil, to recipients: [MailAddress], replyTo: MailAddress? = nil,
    _ content: MailContent, _ brand: MailBrand
  ) {
    (self.kind, self.merchant, self.recipients, self.replyTo) = (kind, merchant, recipients, replyTo)
    (self.content, self.brand) = (content, brand)
  }
}

/// A message as the outbox has it.
package struct StoredMail: Sendable, Hashable {
  package enum State: String, Sendable, Hashable, Codable, CaseIterable {
    /// Waits for its first or next try.
    case waiting
    /// The server took it.
    case sent
    /// Given up: refused for good, or after the last try. A retry brings it back.
    case dead
  }

  package let id: String
  package let kind: MailKind
  package let merchant: MerchantID?
  package let recipient: String
  package let senderName: String
  package let replyTo: String?
  package let language: String
  package let subject: String
  package let state: State
  /// How many tries have failed.
  package let tries: Int64
  package let nextTry: Timestamp
  /// The server's answer to the last try, or why there was none.
  package let result: String?
  package let createdAt: Timestamp
  /// Nil for a text that is sealed, or was erased after it had been sent.
  package let text: String?
  package let html: String?
  let fence: Int64
}
