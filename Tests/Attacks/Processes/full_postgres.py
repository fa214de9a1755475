#!/usr/bin/python3
"""Fills a store on PostgreSQL with a year of payments and measures what that changes: scripts/attack full_postgres [PAYMENTS]

Each payment comes with all that belongs to it: basket, quote, order, contact, two operations, payment token, three events,
three deliveries, four entries of the audit: 18 rows. Before and after, shoppers pay one after another, and their merchants
capture and refund. Then PostgreSQL explains every statement that a server runs in such a course, and the script fails if one
reads a whole table. A million payments need 9 GB of disk, which are freed at the end.

PAYMENTS        1000000 by default
RUNS=200        how many payments are timed
PARTITIONS=yes  also splits two tables into partitions, as docs/scale.md shows, and measures again
"""
import collections, json, os, re, shutil, statistics, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))
from cluster import SETTINGS, SingleServer
from deployment import call
from nodes import Nodes

PAYMENTS = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
RUNS = int(os.environ.get("RUNS", "200"))
CHUNK = 50_000
# A table that is small whatever the number of payments may be read as a whole.
LARGE = 10_000
SETTINGS.update({"shared_buffers": "512MB", "max_wal_size": "2GB", "work_mem": "16MB"})

NUMBERED = """
WITH counted AS (SELECT n, {start} + CAST(n AS BIGINT) * {pause} AS at, md5(n::text) AS r, md5(n::text || 'x') AS q
  FROM generate_series({first}, {last}) AS n),
numbered AS (SELECT *, lpad(to_hex(at / 1000), 12, '0') || substr(r, 1, 20) AS id FROM counted)
"""
ROWS = [
    """INSERT INTO baskets (id, merchant, merchant_reference, document, order_id, service, destination, cancelled, current_quote,
      hosted, created_at, expires_at)
    SELECT r, 'harbour', 'R-' || id, '{"businessName":"Harbour Kitchen","capture":"immediate","countryCode":"IE","currencyCode":"EUR",'
      || '"items":[{"id":"item","label":"One of everything","quantity":1,"unitAmount":1250}],"merchantReference":"R-' || id
      || '","serviceTypes":["collection"]}', 'o' || id, 'storePickup', '{}', 0, 'q' || id, 0, at, at + 3600000000 FROM numbered""",
    """INSERT INTO quotes (id, basket, total, currency, pending, payable, sheet_state, lines, created_at)
    SELECT 'q' || id, r, 1250, 'EUR', 0, 1, '{"destination":{},"service":"storePickup"}',
      '{"lines":[{"amount":1250,"kind":"final","label":"One of everything"}],"unavailable":[]}', at FROM numbered""",
    """INSERT INTO orders (id, merchant, basket, quote, merchant_reference, amount, currency, service, created_at, updated_at)
    SELECT 'o' || id, 'harbour', r, 'q' || id, 'R-' || id, 1250, 'EUR', 'storePickup', at, at FROM numbered""",
    """INSERT INTO order_contacts (order_id, contact, email, updated_at)
    SELECT 'o' || id, '{"emailAddress":"' || substr(q, 1, 8) || '@example.com","name":"Ada"}', substr(q, 1, 8) || '@example.com', at
    FROM numbered""",
    """INSERT INTO payments (id, order_id, merchant, basket, route, status, live, amount, currency, amount_confirmed,
      capture_mode, authorized, captured, refunded, reserved_capture, reserved_void, reserved_refund, authorization_code,
      card_suffix, card_expiry, card_has_eci, reported_outcome, reported_status, version, created_at, updated_at)
    SELECT id, 'o' || id, 'harbour', r, 'sandbox', 'captured', 1, 1250, 'EUR', 1, 'immediate', 1250, 1250, 0, 0, 0, 0,
      'Z01234', '0012', '3112', 1, 'success', 'captured', 4, at, at + 90000 FROM numbered""",
    *[f"""INSERT INTO operations (reference, payment, route, kind, amount, released_amount, is_final, is_whole, cause, state, number,
      acquirer_reference, network_transaction_id, tries, next_try, lease_owner, lease_until, fence, sent_at, sent_until, answered_at)
    SELECT substr(id, 1, 12) || '{letter}' || substr(id, 14), id, 'sandbox', '{kind}', 1250, 0, 0, 1, 'shopper', 'approved',
      {number}, 'A{letter}' || id, 'N' || substr(q, 1, 8), 0, at, '0123456789abcdef', 0, 1, at, at, at + 45000 FROM numbered"""
      for number, (kind, letter) in enumerate([("authorize", "a"), ("capture", "c")])],
    "INSERT INTO token_uses (transaction_id, payload_hash, payment, used_at) SELECT r || q, q || r, id, at FROM numbered",
    *[f"""INSERT INTO outbox (payment, merchant, seq, operation, status, authorized, captured, refunded, happened_at,
      delivered_at, position)
    SELECT id, 'harbour', {number + 1}, substr(id, 1, 12) || 'a' || substr(id, 14), '{status}', 1250, 0, 0, at, at + 1000000,
      {number} - 3 * n FROM numbered""" for number, status in enumerate(["authorizing", "authorized", "captured"])],
    *[f"""INSERT INTO webhook_deliveries (payment, seq, endpoint, url, merchant, state, tries, next_try, lease_until, fence, result,
      created_at, finished_at)
    SELECT id, {number}, 'http://127.0.0.1/hooks', 'http://127.0.0.1/hooks', 'harbour', 'delivered', 0, at, 0, 1, '200', at, at
    FROM numbered""" for number in (1, 2, 3)],
    *[f"""INSERT INTO audit (chain, seq, payment, operation, event, status_before, status_after, authorized, captured, refunded,
      version, recorded_at, hash)
    SELECT 'year-' || n % 16, n * 4 + {number}, id, substr(id, 1, 12) || 'a' || substr(id, 14), '{event}', '', 'authorizing', 1250, 0, 0,
      {number + 1}, at, r || q FROM numbered"""
      for number, event in enumerate(["authorize begins", "authorize approved", "capture begins", "capture approved"])],
]


