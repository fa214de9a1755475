"""Claims: test functions whose name states what must be true, and which fail by an assertion.

    from claims import claim

    @claim                      # begins on the shop's front page, in a fresh tab without cookies or storage
    def a_payment_by_hand_is_captured(shopper):
        ...

    @claim(page="/basket")      # begins on another page of the shop
    @claim(page=None)           # begins without a page
    @claim(page=None, browser=False)    # needs no browser: the argument is the demo (demo.py)
    @claim(limit=300)           # the time limit in seconds, of which a slow machine gets many times as many

The rows of a table (merchantpage.py) are claims as well; they share one tab and run in order.

Every claim in a file `Tests/Browser/*_*.py` runs in some browser, in no particular order and in parallel with others. A
claim also fails when a script of the page throws or the browser reports an error, unless the claim reads those errors
itself: `shopper.browser_errors()`.
"""

import dataclasses
import importlib
import pathlib
import threading
import time
import traceback

LIMIT = 180.0
# How many times. What a claim waits for has a limit of its own (shopper.py); this one is for a browser that does not answer.
SLOWEST = 20
HERE = pathlib.Path(__file__).resolve().parent


@dataclasses.dataclass(frozen=True)
class Claim:
    function: object
    page: str | None = "/"
    browser: bool = True
    limit: float = LIMIT
    table: object = None

    @property
    def id(self):
        return self.function.__name__

    @property
    def name(self):
        return self.id.replace("_", " ")

    @property
    def module(self):
        return self.function.__module__


@dataclasses.dataclass(frozen=True)
class Result:
    claim: Claim
    seconds: float
    error: str = ""
    trace: str = ""

    @property
    def line(self):
        end = f": {self.error}" if self.error else f" ({self.seconds:.1f} s)"
        return f"{'FAIL' if self.error else 'PASS'} {self.claim.name}{end}"


def claim(function=None, **how):
    """Marks a function as a claim. It stays a function, and can be called by another claim."""
    if function is None:
        return lambda function: claim(function, **how)
    function.claim = Claim(function, **how)
    return function


def discover(directory=HERE):
    """The claims of every test file, in the order of files and lines. A file without one is an error."""
    claims = []
    for path in sorted(directory.glob("*_*.py")):
        module = importlib.import_module(path.stem)
        found = [value.claim for value in vars(module).values()
                 if isinstance(getattr(value, "claim", None), Claim) and value.__module__ == path.stem]
        if not found:
            raise SystemExit(f"{path.name} claims nothing")
        claims += found
    return claims


def batches(claims):
    """Batches for one browser each: the rows of a table together, every other claim alone. The longest come first, so
    that no browser is idle at the end."""
    found = {}
    for claim in claims:
        found.setdefault(claim.table or claim, []).append(claim)
    return sorted(found.values(), key=lambda batch: (-max(claim.limit for claim in batch), -len(batch)))


def run(claim, shopper, demo):
    """Runs a claim and returns its result. A claim that exceeds its limit fails."""
    start, limit = time.monotonic(), claim.limit * SLOWEST
    timeout = threading.Timer(limit, shopper.kill) if claim.browser else None
    try:
        if timeout:
            timeout.start()
        perform(claim, shopper, demo)
        message, trace = "", ""
    except Exception as error:  # the other claims still have to run
        message, trace = first_line(error), traceback.format_exc()
    finally:
        if timeout:
            timeout.cancel()
    seconds = time.monotonic() - start
    if seconds >= limit:
        message = f"it did not end within {limit:.0f} s" + (f" ({message})" if message else "")
    return Result(claim, seconds, message, trace)


def perform(claim, shopper, demo):
    if not claim.browser:
        claim.function(demo)
        return
    if claim.table:
        claim.function(shopper)
        shopper.browser_errors()  # errors that rows provoke
        return
    shopper.arrive(claim.page)
    claim.function(shopper)
    errors = shopper.browser_errors()
    assert not errors, f"the browser reported errors: {errors}"


def first_line(error):
    text = str(error)
    return text.splitlines()[0] if text else repr(error)
