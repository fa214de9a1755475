package import Storage

extension OrderService {
  /// The tables of baskets, quotes and orders. To be opened in the same store as the ledger's, so that an order and
  /// the claim of its payment are one commit.
  ///
  /// Contacts are in a table of their own and only with an order, so that they can be deleted without touching the
  /// ledger. Since `privacy-1` they are sealed under a key of their order's: `contact` is empty then, and `email` the
  /// mark by which the address is found. `erased_orders` has the orders of which nothing personal is kept. An order
  /// that a merchant's server brings with its payment has neither basket nor quote, so the two columns refer to no
  /// table. `orders_of_quote` serves the removal of quotes without an order.
  package static let migrations: [Migration] = [
    Migration(
      "orders-1",
      """
      CREATE TABLE baskets (
        id TEXT PRIMARY KEY NOT NULL,
        merchant TEXT NOT NULL,
        merchant_reference TEXT NOT NULL,
        document TEXT NOT NULL,
        order_id TEXT NOT NULL UNIQUE,
        service TEXT NOT NULL,
        destination TEXT NOT NULL,
        requested_for TEXT,
        note TEXT,
        cancelled BIGINT NOT NULL CHECK (cancelled IN (0, 1)),
        current_quote TEXT,
        hosted BIGINT NOT NULL CHECK (hosted IN (0, 1)),
        attempts_allowed BIGINT CHECK (attempts_allowed > 0),
        created_at BIGINT NOT NULL,
        expires_at BIGINT NOT NULL
      );
      CREATE INDEX baskets_of_reference ON baskets (merchant, merchant_reference, order_id);
      CREATE TABLE quotes (
        id TEXT PRIMARY KEY NOT NULL,
        basket TEXT NOT NULL REFERENCES baskets (id),
        total BIGINT NOT NULL CHECK (total >= 0),
        currency TEXT NOT NULL,
        pending BIGINT NOT NULL CHECK (pending IN (0, 1)),
        payable BIGINT NOT NULL CHECK (payable IN (0, 1)),
        sheet_state TEXT NOT NULL,
        lines TEXT NOT NULL,
        created_at BIGINT NOT NULL
      );
      CREATE INDEX quotes_of_basket ON quotes (basket, id);
      CREATE TABLE orders (
        id TEXT PRIMARY KEY NOT NULL,
        merchant TEXT NOT NULL,
        basket TEXT NOT NULL UNIQUE,
        quote TEXT NOT NULL,
        merchant_reference TEXT NOT NULL,
        amount BIGINT NOT NULL CHECK (amount >= 0),
        currency TEXT NOT NULL,
        service TEXT NOT NULL,
        customer TEXT,
        guest TEXT,
        requested_for TEXT,
        note TEXT,
        guest_token TEXT,
        created_at BIGINT NOT NULL,
        updated_at BIGINT NOT NULL
      );
      CREATE INDEX orders_of_merchant ON orders (merchant, id);
      CREATE INDEX orders_of_quote ON orders (quote);
      CREATE INDEX orders_of_guest ON orders (merchant, guest, id) WHERE guest IS NOT NULL;
      CREATE INDEX orders_of_reference ON orders (merchant_reference, id);
      CREATE TABLE guests (
        merchant TEXT NOT NULL,
        id TEXT NOT NULL,
        customer TEXT NOT NULL,
        claimed_at BIGINT NOT NULL,
        PRIMARY KEY (merchant, id)
      );
      CREATE TABLE order_contacts (
        order_id TEXT PRIMARY KEY NOT NULL REFERENCES orders (id),
        contact TEXT NOT NULL,
        email TEXT,
        updated_at BIGINT NOT NULL
      );
      CREATE INDEX order_contacts_of_email ON order_contacts (email, order_id) WHERE email IS NOT NULL;
      """),
    GuestTokenKeys.migration,
    Migration(
      "privacy-1",
      """
      ALTER TABLE order_contacts ADD COLUMN sealed BYTEA;
      """),
    Migration(
      "privacy-2",
      """
      CREATE TABLE erased_orders (
        order_id TEXT PRIMARY KEY NOT NULL,
        erased_at BIGINT NOT NULL
      );
      CREATE INDEX orders_of_customer ON orders (customer, id) WHERE customer IS NOT NULL;
      CREATE INDEX guests_of_customer ON guests (customer, merchant, id);
      """),
  ]
}
