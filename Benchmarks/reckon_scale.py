#!/usr/bin/python3
"""Reckons nodes and database for 1,000, 10,000 and 100,000 payments a second, as a table for docs/scale.md:

    scripts/bench engines | tee figures && Benchmarks/reckon_scale.py figures

It reads the lines `bench: NAME VALUE UNIT` of scripts/bench engines and writes Markdown: first the figures, then what they lead
to. The assumptions are the constants here.
"""
import math, re, sys

# A node and the database are planned for this share of their processors, so that one may fail.
SHARE = 0.6
CORES_A_NODE = 4
# A payment with all that belongs to it, in bytes: scripts/attack full_postgres.
BYTES_A_PAYMENT = 8_200
# Commits of a payment that is captured later, and events of one that is captured at once.
COMMITS, EVENTS = 2, 3
CHAINS = 64
# How long a commit holds the head of its chain, in seconds: the statements after it and the flush, with a synchronous standby
# on the next rack.
HOLD = 0.003
# Events a second that one node hands over: a page of 64 payments at a time.
HANDED_OVER = 6_000
NAMES = {
    "sqlite.rate": ("payments per second, one server on SQLite", "{:,.0f}"),
    "postgres.rate": ("payments per second, one server on PostgreSQL", "{:,.0f}"),
    "postgres.two.rate": ("payments per second, two servers on the same PostgreSQL", "{:,.0f}"),
    "postgres.ratio": ("PostgreSQL against SQLite", "{:.2f}"),
    "postgres.two.ratio": ("two servers against one", "{:.2f}"),
    "sqlite.processor.servers": ("processor time of the server for a payment, SQLite, µs", "{:,.0f}"),
    "postgres.processor.servers": ("processor time of the server for a payment, PostgreSQL, µs", "{:,.0f}"),
    "postgres.processor.backends": ("processor time of PostgreSQL for a payment, µs", "{:,.0f}"),
    "postgres.log": ("bytes of the write-ahead log for a payment", "{:,.0f}"),
}


def size(count):
    for unit in ("B", "kB", "MB", "GB", "TB"):
        if count < 1000:
            return f"{count:.0f} {unit}" if count >= 10 else f"{count:.1f} {unit}"
        count /= 1000
    return f"{count:.1f} PB"


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: Benchmarks/reckon_scale.py FILE, with the output of scripts/bench engines")
    with open(sys.argv[1]) as file:
        figures = {name: float(value) for name, value in re.findall(r"^bench: (\S+) ([0-9.]+)", file.read(), re.M)}
    missing = [name for name in NAMES if name not in figures]
    if missing:
        sys.exit(f"reckon-scale: {sys.argv[1]} lacks {', '.join(missing)}")
    print("| figure | measured |\n|---|---|")
    for name, (words, form) in NAMES.items():
        print(f"| {words} | {form.format(figures[name])} |")
    print("\n| payments per second | 1,000 | 10,000 | 100,000 |\n|---|---|---|---|")
    server, backend = (figures[f"postgres.processor.{kind}"] / 1e6 for kind in ("servers", "backends"))
    rows = {
        f"nodes of {CORES_A_NODE} processors": lambda rate: f"{math.ceil(rate * server / (CORES_A_NODE * SHARE)):,}",
        "processors of the primary": lambda rate: f"{math.ceil(rate * backend / SHARE):,}",
        "commits per second": lambda rate: f"{rate * COMMITS:,}",
        "write-ahead log per second": lambda rate: size(rate * figures["postgres.log"]),
        "growth of the store in a day": lambda rate: size(rate * 86_400 * BYTES_A_PAYMENT),
        f"load of the {CHAINS} audit chains, {CHAINS / HOLD:,.0f} commits per second":
            lambda rate: f"{rate * COMMITS * HOLD / CHAINS:.0%}",
        f"load of the hand-over, {HANDED_OVER:,} events per second": lambda rate: f"{rate * EVENTS / HANDED_OVER:.0%}",
    }
    for name, row in rows.items():
        print(f"| {name} | " + " | ".join(row(rate) for rate in (1_000, 10_000, 100_000)) + " |")


if __name__ == "__main__":
    main()
