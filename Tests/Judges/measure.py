#!/usr/bin/env python3
"""Runs a program, and says with which code it ended and how much memory it had at most, in kilobytes.

    Tests/Judges/measure.py PROGRAM [ARGUMENT]...

The kernel counts what a process had before `exec` too, and that was its parent's. So the parent has to be small: not the
tests, which grow while they run.
"""

import resource
import subprocess
import sys

ended = subprocess.run(sys.argv[1:], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
print(ended.returncode, resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
