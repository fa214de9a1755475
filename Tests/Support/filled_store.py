"""Fills the store of a demo, an SQLite file that no server has open, with payments of the last 92 days:

    filled_store.py FILE COUNT

By SQL alone, because nothing else makes ten million payments in minutes. Each has what the back office's pages read: an order
with reference and contact, operations, an event with its delivery, an entry of the journal's audit. All is settled but for a few
that are unknown, held, alarmed, waiting or given up. The audit's hashes do not link.
"""
import sqlite3
import sys
import time

CHUNK = 100_000
DAYS = 92
HOUR, DAY = 3_600_000_000, 86_400_000_000

# `n`: the payment's number. `at`: when it began, in microseconds. `id`: begins with the time, as the ledger's identifiers do.
# `k`: 0 to 99, what became of it. `few`: a kind of which there are few.
NUMBERED = """
    WITH RECURSIVE counted(n) AS (SELECT :first UNION ALL SELECT n + 1 FROM counted WHERE n < :last),
    timed AS (
      SELECT n, :start + n * :pause AS at, printf('%08x', n * 2654435761 % 4294967296) AS r, n * 7919 % 100 AS k,
        n % :rare AS few FROM counted),
    named AS (
      SELECT *, printf('%012x', at / 1000) || r || printf('%04x', n % 65536) AS id,
        CASE WHEN n % 5 = 0 THEN 'kitsune' ELSE 'harbour' END AS merchant,
        CASE WHEN n % 5 = 0 THEN 'JPY' WHEN n % 7 = 0 THEN 'USD' ELSE 'EUR' END AS currency,
        500 + n * 131 % 20000 AS amount,
        CASE WHEN few = 7 THEN 'unknown' WHEN few = 8 THEN 'authorized' WHEN k < 80 THEN 'captured' WHEN k < 84 THEN 'refunded'
          WHEN k < 88 THEN 'partially_refunded' WHEN k < 97 THEN 'declined' WHEN k < 99 THEN 'voided' ELSE 'failed'
          END AS status FROM timed),
    payment AS (
      SELECT *, status IN ('captured', 'refunded', 'partially_refunded') AS is_taken,
        CASE WHEN few IN (7, 8) THEN 'sandbox' WHEN n % 3 = 0 THEN 'adyen.shop' WHEN n % 3 = 1 THEN 'stripe.shop'
          ELSE 'sandbox' END AS route,
        CASE status WHEN 'refunded' THEN amount WHEN 'partially_refunded' THEN amount / 2 ELSE 0 END AS refunded FROM named)
    """

PAYMENTS = """
    INSERT INTO payments (id, order_id, merchant, basket, route, status, live, amount, currency, amount_confirmed,
      capture_mode, authorized, captured, refunded, reserved_capture, reserved_void, reserved_refund, authorization_code,
      decline_reason, decline_code, card_name, card_suffix, card_expiry, card_has_eci, reported_outcome, alarm, hold_until,
      version, created_at, updated_at)
    SELECT id, 'o' || id, merchant, 'b' || id, route, status, status NOT IN ('declined', 'voided', 'failed'), amount,
      currency, 1, 'immediate', CASE WHEN is_taken OR status = 'authorized' THEN amount ELSE 0 END, amount * is_taken,
      amount * is_taken * (refunded > 0) * refunded / amount, 0, 0, 0,
      'Z01234', CASE status WHEN 'declined' THEN CASE n % 4 WHEN 0 THEN 'insufficient_funds' WHEN 1 THEN 'do_not_honor'
        ELSE 'other' END END, CASE status WHEN 'declined' THEN '05' END,
      CASE n % 4 WHEN 0 THEN 'Visa ' WHEN 1 THEN 'MasterCard ' WHEN 2 THEN 'AmEx ' ELSE 'Discover ' END
        || printf('%04d', n * 37 % 10000), printf('%04d', n * 37 % 10000), '3112', 1,
      CASE WHEN is_taken THEN 'success' WHEN status = 'unknown' THEN 'pending' ELSE 'failure' END,
      CASE WHEN few = 9 THEN 'contradiction' END,
      CASE WHEN status = 'authorized' THEN :now + n % 5 * {DAY} END, 4, at, at + 90000 FROM payment
    """.replace("{DAY}", str(DAY))


