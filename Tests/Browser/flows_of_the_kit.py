"""The web kit against the transcripts of Tests/Support/Flows, in a real browser with a test clock."""

import pathlib

from claims import claim
from pages import serve

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIT = ROOT / "Web/kit"
FLOWS = ROOT / "Tests/Support/Flows"

# Mutants of the kit: the transcript that notices each, the original code and the mutated code. The first mutant changes
# nothing and is not noticed.
MUTANTS = {
    "is original": ("payment-captured", "", ""),
    "opens a second sheet": ("press-twice", "if (this.#sheet) return;", ""),
    "pays the first quote": ("address-changed", "this.quoteId = quoteId;", ""),
    "sends a payment twice": (
        "payment-captured", "let mustSend = true;",
        "let mustSend = true; call(this.server, 'POST', 'payment', body, 18_000).catch(() => {});"),
    "sends again what may have arrived": ("payment-answer-lost", "mustSend = isAbsent;", "mustSend = true;"),
    "calls an unknown payment failed": (
        "outcome-unknown", "throw mayHaveArrived ? unknown() : error;",
        "throw error ?? new TenderError('declined', '');"),
    "gives up at the first trouble": (
        "update-after-an-outage", "const PASSING = [0, 429, 502, 503, 504];", "const PASSING = [];"),
    "lets the sheet wait too long": (
        "update-timed-out", "const ANSWER_WITHIN = 27_000;", "const ANSWER_WITHIN = 31_000;"),
    "keeps an expired sheet open": (
        "session-expired", "const SESSION_LIVES = 300_000;", "const SESSION_LIVES = 600_000;"),
    "loses the errors of a payment": ("contact-corrected", "const errors = sheetErrors(error.errors);", "const errors = [];"),
    "loses the errors of an update": (
        "address-not-served", "{ ...update, errors: sheetErrors(update.errors) }", "{ ...update, errors: [] }"),
    "cancels nothing": ("cancelled-while-paying", "if (sheet.isPaying) {", "if (false) {"),
    "prices two choices at once": (
        "changes-in-a-row", "sheet.turn = sheet.turn.then(() =>", "sheet.turn = Promise.resolve().then(() =>"),
    "forgets a payment after a reload": ("returned-after-paying", "this.#recover(false);", ""),
    "stops asking": ("outcome-unknown", "this.#recover(true);", ";"),
    "asks for ever": ("outcome-never-known", "const ASK_FOR = 300_000;", "const ASK_FOR = 900_000;"),
}


def transcripts():
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FLOWS.glob("*.txt"))}


def pages(mutants=()):
    kit = (KIT / "tender.js").read_text(encoding="utf-8")
    served = {f"/kit/{path.name}": path for path in KIT.iterdir()}
    served["/"] = "<!doctype html><html lang=en><title>Flows</title>"
    served["/runner.js"] = ROOT / "Tests/Browser/kit/flow_runner.js"
    for number, name in enumerate(mutants):
        _, original, mutated = MUTANTS[name]
        assert original in kit, f"the kit has no “{original}” any more: update “{name}”"
        served[f"/mutant-{number}/tender.js"] = kit.replace(original, mutated)
        served[f"/mutant-{number}/elements.js"] = "export const define = () => {};"
    return served


def perform(browser, kit, texts):
    """The error of each failed transcript, by its name."""
    answer = browser.execute_async_script(
        """
        const [kit, texts, done] = arguments;
        const run = async () => {
          const { perform } = await import("/runner.js");
          const errors = {};
          for (const [name, text] of Object.entries(texts)) {
            errors[name] = await perform(`${kit}?${name}`, text).catch((error) => String(error.stack));
          }
          return errors;
        };
        run().then(done, (error) => done({ runner: String(error) }));
        """, kit, texts)
    return {name: error for name, error in answer.items() if error}


@claim(page=None)
def the_kit_does_what_every_transcript_says(shopper):
    texts = transcripts()
    assert len(texts) >= 25, f"there are only {len(texts)}"
    with serve(pages()) as origin:
        shopper.browser.get(origin)
        errors = perform(shopper.browser, "/kit/tender.js", texts)
    assert not errors, "; ".join(f"{name}: {error}" for name, error in errors.items())


@claim(page=None, limit=300)
def the_transcripts_notice_a_kit_that_is_wrong(shopper):
    texts = transcripts()
    unnoticed = []
    with serve(pages(MUTANTS)) as origin:
        for number, (name, (transcript, _, _)) in enumerate(MUTANTS.items()):
            shopper.browser.get(origin)
            errors = perform(shopper.browser, f"/mutant-{number}/tender.js", {transcript: texts[transcript]})
            if not any(error.startswith("line ") for error in errors.values()):
                unnoticed.append(name)
    assert unnoticed == ["is original"], f"no transcript notices a kit that {', '.join(unnoticed)}"
