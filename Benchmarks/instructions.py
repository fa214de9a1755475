#!/usr/bin/env python3
"""Counts the instructions that the server executes for a payment, by function, its allocations, and how often SQLite steps:
scripts/bench instructions

Fails when one of the three has grown by more than 5 % against Benchmarks/instructions.txt; RECORD=yes writes that file.
FUNCTIONS=40 says how many functions are listed. A minute after the build, which is the static one of `make install`:
valgrind does not get along with the shared libdispatch. docs/benchmarks.md explains the figures.
"""
import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BASELINE = "Benchmarks/instructions.txt"
TOLERANCE = 1.05


def run(command, **variables):
    subprocess.run(command, check=True, env={**os.environ, **variables})


def build():
    run(["scripts/install-prerequisites", "install"])
    run(["scripts/install-prerequisites", "instructions"])
    run(["scripts/build", "release", "tender"], STATIC="yes")
    run(["scripts/build", "release", "PaymentBench"])


def counted_server(folder):
    """A program that serves under valgrind. It has names of functions and no more: valgrind cannot read the rest."""
    program = f"{folder}/program"
    run(["strip", "--strip-debug", "-o", program, ".build/static/release/tender"])
    with open(f"{folder}/tender", "w") as script:
        script.write(
            "#!/bin/sh\n"
            f"exec valgrind --tool=callgrind --callgrind-out-file={folder}/counts --fair-sched=yes --max-threads=2000 "
            f'{program} "$@"\n')
    os.chmod(f"{folder}/tender", 0o755)
    return f"{folder}/tender"


def measure(folder):
    """The number of payments, and the file with the counts."""
    server = counted_server(folder)
    os.mkdir(f"{folder}/store")
    done = subprocess.run(
        [".build/release/PaymentBench", server, f"{folder}/store", "instructions"],
        stdout=subprocess.PIPE, text=True, timeout=900)
    found = re.search(r"^bench: payments ([\d.]+)", done.stdout, re.M)
    if done.returncode != 0 or not found:
        sys.exit(done.stdout)
    return float(found[1]), f"{folder}/counts.1"


ALLOCATING = {"malloc", "calloc", "realloc", "posix_memalign", "aligned_alloc"}


def counted(path):
    """By function: instructions, without those of the functions that it calls, and calls. The format: valgrind's cl-format."""
    names, costs, calls = {}, collections.Counter(), collections.Counter()
    function, callee, is_call = None, None, False
    with open(path) as lines:
        for line in lines:
            if match := re.match(r"(c?fn)=\((\d+)\)(?: (.*))?$", line):
                kind, number, name = match.groups()
                if name:
                    names[number] = name
                if kind == "fn":
                    function = number
                else:
                    callee = number
            elif match := re.match(r"calls=(\d+)", line):
                calls[callee] += int(match[1])
                is_call = True
            elif re.match(r"[\d+*-]", line):
                if not is_call:
                    costs[function] += int(line.split()[1])
                is_call = False
    functions = [(names.get(number, "?"), count) for number, count in costs.most_common()]
    called = collections.Counter()
    for number, count in calls.items():
        called[names.get(number, "?")] += count
    return functions, called


def readable(names):
    tool = shutil.which("swift-demangle") or shutil.which("swift")
    command = [tool] if tool and tool.endswith("demangle") else [tool, "demangle"]
    done = subprocess.run(command + ["--simplified"], input="\n".join(names), stdout=subprocess.PIPE, text=True)
    return done.stdout.splitlines() if done.returncode == 0 else names


def main():
    os.chdir(ROOT)
    build()
    with tempfile.TemporaryDirectory(prefix="tender-bench.") as folder:
        payments, path = measure(folder)
        functions, calls = counted(path)
    whole = sum(count for _, count in functions)
    listed = functions[: int(os.environ.get("FUNCTIONS", "40"))]
    for (_, count), name in zip(listed, readable([name for name, _ in listed])):
        print(f"{count / payments:10.0f} {100 * count / whole:5.1f} %  {name[:150]}")
    figures = {
        "instructions": whole / payments,
        "allocations": sum(calls[name] for name in ALLOCATING) / payments,
        "steps": calls["sqlite3_step"] / payments,
    }
    for name, figure in figures.items():
        print(f"bench: payment.{name} {figure:.0f} a-payment")
    compare(figures)


def compare(figures):
    if os.environ.get("RECORD") == "yes":
        with open(BASELINE, "w") as file:
            file.writelines(f"{name} {figure:.0f}\n" for name, figure in figures.items())
        return
    with open(BASELINE) as file:
        bars = {name: TOLERANCE * float(figure) for name, figure in map(str.split, file)}
    missed = [name for name in figures if figures[name] > bars[name]]
    for name in missed:
        print(f"missed: payment.{name}, the bar is {bars[name]:.0f} or less")
    if missed:
        sys.exit(1)


main()
