import Storage

extension FigureCounting {
  /// `figures_by_stretch` is counted from the payments; `figures_by_day` adds it up by day, network, route and reason, for
  /// each merchant and for all (`*`). `figures_stale` has the stretches to count, `figures_places` the last audit entry of
  /// each chain that was looked at. Every payment from `counted_from` on is counted; from `marked_from` on it is, or its
  /// stretch is to be. Both are empty in the end.
  static let migration = Migration("figures-1", byStretch + byDay + state)

  private static let byStretch = """
    CREATE TABLE figures_by_stretch (
      stretch TEXT NOT NULL,
      day BIGINT NOT NULL,
      merchant TEXT NOT NULL,
      currency TEXT NOT NULL,
      route TEXT NOT NULL,
      network TEXT NOT NULL,
      status TEXT NOT NULL,
      reason TEXT NOT NULL,
      payments BIGINT NOT NULL,
      amount BIGINT NOT NULL,
      refunded BIGINT NOT NULL,
      latency BIGINT NOT NULL,
      answered BIGINT NOT NULL,
      PRIMARY KEY (stretch, day, merchant, currency, route, network, status, reason)
    );

    """

  private static let byDay = """
    CREATE TABLE figures_by_day (
      merchant TEXT NOT NULL,
      kind TEXT NOT NULL CHECK (kind IN ('day', 'network', 'route', 'reason')),
      day BIGINT NOT NULL,
      currency TEXT NOT NULL,
      name TEXT NOT NULL,
      status TEXT NOT NULL,
      payments BIGINT NOT NULL,
      amount BIGINT NOT NULL,
      refunded BIGINT NOT NULL,
      latency BIGINT NOT NULL,
      answered BIGINT NOT NULL,
      PRIMARY KEY (merchant, kind, day, currency, name, status)
    );

    """

  private static let state = """
    CREATE TABLE figures_stale (
      stretch TEXT PRIMARY KEY NOT NULL,
      mark BIGINT NOT NULL
    );
    CREATE TABLE figures_places (
      chain TEXT PRIMARY KEY NOT NULL,
      seq BIGINT NOT NULL
    );
    CREATE TABLE figures_state (
      id BIGINT PRIMARY KEY NOT NULL CHECK (id = 1),
      last_mark BIGINT NOT NULL,
      marked_from TEXT NOT NULL,
      counted_from TEXT NOT NULL
    );

    """
}
