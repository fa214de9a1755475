package import Storage

package enum OfficeSchema {
  /// Operators, what they may do, their sessions, and the audit chain of what they did.
  package static let migrations: [Migration] = [
    Migration("office-1", users + sessions + approvals + records + audit), Migration("office-2", devices),
    Migration("office-3", refunds), ErasureRequests.migration, OfficePreferences.migration,
    Migration("office-sign-in-1", challenges + passkeys + identities + endsOfSessions),
  ]

  /// `merchant` of a grant is `*` for every merchant. `last_code` is the step of the last one-time code that was taken.
  private static let users = """
    CREATE TABLE office_users (
      name TEXT PRIMARY KEY NOT NULL,
      password TEXT,
      has_codes BIGINT NOT NULL CHECK (has_codes IN (0, 1)),
      last_code BIGINT NOT NULL,
      enabled BIGINT NOT NULL CHECK (enabled IN (0, 1)),
      refund_limits TEXT NOT NULL,
      created_at BIGINT NOT NULL
    );
    CREATE TABLE office_grants (
      user_name TEXT NOT NULL REFERENCES office_users (name),
      merchant TEXT NOT NULL,
      role TEXT NOT NULL CHECK (role IN ('viewer', 'operator', 'administrator')),
      PRIMARY KEY (user_name, merchant)
    );
    CREATE TABLE office_recovery_codes (
      user_name TEXT NOT NULL REFERENCES office_users (name),
      hash TEXT NOT NULL,
      PRIMARY KEY (user_name, hash)
    );
    CREATE TABLE office_invitations (
      hash TEXT PRIMARY KEY NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      expires_at BIGINT NOT NULL
    );

    """

  /// A session is known by the hash of its cookie. `subject` of a failure is an account, an address, or both.
  private static let sessions = """
    CREATE TABLE office_sessions (
      hash TEXT PRIMARY KEY NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      address TEXT NOT NULL,
      agent TEXT NOT NULL,
      created_at BIGINT NOT NULL,
      seen_at BIGINT NOT NULL
    );
    CREATE INDEX office_sessions_of ON office_sessions (user_name);
    CREATE TABLE office_failures (
      subject TEXT PRIMARY KEY NOT NULL,
      failures BIGINT NOT NULL,
      last_at BIGINT NOT NULL,
      blocked_until BIGINT NOT NULL
    );

    """

  /// A browser is known by the hash of its cookie.
  private static let devices = """
    CREATE TABLE office_devices (
      hash TEXT PRIMARY KEY NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      expires_at BIGINT NOT NULL
    );
    CREATE INDEX office_devices_of ON office_devices (user_name);
    """

  /// What browsers were asked to sign, and sign-ins at the provider that are under way: each by a hash, and taken once.
  /// `holder` is whose it is.
  private static let challenges = """
    CREATE TABLE office_challenges (
      hash TEXT PRIMARY KEY NOT NULL,
      purpose TEXT NOT NULL,
      holder TEXT NOT NULL,
      expires_at BIGINT NOT NULL
    );

    """

  /// `handle` is the user's name among authenticators, the same for all passkeys of a user.
  private static let passkeys = """
    CREATE TABLE office_passkeys (
      credential TEXT PRIMARY KEY NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      handle TEXT NOT NULL,
      name TEXT NOT NULL,
      public_key TEXT NOT NULL,
      counter BIGINT NOT NULL,
      created_at BIGINT NOT NULL,
      used_at BIGINT
    );
    CREATE INDEX office_passkeys_of ON office_passkeys (user_name);

    """

  /// Users who sign in at a provider: who they are there.
  private static let identities = """
    CREATE TABLE office_identities (
      issuer TEXT NOT NULL,
      subject TEXT NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      PRIMARY KEY (issuer, subject)
    );
    CREATE UNIQUE INDEX office_identities_of ON office_identities (user_name);

    """

  /// Where a provider's word ends before the office's own limits.
  private static let endsOfSessions = """
    ALTER TABLE office_sessions ADD COLUMN ends_at BIGINT;

    """

  /// Refunds above an operator's limit, which wait for a second person.
  private static let approvals = """
    CREATE TABLE office_approvals (
      id TEXT PRIMARY KEY NOT NULL,
      payment TEXT NOT NULL,
      merchant TEXT NOT NULL,
      amount BIGINT NOT NULL CHECK (amount > 0),
      currency TEXT NOT NULL,
      reason TEXT NOT NULL,
      requested_by TEXT NOT NULL,
      requested_at BIGINT NOT NULL,
      state TEXT NOT NULL CHECK (state IN ('waiting', 'approved', 'rejected')),
      decided_by TEXT,
      decided_at BIGINT,
      CHECK (decided_by IS NULL OR decided_by <> requested_by OR state = 'rejected')
    );
    CREATE INDEX office_approvals_waiting ON office_approvals (id) WHERE state = 'waiting';

    """

  /// Refunds that operators made without a second person: what each of them is judged by. `operation` is our reference.
  private static let refunds = """
    CREATE TABLE office_refunds (
      operation TEXT PRIMARY KEY NOT NULL,
      user_name TEXT NOT NULL REFERENCES office_users (name),
      payment TEXT NOT NULL,
      currency TEXT NOT NULL,
      at BIGINT NOT NULL
    );
    CREATE INDEX office_refunds_of ON office_refunds (user_name, at);
    CREATE INDEX office_refunds_on ON office_refunds (payment, user_name);

    """

  /// Searches that users have kept, and comparisons with providers.
  private static let records = """
    CREATE TABLE office_filters (
      user_name TEXT NOT NULL REFERENCES office_users (name),
      name TEXT NOT NULL,
      query TEXT NOT NULL,
      PRIMARY KEY (user_name, name)
    );
    CREATE TABLE office_reconciliations (
      id BIGINT PRIMARY KEY NOT NULL,
      at BIGINT NOT NULL,
      user_name TEXT NOT NULL,
      route TEXT NOT NULL,
      source TEXT NOT NULL,
      differences BIGINT NOT NULL
    );

    """

  private static let audit = """
    CREATE TABLE office_audit (
      seq BIGINT PRIMARY KEY NOT NULL,
      at BIGINT NOT NULL,
      actor TEXT NOT NULL,
      address TEXT NOT NULL,
      action TEXT NOT NULL,
      merchant TEXT NOT NULL,
      subject TEXT NOT NULL,
      state_before TEXT NOT NULL,
      state_after TEXT NOT NULL,
      reason TEXT NOT NULL,
      hash TEXT NOT NULL
    );
    CREATE INDEX office_audit_of_subject ON office_audit (subject, seq);
    """
}
