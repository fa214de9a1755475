"""Plants bugs into a copy of the sources, one at a time, and looks whether the judges that each names notice it."""

import datetime
import re
import sys


def chosen(bugs):
    """All of them, or as many as the command asks for, others each day."""
    words = sys.argv[1:] or [str(len(bugs))]
    if len(words) > 1 or not words[0].isdigit() or not 0 < int(words[0]) <= len(bugs):
        sys.exit(f"usage: {sys.argv[0]} [COUNT], from 1 to {len(bugs)}")
    count = int(words[0])
    first = datetime.date.today().toordinal() * count
    return [bugs[(first + number) % len(bugs)] for number in range(count)]


def pattern(good):
    """In the text of a bug `$#` stands for any one parameter of SQL, so that it still fits when a column is added."""
    return r"\$(\d+)".join(re.escape(part) for part in good.split("$#"))


def found_in(text, good):
    return re.search(pattern(good), text) is not None


def replaced(text, good, bad):
    """`$#1` in what is put in its place is the first of the parameters."""
    def put(match):
        return re.sub(r"\$#(\d)", lambda number: f"${match[int(number[1])]}", bad)

    return re.sub(pattern(good), put, text)


def plant(sources, bug, build, noticed):
    """Whether the bug was noticed by all of its judges, after saying so. The copy is as before afterwards.

    A bug is a name, its edits (a file, what stands there, what is put in its place wherever it stands; a list of several) and
    its judges."""
    name, *change, judges = bug
    edits = change[0] if isinstance(change[0], list) else [change]
    texts = {file: (sources / file).read_text(encoding="utf-8") for file, _, _ in edits}
    stray = [file for file, good, _ in edits if not found_in(texts[file], good)]
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
        found = noticed(judges) if built.returncode == 0 else set()
    finally:
        for file, text in texts.items():
            (sources / file).write_text(text, encoding="utf-8")
    if built.returncode != 0:
        print(f"- {name}: does not build\n{built.stdout[-4000:]}{built.stderr[-4000:]}")
    missed = [judge for judge in judges if judge not in found]
    others = f" and {len(found) - len(judges)} more" if len(found) > len(judges) else ""
    print(f"- {name}: not noticed by {', '.join(missed)}" if missed else f"+ {name}: noticed by {', '.join(judges)}{others}",
          flush=True)
    return not missed