def say(*words):
    print("full:", *words, flush=True)


class Store:
    def __init__(self):
        self.directory = tempfile.mkdtemp(prefix="tender-full-")
        self.server = SingleServer()
        self.deployment = Nodes(self.directory, self.server, count=1)

    def open(self):
        self.server.open()
        self.deployment.open()
        self.deployment.serve()

    def ask(self, sql, patience=3600):
        answer = self.server.primary.ask(sql, patience)
        if answer is None:
            raise SystemExit(f"full: PostgreSQL refused: {sql[:200]}; see {self.server.directory}/log")
        return answer

    def fill(self):
        year = 365 * 86_400 * 1_000_000
        start, begin = int(time.time() * 1_000_000) - year, time.monotonic()
        for first in range(1, PAYMENTS + 1, CHUNK):
            numbers = dict(first=first, last=min(first + CHUNK - 1, PAYMENTS), start=start, pause=year // PAYMENTS)
            self.ask("SET synchronous_commit = off; " + "; ".join(NUMBERED.format(**numbers) + rows for rows in ROWS))
        filled = time.monotonic() - begin
        self.ask("VACUUM ANALYZE")
        rows = int(self.ask("SELECT CAST(sum(n_live_tup) AS BIGINT) FROM pg_stat_user_tables"))
        size = self.ask("SELECT pg_size_pretty(pg_database_size(current_database()))")
        say(f"{PAYMENTS:,} payments, {rows:,} rows, {size}, filled in {filled:.0f} s")
        for line in self.ask(
                "SELECT relname || '|' || n_live_tup || '|' || pg_size_pretty(pg_table_size(relid)) || '|' || "
                "pg_size_pretty(pg_indexes_size(relid)) FROM pg_stat_user_tables WHERE n_live_tup > 1000 "
                "ORDER BY pg_total_relation_size(relid) DESC").splitlines():
            say("table {0}: {1} rows, {2}, indexes {3}".format(*line.split("|")))

    def partition(self):
        """What is there becomes the first partition; from now on rows go into the second."""
        end = f"{int(time.time() * 1000):012x}"
        self.deployment.kill()
        for table, column, more in (("webhook_deliveries", "payment", ""), (
                "operations", "reference", "ALTER TABLE operations ADD FOREIGN KEY (payment) REFERENCES payments (id);")):
            self.ask(f"""BEGIN;
              ALTER TABLE {table} RENAME TO {table}_1;
              CREATE TABLE {table} (LIKE {table}_1 INCLUDING ALL) PARTITION BY RANGE ({column}); {more}
              ALTER TABLE {table} ATTACH PARTITION {table}_1 FOR VALUES FROM (MINVALUE) TO ('{end}');
              CREATE TABLE {table}_2 PARTITION OF {table} FOR VALUES FROM ('{end}') TO (MAXVALUE);
              COMMIT""")
        self.ask("ANALYZE")
        self.deployment.serve()

    def pay(self, capture="manual"):
        """The seconds of a payment, and its id."""
        basket = os.urandom(16).hex()
        status, answer = self.deployment.put_basket(basket, 75000, capture)
        assert status == 200, answer
        sheet = self.deployment.sheet(basket)[1]
        payment = self.deployment.payment(basket, sheet, self.deployment.token(sheet))
        begin = time.monotonic()
        status, answer = call(self.deployment.base, "POST", "/applepay/payment", payment)
        assert status == 200, answer
        return time.monotonic() - begin, answer["paymentId"]

    def measure(self, name):
        for _ in range(20):
            self.pay()
        times = collections.defaultdict(list)
        for _ in range(RUNS):
            seconds, payment = self.pay()
            times["payment"].append(seconds)
            for verb in ("capture", "refund"):
                begin = time.monotonic()
                status, answer = self.deployment.administer("POST", f"/payments/{payment}/{verb}?amount=50.00")
                assert status == 200, answer
                times[verb].append(time.monotonic() - begin)
        for verb, seconds in times.items():
            seconds.sort()
            say(f"{name}: a {verb}: {1000 * statistics.median(seconds):.1f} ms (median), "
                f"{1000 * seconds[len(seconds) * 95 // 100]:.1f} ms (95th of 100)")

    def course(self):
        """What a server does, once."""
        _, payment = self.pay("immediate")
        _, other = self.pay()
        for path in (f"{payment}/refund?amount=50.00", f"{other}/capture?amount=50.00", f"{other}/void"):
            self.deployment.administer("POST", f"/payments/{path}")
        self.deployment.administer("GET", f"/payments/{payment}")
        self.deployment.administer("GET", "/metrics")
        for query in ({"limit": 50}, {"merchant": "harbour", "limit": 50}, {"alarmed": True, "limit": 50}):
            self.deployment.administer("POST", "/payments/search", query)
        self.deployment.signed("GET", "/v2/harbour/events?limit=50", None)
        # Recovery, hand-over and forgetting have their turn.
        time.sleep(15)

    def explained(self):
        """The plan and the longest time of each statement, by its text."""
        for text in ("session_preload_libraries = 'auto_explain'", "auto_explain.log_min_duration = 0",
                     "auto_explain.log_analyze = on", "auto_explain.log_format = 'json'"):
            self.ask(f"ALTER DATABASE tender SET {text}")
        self.deployment.kill()
        self.deployment.serve()
        self.server.log.flush()
        begin = os.path.getsize(self.server.directory + "/log")
        self.course()
        with open(self.server.directory + "/log", errors="replace") as file:
            file.seek(begin)
            text = file.read()
        plans = {}
        for match in re.finditer(r"duration: ([0-9.]+) ms  plan:\n(\t?\{.*?\n\t\})", text, re.S):
            plan = json.loads(re.sub(r"^\t", "", match[2], flags=re.M))
            query = " ".join(plan["Query Text"].split())
            if float(match[1]) >= plans.get(query, (-1, None))[0]:
                plans[query] = float(match[1]), plan["Plan"]
        return plans

    def close(self):
        self.deployment.kill_all()
        self.server.close()
        shutil.rmtree(self.directory, ignore_errors=True)


def nodes(plan):
    yield plan
    for part in plan.get("Plans", []):
        yield from nodes(part)


def words(plan):
    """A plan in one line: how each table is read."""
    read = [f"{node['Node Type']} {node.get('Index Name') or node.get('Relation Name')}" for node in nodes(plan)
            if "Scan" in node["Node Type"] and (node.get("Relation Name") or node.get("Index Name"))]
    return ", ".join(read) or plan["Node Type"]


def main():
    store, good = Store(), False
    try:
        store.open()
        store.measure("empty")
        store.fill()
        store.measure("full")
        if os.environ.get("PARTITIONS"):
            store.partition()
            store.measure("partitioned")
        plans = store.explained()
        large = {line for line in store.ask(
            f"SELECT relname FROM pg_class WHERE relkind = 'r' AND reltuples > {LARGE}").splitlines()}
        whole = []
        for query, (milliseconds, plan) in sorted(plans.items(), key=lambda item: -item[1][0]):
            say(f"{milliseconds:8.3f} ms  {words(plan)}  <- {query[:160]}")
            whole += [query for node in nodes(plan)
                      if node["Node Type"] == "Seq Scan" and node["Relation Name"] in large]
        for query in whole:
            say(f"reads a whole table: {query}")
        good = not whole and len(plans) > 40
        say(f"{len(plans)} statements, {len(whole)} of them read a whole table")
    finally:
        store.close()
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
