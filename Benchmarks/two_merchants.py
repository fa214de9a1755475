#!/usr/bin/env python3
"""How much slower one merchant's payments become while another floods the platform API: two_merchants.py TENDER

Kitsune's server pays one payment after the other, alone and beside a flood of Harbour's, which the quotas refuse. Prints
`bench: platform.flood.p50.ratio` and `.p99.ratio`, of the same run without the flood, and how much of the flood was refused.
"""
import base64
import os
import pathlib
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Tests/Support"))
import demo_server  # noqa: E402

PAYMENTS, WARM, THREADS = 120, 10, 16


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


def quantiles(times):
    return statistics.median(times), statistics.quantiles(times, n=100)[98]


def flood(demo, stop, counts):
    while not stop.is_set():
        status, _ = demo.signed("GET", "services/testconnection")
        counts[status] = counts.get(status, 0) + 1


def main():
    with demo_server.running(sys.argv[1]) as demo:
        other = demo.of("kitsune")
        for _ in range(WARM):
            pay(other)
        alone = quantiles([pay(other) for _ in range(PAYMENTS)])
        stop, counts = threading.Event(), {}
        threads = [threading.Thread(target=flood, args=(demo, stop, counts)) for _ in range(THREADS)]
        for thread in threads:
            thread.start()
        beside = quantiles([pay(other) for _ in range(PAYMENTS)])
        stop.set()
        for thread in threads:
            thread.join()
    print(f"bench: platform.flood.p50.ratio {beside[0] / alone[0]:.2f} of-alone")
    print(f"bench: platform.flood.p99.ratio {beside[1] / alone[1]:.2f} of-alone")
    print(f"bench: platform.flood.refused {counts.get(429, 0) / max(1, sum(counts.values())):.2f} of-calls")


if __name__ == "__main__":
    main()
