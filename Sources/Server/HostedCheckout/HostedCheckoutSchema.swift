package import Storage

extension HostedCheckouts {
  /// The tables of hosted checkouts, in the store of baskets and payments.
  ///
  /// Only the hash of the code that takes a checkout to a phone is kept, as with a password. `call` names the call that
  /// made the checkout, so that its repeat makes no second one; it is null for a call without a key. `forget_at` is null
  /// where an order was made: such a row is kept as long as its payment.
  package static let migrations: [Migration] = [
    Migration(
      "hosted-checkout-1",
      """
      CREATE TABLE hosted_checkouts (
        id TEXT PRIMARY KEY NOT NULL REFERENCES baskets (id),
        merchant TEXT NOT NULL,
        kind TEXT NOT NULL CHECK (kind IN ('session', 'link')),
        return_url TEXT,
        return_mac TEXT NOT NULL,
        locale TEXT NOT NULL,
        variant TEXT NOT NULL,
        shows_result BIGINT NOT NULL CHECK (shows_result IN (0, 1)),
        country TEXT,
        merchant_reference TEXT NOT NULL,
        merchant_parameters TEXT,
        recipient_name TEXT,
        call TEXT,
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL,
        forget_at BIGINT,
        UNIQUE (merchant, call)
      );
      CREATE INDEX hosted_checkouts_to_forget ON hosted_checkouts (forget_at) WHERE forget_at IS NOT NULL;
      CREATE TABLE hosted_handovers (
        code_hash TEXT PRIMARY KEY NOT NULL,
        checkout TEXT NOT NULL REFERENCES hosted_checkouts (id),
        expires_at BIGINT NOT NULL,
        used_at BIGINT
      );
      CREATE INDEX hosted_handovers_of_checkout ON hosted_handovers (checkout);
      CREATE INDEX hosted_handovers_by_end ON hosted_handovers (expires_at);
      """)
  ]
}
