#!/usr/bin/python3
"""Free TCP ports of 127.0.0.1 for a test's servers.

    free_ports.py COUNT     prints the first of COUNT ports in a row

The ports lie below the range that the kernel gives to clients: otherwise a client that connects while its server is down
could be given the server's own port and connect to itself. The Swift tests take theirs from 18000 to 27000.
"""
import random, socket, sys


def row(count):
    """The first of `count` free ports in a row. Each stays free until a program listens on it."""
    below, dice = ephemeral(), random.SystemRandom()
    for _ in range(200):
        first = dice.randrange(below - 5_000, below - count)
        if all(is_free(port) for port in range(first, first + count)):
            return first
    raise SystemExit(f"free_ports: no {count} free ports in a row")


def ephemeral():
    """The first port of the kernel's range for clients; 32768 if that range leaves too few below it."""
    with open("/proc/sys/net/ipv4/ip_local_port_range") as file:
        first = int(file.read().split()[0])
    return first if first > 16384 else 32768


def is_free(port):
    with socket.socket() as probe:
        try:
            probe.bind(("127.0.0.1", port))
            return True
        except OSError:
            return False


if __name__ == "__main__":
    print(row(int(sys.argv[1])))
