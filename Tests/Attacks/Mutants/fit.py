#!/usr/bin/python3
"""Whether the text of every mutant, and the name of every test that has to detect it, is still in the sources. A mutant that
does not fit says nothing, and the runs that would tell so take long."""

import pathlib
import sys

root = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(root / "Tests/Attacks/TokenLab/Bugs"), str(root / "Tests/Attacks/Mutants")]
sys.dont_write_bytecode = True
import bugs  # noqa: E402
import gateway  # noqa: E402
from mutation import strays  # noqa: E402


def unknown(tests, known):
    return [test for test in tests if f"`{test.split('/', 1)[1]}`" not in known]


def main():
    known = "".join(path.read_text(encoding="utf-8") for path in (root / "Tests/Unit").rglob("*.swift"))
    misfits = [(mutant, unknown(mutant[-1], known) + strays(root / "Sources", mutant)) for mutant in gateway.MUTANTS]
    misfits += [(mutant, strays(root / "Tests/Attacks/TokenLab/Sources", mutant)) for mutant in bugs.MUTANTS]
    faults = [f"{mutant[0]}: does not fit {', '.join(places)} any more" for mutant, places in misfits if places]
    print("\n".join([*faults, f"mutants: {len(misfits)}, of which {len(faults)} do not fit"]))
    sys.exit(1 if faults else 0)


main()
