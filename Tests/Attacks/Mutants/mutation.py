"""Applies mutants to a copy of the sources, one at a time, and checks that the tests of each detect it."""

import datetime
import re
import sys


def chosen(mutants):
    """All mutants, or as many as the command line asks for, a different choice each day, or those with a text in their
    name or in the name of a test."""
    words = sys.argv[1:] or [str(len(mutants))]
    is_count = len(words) == 1 and words[0].isdigit()
    named = [mutant for mutant in mutants if any(word in text for word in words for text in [mutant[0], *mutant[-1]])]
    # Names hold numbers too.
    if named and not is_count:
        return named
    if not is_count or not 0 < int(words[0]) <= len(mutants):
        sys.exit(f"usage: {sys.argv[0]} [COUNT, from 1 to {len(mutants)}, or TEXT… of a bug or test]")
    count = int(words[0])
    first = datetime.date.today().toordinal() * count
    return [mutants[(first + number) % len(mutants)] for number in range(count)]


def pattern(good):
    """In the text of a mutant `$#` matches any one parameter of SQL, so that it still fits when a column is added."""
    return r"\$(\d+)".join(re.escape(part) for part in good.split("$#"))


def found_in(text, good):
    return re.search(pattern(good), text) is not None


def replaced(text, good, bad):
    """`$#1` in the replacement is the first of the parameters."""
    def put(match):
        return re.sub(r"\$#(\d)", lambda number: f"${match[int(number[1])]}", bad)

    return re.sub(pattern(good), put, text)


def changes(mutant):
    """Its edits."""
    _, *change, _ = mutant
    return change[0] if isinstance(change[0], list) else [change]


def strays(sources, mutant):
    """The files that do not have the text which an edit replaces."""
    return [file for file, good, _ in changes(mutant) if not found_in((sources / file).read_text(encoding="utf-8"), good)]


def detected(sources, mutant, build, failed):
    """Whether all tests of the mutant detected it, and prints the result. The copy is restored afterwards.

    A mutant is a name, its edits (a file, a text, its replacement wherever it occurs; or a list of several) and its tests."""
    name, *_, tests = mutant
    edits = changes(mutant)
    texts = {file: (sources / file).read_text(encoding="utf-8") for file, _, _ in edits}
    stray = strays(sources, mutant)
    if stray:
        print(f"- {name}: does not fit {', '.join(stray)} any more", flush=True)
        return False
    changed = dict(texts)
    for file, good, bad in edits:
        changed[file] = replaced(changed[file], good, bad)
    try:
        for file, text in changed.items():
            (sources / file).write_text(text, encoding="utf-8")
        built = build()
        found = failed(tests) if built.returncode == 0 else set()
    finally:
        for file, text in texts.items():
            (sources / file).write_text(text, encoding="utf-8")
    if built.returncode != 0:
        print(f"- {name}: does not build\n{built.stdout[-4000:]}{built.stderr[-4000:]}")
    missed = [test for test in tests if test not in found]
    others = f" and {len(found) - len(tests)} more" if len(found) > len(tests) else ""
    print(f"- {name}: not detected by {', '.join(missed)}" if missed else f"+ {name}: detected by {', '.join(tests)}{others}",
          flush=True)
    return not missed
