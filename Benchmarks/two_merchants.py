#!/usr/bin/env python3
"""How much slower one merchant's payments become while another floods the platform API: two_merchants.py TENDER

Kitsune's server pays one payment after the other, alone and beside a flood of Harbour's from processes of its own, by turns.
Harbour's processes try to make FLOOD calls a second (1500), which is more than its quota. Prints `bench:
platform.flood.p50.ratio` and `.p99.ratio`, of the turns without the flood, each with its bar and whether it is met; how much the
turns without the flood differ among themselves; how many calls a second the flood had, and how many of them were refused.
Exits with 1 where a bar is missed.
"""
import base64
import http.client
import multiprocessing
import os
import pathlib
import statistics
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Support"))
import demo_server  # noqa: E402

PAYMENTS, WARM, TURNS, PROCESSES = 100, 20, 3, 4
# A quarter is what 500 calls a second, the flood's quota, may take from a payment on two cores. Of 300 payments the third
# slowest may wait as long as another payment takes.
BARS = {"p50": 1.25, "p99": 2.0}
FLOOD = int(os.environ.get("FLOOD", "1500"))


def pay(demo):
    body = {"order": {"amountOfMoney": {"amount": 1200, "currencyCode": "JPY"}},
            "mobilePaymentMethodSpecificInput": {
                "paymentProductId": 302, "authorizationMode": "PRE_AUTHORIZATION", "requiresApproval": True,
                "decryptedPaymentData": {"dpan": "4761739000000012", "expiryDate": "1231", "eci": 7,
                                         "cryptogram": base64.b64encode(os.urandom(20)).decode()}}}
    begin = time.perf_counter()
    status, answer = demo.signed("POST", "payments", body)
    if status != 201:
        sys.exit(f"two_merchants: a payment was answered {status}: {answer}")
    return time.perf_counter() - begin


def flood(demo, running, calls, refused):
    """One process of the flood. Calls leave at an even rate, as far as their answers come as fast, on one connection and
    with one signature, which is good for five minutes: making requests must not take the processor from the server."""
    target, due = f"/v2/{demo.merchant}/services/testconnection", time.perf_counter()
    connection, headers = http.client.HTTPConnection(demo.server.removeprefix("http://")), demo.signature("GET", target)
    while True:
        if not running.wait(0.05):
            due = time.perf_counter()
            continue
        connection.request("GET", target, headers=headers)
        answer = connection.getresponse()
        answer.read()
        with calls.get_lock():
            calls.value += 1
            refused.value += answer.status == 429
        due += PROCESSES / FLOOD
        time.sleep(max(0, due - time.perf_counter()))


def quantiles(times):
    return statistics.median(times), statistics.quantiles(times, n=100)[98]


def measured(demo):
    """The times of payments alone, a list for each turn, and beside the flood; the flood's calls a second, and the share that was
    refused."""
    other, (alone, beside), (flooded, denied, seconds) = demo.of("kitsune"), ([], []), (0, 0, 0)
    running, calls, refused = multiprocessing.Event(), multiprocessing.Value("q"), multiprocessing.Value("q")
    processes = [multiprocessing.Process(target=flood, args=(demo, running, calls, refused), daemon=True)
                 for _ in range(PROCESSES)]
    for process in processes:
        process.start()
    for _ in range(WARM):
        pay(other)
    for _ in range(TURNS):
        alone.append([pay(other) for _ in range(PAYMENTS)])
        running.set()
        time.sleep(3)  # The quota lets two seconds' calls ahead.
        begin, before = time.perf_counter(), (calls.value, refused.value)
        beside += [pay(other) for _ in range(PAYMENTS)]
        seconds += time.perf_counter() - begin
        flooded, denied = flooded + calls.value - before[0], denied + refused.value - before[1]
        running.clear()
    for process in processes:
        process.terminate()
        process.join()
    return alone, quantiles(beside), flooded / seconds, denied / max(1, flooded)


def judged(name, ratio):
    """Prints a ratio with its bar. Returns whether it is met."""
    is_met = ratio <= BARS[name]
    print(f"bench: platform.flood.{name}.ratio {ratio:.2f} of-alone, bar {BARS[name]}: {'met' if is_met else 'MISSED'}")
    return is_met


def main():
    with demo_server.running(sys.argv[1]) as demo:
        turns, beside, rate, share = measured(demo)
    alone = quantiles(sum(turns, []))
    results = [judged("p50", beside[0] / alone[0]), judged("p99", beside[1] / alone[1])]
    medians = [statistics.median(turn) for turn in turns]
    print(f"bench: platform.flood.alone {alone[0] * 1000:.1f} ms p50, {alone[1] * 1000:.1f} ms p99")
    print(f"bench: platform.flood.unrest {max(medians) / min(medians):.2f} of-the-quietest-turn")
    print(f"bench: platform.flood.rate {rate:.0f} calls/s")
    print(f"bench: platform.flood.refused {share:.2f} of-calls")
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
