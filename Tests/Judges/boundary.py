#!/usr/bin/python3
"""Mutants through the C boundary with a sanitizer: Tests/Judges/boundary.py C-LIBRARY address|thread MUTANTS"""

import pathlib
import sys
import tempfile

import bindings

library, sanitizer, mutants = pathlib.Path(sys.argv[1]).resolve(), sys.argv[2], int(sys.argv[3])
with tempfile.TemporaryDirectory(prefix="tender-boundary-") as name:
    place = pathlib.Path(name)
    _, seconds = bindings.fixtures(place)
    env = {"PKG_CONFIG_PATH": f"{library}/lib/pkgconfig", "LD_LIBRARY_PATH": f"{library}/lib"}
    _, flags, _ = bindings.run("pkg-config", "--cflags", "--libs", "applepaytoken", env=env)
    bindings.boundary(place, " ".join(flags).split(), env, seconds, mutants, [f"-fsanitize={sanitizer}"])
sys.exit(1 if bindings.failures else 0)
