"""Mutants of the simulated session, and the rows of the tables that notice them."""

import session_life
import session_payment_request
import session_rules
from claims import claim
from merchantpage import BY_SCRIPT, Rows, agrees, merchant_page

# The mutant, the original code, the mutated code, and the row that must notice it.
MUTANTS = [
    ("a second more than thirty", "const ANSWER_WITHIN = 30_000;", "const ANSWER_WITHIN = 31_000;",
     session_life, session_life.BUDGETS,
     "shippingmethodselected that is not answered ends the sheet after 30 seconds and not before"),
    ("an answer without an event", "if (this.#presentation?.state !== state) throw invalidAccess();", "",
     session_life, session_life.WAITING_FOR_NOTHING, "completeCouponCodeChange is refused when nothing asked for it"),
    ("a sheet beside another", "if (hasOpenSheet()) throw invalidAccess(", "if (false) throw invalidAccess(",
     session_life, session_life.STATES, "a page has one sheet at a time"),
    ("a sheet that closes after a failure to be corrected", "status !== STATUS.SUCCESS && errors.length > 0",
     "false && errors.length > 0", session_life, session_life.PAYMENT,
     "failure with an unknown error leaves the sheet open for another try"),
    ("an engine that waits without a listener", "if (hasListener(type)) return", "if (true) return",
     session_life, session_life.EVENTS, "without a listener the engine answers paymentmethodselected itself"),
    ("a negative total", "if (Number(total.amount) < 0)", "if (Number(total.amount) < -9)",
     session_rules, session_rules.CONSTRUCTOR, "a negative total is refused"),
    ("a network on every device", "if (!(NETWORKS[word] <= newest) ||", "if (!NETWORKS[word] ||",
     session_rules, session_rules.BY_VERSION, "girocard is no network of older devices than version 11"),
    ("a country that is not checked", "  requireCountry(request.countryCode);\n  requireCurrency(", "  requireCurrency(",
     session_rules, session_rules.CONSTRUCTOR, "a country that is none is refused"),
    ("a payment request that is shown twice", 'if (this.#state !== "created") throw invalidState();\n    if (has',
     "if (has", session_payment_request, session_payment_request.FLOW, "a payment request is shown once"),
]


def is_noticed(shopper, mutant, prelude, row):
    """Whether the row fails with the mutant in the session's script."""
    _, expression, wanted = row
    with merchant_page(shopper, mutant):
        try:
            return not agrees(Rows([row], prelude, limit=8).answer(shopper, expression), wanted)
        except AssertionError:
            return True
        finally:
            shopper.browser.get("about:blank")  # before its server is gone
            shopper.browser_errors()


def claim_of(mutant, original, mutated, module, rows, name):
    row = next(row for row in rows if row[0] == name)

    def check(shopper):
        prelude = getattr(module, "PRELUDE", BY_SCRIPT)
        assert is_noticed(shopper, (original, mutated), prelude, row), f"no row notices {mutant}"

    check.__name__ = "_".join(f"a row notices {mutant}".split())
    return claim(page=None)(check)


globals().update((noticed.__name__, noticed) for noticed in (claim_of(*mutant) for mutant in MUTANTS))


@claim(page=None)
def a_session_without_a_mutation_passes(shopper):
    row = next(row for row in session_life.STATES if row[0] == "a page has one sheet at a time")
    script = '"use strict";'
    assert not is_noticed(shopper, (f"(() => {{\n{script}", f"(() => {{\n{script} // as it is"), BY_SCRIPT, row)
