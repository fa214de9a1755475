"""The web kit plays the transcripts of Tests/Support/Flows, in a real browser with a clock of its own."""

import pathlib

from claims import claim
from pages import serve

HOUSE = pathlib.Path(__file__).resolve().parents[2]
KIT = HOUSE / "Web/kit"
FLOWS = HOUSE / "Tests/Support/Flows"

# Mistakes that a kit could make: the story that notices each, and what is written in the kit instead of what. The first
# is none, and goes unnoticed.
MISTAKES = {
    "is right": ("payment-captured", "", ""),
    "opens a second sheet": ("press-twice", "if (this.#sheet) return; // a second click", ""),
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
    "loses the errors of a payment": ("contact-corrected", "const errors = sheetErrors(found);", "const errors = [];"),
    "loses the errors of an update": (
        "address-not-served", "(errors ? { ...update, errors: sheetErrors(errors) } : update)", "update"),
    "cancels nothing": ("cancelled-while-paying", "if (sheet.isPaying) {", "if (false) {"),
    "prices two choices at once": (
        "changes-in-a-row", "sheet.turn = sheet.turn.then(() =>", "sheet.turn = Promise.resolve().then(() =>"),
    "forgets a payment after a reload": ("returned-after-paying", "this.#recover(false);", ""),
    "stops asking": ("outcome-unknown", "this.#recover(true);", ";"),
    "asks for ever": ("outcome-never-known", "const ASK_FOR = 300_000;", "const ASK_FOR = 900_000;"),
}


def transcripts():
    return {path.stem: path.read_text(encoding="utf-8") for path in sorted(FLOWS.glob("*.txt"))}


def pages(mistakes=()):
    kit = (KIT / "tender.js").read_text(encoding="utf-8")
    served = {f"/kit/{path.name}": path for path in KIT.iterdir()}
    served["/"] = "<!doctype html><html lang=en><title>Flows</title>"
    served["/player.js"] = HOUSE / "Tests/Browser/kit/flow_player.js"
    for number, name in enumerate(mistakes):
        _, right, wrong = MISTAKES[name]
        assert right in kit, f"the kit has no “{right}” any more: plant “{name}” otherwise"
        served[f"/mistake-{number}/tender.js"] = kit.replace(right, wrong)
        served[f"/mistake-{number}/elements.js"] = "export const define = () => {};"
    return served


def perform(browser, kit, texts):
    """What each transcript complains of, by its name; nothing where it is kept."""
    answer = browser.execute_async_script(
        """
        const [kit, texts, done] = arguments;
        const run = async () => {
          const { perform } = await import("/player.js");
          const complaints = {};
          for (const [name, text] of Object.entries(texts)) {
            complaints[name] = await perform(`${kit}?${name}`, text).catch((error) => String(error.stack));
          }
          return complaints;
        };
        run().then(done, (error) => done({ player: String(error) }));
        """, kit, texts)
    return {name: complaint for name, complaint in answer.items() if complaint}


@claim(page=None)
def the_kit_does_what_every_transcript_says(shopper):
    texts = transcripts()
    assert len(texts) >= 25, f"there are only {len(texts)}"
    with serve(pages()) as origin:
        shopper.browser.get(origin)
        complaints = perform(shopper.browser, "/kit/tender.js", texts)
    assert not complaints, "; ".join(f"{name}: {complaint}" for name, complaint in complaints.items())


@claim(page=None, limit=300)
def the_transcripts_notice_a_kit_that_is_wrong(shopper):
    texts = transcripts()
    unnoticed = []
    with serve(pages(MISTAKES)) as origin:
        for number, (name, (story, _, _)) in enumerate(MISTAKES.items()):
            shopper.browser.get(origin)
            complaints = perform(shopper.browser, f"/mistake-{number}/tender.js", {story: texts[story]})
            if not any(complaint.startswith("line ") for complaint in complaints.values()):
                unnoticed.append(name)
    assert unnoticed == ["is right"], f"no transcript complains of a kit that {', '.join(unnoticed)}"
