package import MerchantIdentity
package import Storage
package import TenderPayments

/// Messages to people who have, or are to have, an account of the operator's. Their links let in whoever has them, so the
/// text is sealed in the store, and erased when it has been sent.
package struct AccountMail: Sendable {
  let brand: MailBrand
  /// The keys that seal the store's secrets.
  let keys: MasterKeys
  let random: RandomBytes

  package init(brand: MailBrand, keys: MasterKeys, random: RandomBytes = .system) {
    (self.brand, self.keys, self.random) = (brand, keys, random)
  }

  /// Queues an invitation in the caller's commit.
  ///
  /// - Parameters:
  ///   - person: who invites.
  ///   - end: until when the link works.
  package func invite(
    _ address: MailAddress, from person: String, link: String, until end: Timestamp, in store: Transaction
  ) throws {
    try add(.invitation, .invitation(from: person, link: link, until: end, brand), address, store)
  }

  /// Queues the message to a user who has forgotten the password, in the caller's commit.
  ///
  /// - Parameter end: until when the link works.
  package func resetPassword(
    of address: MailAddress, link: String, until end: Timestamp, in store: Transaction
  ) throws {
    try add(.passwordReset, .passwordReset(link: link, until: end, brand), address, store)
  }

  private func add(
    _ kind: MailKind, _ content: MailContent, _ address: MailAddress, _ store: Transaction
  ) throws {
    try MailOutbox.add(QueuedMail(kind, to: [address], content, brand), keys: keys, random: random, in: store)
  }
}