def operation(kind, number, condition):
    return f"""
    INSERT INTO operations (reference, payment, number, route, kind, amount, released_amount, is_final, is_whole, cause, state,
      acquirer_reference, tries, next_try, lease_owner, lease_until, fence, sent_at, sent_until, answered_at)
    SELECT substr(id, 1, 12) || '{number}' || substr(id, 14), id, {number}, route, '{kind}', amount, 0, 0, 1, 'shopper',
      CASE WHEN status = 'unknown' THEN 'unknown' WHEN status = 'declined' THEN 'declined' ELSE 'approved' END, 'A' || id, 0,
      :now + {DAY}, '0123456789abcdef', 0, 1, at, at + 45000, CASE WHEN status <> 'unknown' THEN at + 45000 + n % 400000 END
    FROM payment WHERE {condition}
    """


STATEMENTS = [
    PAYMENTS, operation("authorize", 0, "1"), operation("capture", 1, "is_taken"),
    """
    INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at, updated_at)
    SELECT 'o' || id, merchant, 'b' || id, 'q' || id, 'R-' || n, amount, currency, 'storePickup', at, at FROM payment
    """,
    """
    INSERT INTO order_contacts (order_id, contact, email, updated_at)
    SELECT 'o' || id, '{}', 'shopper-' || n % 100000 || '@example.com', at FROM payment
    """,
    """
    INSERT INTO outbox (payment, merchant, seq, operation, status, authorized, captured, refunded, happened_at, delivered_at)
    SELECT id, merchant, 1, substr(id, 1, 12) || '0' || substr(id, 14), status, amount, 0, 0, at, at + 1000000 FROM payment
    """,
    """
    INSERT INTO webhook_deliveries (payment, seq, endpoint, url, merchant, state, tries, next_try, lease_until, fence, result,
      created_at, finished_at)
    SELECT id, 1, 'orders', 'https://shop.example/hooks', merchant,
      CASE few WHEN 10 THEN 'dead' WHEN 11 THEN 'waiting' ELSE 'delivered' END, 0, :now + {DAY}, 0, 1, 'HTTP 200', at, at
    FROM payment
    """.replace("{DAY}", str(DAY)),
    """
    INSERT INTO audit (chain, seq, payment, operation, event, status_before, status_after, authorized, captured, refunded,
      version, recorded_at, hash)
    SELECT 'main', :audited + n, id, '', 'authorize begins', '', 'authorizing', 0, 0, 0, 1, at, r || r FROM payment
    """,
    # One in ten was looked at by an operator who did something.
    """
    INSERT INTO office_audit (seq, at, actor, address, action, merchant, subject, state_before, state_after, reason, hash)
    SELECT :noted + n / 10, at, 'anna', '127.0.0.1', 'payment.refund', merchant, id, '', '', 'because', r
    FROM payment WHERE n % 10 = 0
    """,
]


def fill(path, count):
    """Adds `count` payments; the seconds that it took."""
    begin = time.monotonic()
    store = sqlite3.connect(path, isolation_level=None)
    store.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -400000; "
                        "PRAGMA locking_mode = EXCLUSIVE;")
    one = lambda query: store.execute(query).fetchone()[0] or 0
    now = int(time.time() * 1_000_000)
    values = {"start": now - DAYS * DAY, "pause": (DAYS * DAY - HOUR) // count, "now": now, "rare": max(1000, count // 200),
              "audited": one("SELECT MAX(seq) FROM audit"), "noted": one("SELECT MAX(seq) FROM office_audit")}
    # Indexes are made at the end, which is faster.
    indexes = store.execute("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND sql IS NOT NULL AND tbl_name IN "
                            "('payments', 'operations', 'orders', 'order_contacts', 'outbox', 'webhook_deliveries', 'audit', "
                            "'office_audit')").fetchall()
    for name, _ in indexes:
        store.execute(f"DROP INDEX {name}")
    for first in range(1, count + 1, CHUNK):
        place = {**values, "first": first, "last": min(first + CHUNK - 1, count)}
        for statement in STATEMENTS:
            names = [name for name in place if f":{name}" in NUMBERED + statement]
            store.execute(NUMBERED + statement, {name: place[name] for name in names})
    for _, sql in indexes:
        store.execute(sql)
    store.execute("INSERT INTO audit_heads (chain, seq, hash) VALUES ('main', ?, '') ON CONFLICT (chain) DO UPDATE SET "
                  "seq = excluded.seq", [values["audited"] + count])
    # The figures of payments are missing now, and are counted anew.
    for table in ("figures_state", "figures_places", "figures_stale", "figures_by_stretch", "figures_by_day"):
        if one(f"SELECT COUNT(*) FROM sqlite_master WHERE name = '{table}'"):
            store.execute(f"DELETE FROM {table}")
    store.close()
    return time.monotonic() - begin


if __name__ == "__main__":
    print(f"filled_store: {fill(sys.argv[1], int(sys.argv[2]))} s")
