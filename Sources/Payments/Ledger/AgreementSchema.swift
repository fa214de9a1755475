import Storage

extension Journal {
  /// The tables of agreements. `agreement_of_its_kind` keeps each kind's columns together.
  ///
  /// A row of `agreement_charges` gives each period one order, and an order has at most one live payment: so a period is
  /// paid at most once, however many calls and nodes try. Period 0 is the first payment's where that covers one.
  /// `stored_reference` is the provider's name of the credential that it keeps, `network_link_id` Mastercard's transaction
  /// link identifier.
  static let agreements = Migration(
    "agreements-1",
    """
    CREATE TABLE agreements (
      id TEXT PRIMARY KEY NOT NULL,
      merchant TEXT NOT NULL,
      payment TEXT NOT NULL UNIQUE REFERENCES payments (id),
      merchant_reference TEXT NOT NULL,
      customer TEXT,
      kind TEXT NOT NULL CHECK (kind IN ('recurring', 'automatic_reload', 'deferred')),
      status TEXT NOT NULL CHECK (status IN ('pending', 'active', 'suspended', 'ended')),
      currency TEXT NOT NULL,
      description TEXT NOT NULL,
      management_url TEXT NOT NULL,
      billing_agreement TEXT,
      notification_url TEXT,
      time_zone TEXT NOT NULL,
      label TEXT NOT NULL,
      amount BIGINT NOT NULL CHECK (amount >= 0),
      interval_unit TEXT CHECK (interval_unit IN ('minute', 'hour', 'day', 'month', 'year')),
      interval_count BIGINT CHECK (interval_count > 0),
      starts_at BIGINT,
      ends_at BIGINT,
      trial_label TEXT,
      trial_amount BIGINT CHECK (trial_amount >= 0),
      trial_unit TEXT CHECK (trial_unit IN ('minute', 'hour', 'day', 'month', 'year')),
      trial_count BIGINT CHECK (trial_count > 0),
      trial_starts_at BIGINT,
      trial_ends_at BIGINT,
      threshold BIGINT CHECK (threshold >= 0),
      due_at BIGINT,
      free_until BIGINT,
      free_until_zone TEXT,
      merchant_token TEXT,
      version BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      updated_at BIGINT NOT NULL,
      CONSTRAINT agreement_of_its_kind CHECK (
        (kind = 'recurring') = (interval_unit IS NOT NULL AND interval_count IS NOT NULL)
        AND (kind = 'automatic_reload') = (threshold IS NOT NULL)
        AND (kind = 'deferred') = (due_at IS NOT NULL)
        AND (kind = 'recurring' OR trial_label IS NULL)
        AND (trial_label IS NOT NULL) = (trial_amount IS NOT NULL AND trial_unit IS NOT NULL AND trial_count IS NOT NULL)
        AND (free_until IS NOT NULL) = (free_until_zone IS NOT NULL))
    );
    CREATE INDEX agreements_of_merchant ON agreements (merchant, id);
    CREATE TABLE agreement_changes (
      agreement TEXT NOT NULL REFERENCES agreements (id),
      number BIGINT NOT NULL,
      event TEXT NOT NULL,
      status_before TEXT NOT NULL,
      status_after TEXT NOT NULL,
      party TEXT NOT NULL CHECK (party IN ('merchant', 'operator', 'shopper', 'issuer', 'first_payment')),
      reason TEXT,
      changed_at BIGINT NOT NULL,
      PRIMARY KEY (agreement, number)
    );
    CREATE TABLE agreement_charges (
      agreement TEXT NOT NULL REFERENCES agreements (id),
      period BIGINT NOT NULL CHECK (period >= 0),
      order_id TEXT NOT NULL UNIQUE,
      due_at BIGINT,
      created_at BIGINT NOT NULL,
      PRIMARY KEY (agreement, period)
    );
    ALTER TABLE payments ADD COLUMN agreement TEXT;
    CREATE INDEX payments_of_agreement ON payments (agreement, id) WHERE agreement IS NOT NULL;
    ALTER TABLE operations ADD COLUMN stored_reference TEXT;
    ALTER TABLE operations ADD COLUMN network_link_id TEXT;

    """)

  /// An event of the outbox that is about an agreement's change says which; the others are about their payment.
  static let agreementEvents = Migration(
    "agreements-2",
    """
    ALTER TABLE outbox ADD COLUMN agreement_event TEXT;

    """)

  /// What the schedule of an agreement charges next and when it looks at it, and prices that the merchant has named.
  static let agreementSchedules = Migration(
    "agreements-schedule-1",
    """
    ALTER TABLE agreements ADD COLUMN schedule_period BIGINT;
    ALTER TABLE agreements ADD COLUMN schedule_at BIGINT;
    CREATE INDEX agreements_scheduled ON agreements (schedule_at) WHERE status = 'active' AND schedule_at IS NOT NULL;
    CREATE TABLE agreement_prices (
      agreement TEXT NOT NULL REFERENCES agreements (id),
      from_at BIGINT NOT NULL,
      amount BIGINT NOT NULL CHECK (amount > 0),
      created_at BIGINT NOT NULL,
      PRIMARY KEY (agreement, from_at)
    );

    """)
}
