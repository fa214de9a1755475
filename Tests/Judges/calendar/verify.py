#!/usr/bin/env python3
"""The dates of agreements against python-dateutil: verify.py [TENDER] [--write]

Every start date × every interval over five years, and days and months across the changes of summer time in four zones. A line of
Tests/Support/Vectors/agreement-calendar.txt is one interval: unit, count, zone, time, first start, number of starts, number of dates of
each, and the SHA-256 of all dates in seconds since 1970, one a line. A unit test holds the ledger to the same lines.
"""
import datetime
import hashlib
import pathlib
import sys
import zoneinfo

from dateutil.relativedelta import relativedelta

TABLE = pathlib.Path(__file__).resolve().parent.parent.parent / "Support/Vectors/agreement-calendar.txt"
DAYS = [7, 10, 14, 28, 30, 60, 90, 180]
MONTHS = [*range(1, 13), 18, 24]
YEARS = [1, 2, 3, 4, 5]
FIVE = [("day", n) for n in DAYS] + [("month", n) for n in MONTHS] + [("year", n) for n in YEARS]
# Where clocks change at the time itself: by an hour, by half an hour, and on the southern half.
CHANGES = [("Europe/Dublin", "01:30"), ("America/New_York", "02:30"), ("Australia/Lord_Howe", "02:15"), ("America/Santiago", "00:30")]
CASES = [(*interval, "UTC", "00:00", "2024-01-01", 1827, 5) for interval in FIVE] + [
    (*interval, zone, time, "2025-01-01", 365, 2) for zone, time in CHANGES for interval in [("day", 1), ("day", 7), ("month", 1)]]


def seconds(local, zone):
    """A time that is skipped is as much later as the clock skips; of a time that comes twice the first counts.

    By Python's zoneinfo: dateutil's own zones have 02:30 on the day Dublin's summer time ends two hours early.
    """
    return int(local.replace(tzinfo=zone, fold=0).timestamp())


def line(unit, count, zone_name, time, first, starts, years):
    zone, digest = zoneinfo.ZoneInfo(zone_name), hashlib.sha256()
    numbers = {"day": years * 365, "month": years * 12, "year": years}[unit] // count + 1
    for day in range(starts):
        start = datetime.datetime.fromisoformat(f"{first}T{time}") + datetime.timedelta(days=day)
        start = datetime.datetime.fromtimestamp(seconds(start, zone), zone).replace(tzinfo=None)
        for number in range(numbers):
            local = start + relativedelta(**{f"{unit}s": number * count})
            digest.update(f"{seconds(local, zone)}\n".encode())
    return f"{unit} {count} {zone_name} {time} {first} {starts} {numbers} {digest.hexdigest()}"


def main():
    found = "".join(line(*case) + "\n" for case in CASES)
    if "--write" in sys.argv:
        TABLE.write_text(found)
    if found != TABLE.read_text():
        sys.exit(f"calendar: {TABLE.name} is not what python-dateutil reckons; write it with --write")
    print(f"  {len(CASES)} intervals, as python-dateutil reckons them")


main()
