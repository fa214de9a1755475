// The platform's payment page. The server renders every text; this script shows and hides them, and asks whether
// another tab or device was faster.

const { page, state, server, basket } = document.body.dataset;
const find = (id) => document.getElementById(id);
const show = (element, isShown = true) => {
  if (element) element.hidden = !isShown;
};

const POLL = 3_000;
const SLOW_POLL = 15_000;
const POLLS_BEFORE_SLOW = 40;
const MINUTE = 60_000;
/** Below this the page counts minutes; above it says a time. */
const COUNTED = 60;

/** The server renders what is true now; a page in the history is not. */
const reload = () => location.replace(page);

const ask = async (path, options = {}) => {
  const response = await fetch(path, { cache: "no-store", credentials: "omit", ...options });
  return response.ok ? response.json() : undefined;
};

/** Loads the page anew if another tab, another device or time has changed the state. */
const compare = async () => {
  const now = await ask(`${page}/state`).catch(() => undefined);
  if (now && now.state !== state) reload();
  return now;
};

// ── While the outcome is not known

const awaitOutcome = async () => {
  for (let count = 0; ; count++) {
    await new Promise((resolve) => setTimeout(resolve, count < POLLS_BEFORE_SLOW ? POLL : SLOW_POLL));
    await ask(`${server}/applepay/payment/${basket}`).catch(() => undefined); // makes the server inquire
    await compare();
  }
};

// ── While the shopper may pay

const message = (text, kind = "error") => {
  const place = find("message");
  place.textContent = text;
  place.dataset.kind = kind;
  show(find("declined"), false); // the newer message counts
  show(place, Boolean(text));
};

const texts = () => find("texts").dataset;

const REASONS = { simulated_session: "disabled", insecure_page: "disabled", payment_not_permitted: "disabled" };

const explain = (code) => {
  const lines = [...document.querySelectorAll("[data-reason]")];
  const wanted = lines.find(({ dataset }) => dataset.reason === (REASONS[code] ?? code)) ?? lines.at(-1);
  for (const line of lines) show(line, line === wanted);
  show(find("reasons"));
  show(find("phone"));
};

const showCode = async () => {
  const code = await ask(find("phone").dataset.handover, {
    method: "POST",
    headers: { Accept: "application/json", "Content-Type": "application/json" },
    body: "{}",
  }).catch(() => undefined);
  if (!code) return message(texts().connectionLost);
  const picture = find("phone-code");
  picture.src = code.picture;
  const time = new Intl.DateTimeFormat(document.documentElement.lang, { timeStyle: "short" });
  find("phone-text").textContent = code.text.replace("{time}", time.format(new Date(code.expiresAt)));
  show(picture);
  show(find("phone-text"));
};

const failed = async ({ code, detail }) => {
  const now = await compare();
  if (now?.attempts) {
    find("attempts").textContent = now.attempts;
    show(find("attempts"));
  }
  message(code === "connection_lost" ? texts().connectionLost : detail || texts().tryAgain);
};

const listen = (button) => {
  const on = (name, handle) => button.addEventListener(`tender:${name}`, ({ detail }) => handle(detail));
  on("pressed", () => message(""));
  on("ready", ({ state: kind }) => {
    show(find("reasons"), false);
    show(find("phone"), false);
    show(find("no-card"), kind === "set-up");
  });
  on("authorized", reload);
  on("cancelled", () => message(texts().sheetClosed, "note"));
  on("failed", failed);
  on("unavailable", async ({ reasons: [reason] }) => {
    await compare();
    if (button.checkout.mayPass) return message(texts().connectionLost);
    explain(reason?.code);
  });
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => button.setAttribute("button-style", dark.matches ? "white" : "black");
  dark.addEventListener("change", dress);
  dress();
};

/** In the shopper's own time, and at last in minutes. */
const countDown = () => {
  const place = find("minutes");
  const until = new Date(place.dataset.until);
  const language = document.documentElement.lang;
  const rules = new Intl.PluralRules(language);
  const written = (style) => new Intl.DateTimeFormat(language, style).format(until);
  const sentence = find("until").dataset.text.replace("{date}", written({ dateStyle: "long" }));
  find("until").textContent = sentence.replace("{time}", written({ timeStyle: "short" }));
  const tick = () => {
    const left = until - Date.now();
    if (left <= 0) return setTimeout(compare, 1_000);
    const minutes = Math.ceil(left / MINUTE);
    const isCounted = minutes <= COUNTED;
    const form = place.dataset[rules.select(minutes)] ?? place.dataset.other ?? "";
    place.textContent = form.replace("{n}", minutes);
    show(place, isCounted);
    show(find("until"), !isCounted);
    return setTimeout(tick, Math.min(left % MINUTE || MINUTE, MINUTE) + 50);
  };
  tick();
};

const offer = () => {
  const button = document.querySelector("tender-apple-pay");
  if (button) listen(button);
  find("phone-show")?.addEventListener("click", showCode);
  countDown();
  setInterval(() => {
    if (!document.hidden) compare();
  }, SLOW_POLL);
  document.addEventListener("visibilitychange", () => {
    if (!document.hidden) compare();
  });
};

addEventListener("pageshow", ({ persisted }) => {
  if (persisted) location.reload();
});
if (state === "processing") awaitOutcome();
else if (state === "open") offer();
