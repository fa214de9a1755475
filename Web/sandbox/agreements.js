// The page with the wallet's agreements. A person replaces or removes the card of one; the sandbox then notifies the
// merchant's server as Apple does.
"use strict";

const POLL = 1000;

const part = (id) => document.getElementById(id);

const call = async (path, body) => {
  const response = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  const answer = await response.json();
  if (!response.ok) throw new Error(answer.message);
  return answer;
};

const say = (text) => {
  if (part("status").textContent !== text) part("status").textContent = text;
};

const NAMES = {
  UNLINK: "Unlinked",
  UPDATED_METADATA: "Card replaced",
  UPDATED_CARD_ART: "New art",
  UPDATED_MERCHANT_TOKEN_PUBLIC_KEY: "New device key",
  UPDATED_SOMETHING_ELSE: "Unknown event",
};

const told = ({ acknowledged, waiting }) => {
  if (waiting) return "the server is yet to be told";
  return acknowledged ? `the server was told${acknowledged > 1 ? ` ${acknowledged} times` : ""}` : "the server was not told";
};

const fact = (name, value) => {
  const row = document.createElement("div");
  for (const [tag, text] of [["dt", name], ["dd", value]]) {
    row.append(Object.assign(document.createElement(tag), { textContent: text, dir: "auto" }));
  }
  return row;
};

const rows = new Map(); // by merchant token, so that a row keeps its focus

const row = (token) => {
  const known = rows.get(token.merchantTokenIdentifier);
  if (known) return known;
  const made = part("agreement").content.firstElementChild.cloneNode(true);
  made.addEventListener("click", ({ target }) => {
    if (target.dataset.event) happen(token.merchantTokenIdentifier, target.dataset);
  });
  rows.set(token.merchantTokenIdentifier, made);
  part("agreements").append(made);
  return made;
};

const show = (tokens) => {
  for (const token of tokens) {
    const shown = row(token);
    const text = JSON.stringify(token);
    if (shown.dataset.shown === text) continue;
    shown.dataset.shown = text;
    shown.querySelector("h2").textContent = token.agreement || "An agreement";
    shown.querySelector(".state").textContent = token.unlinkedBy ? `Ended by the ${token.unlinkedBy}` : "Active";
    shown.querySelector("dl").replaceChildren(
      fact("Merchant", token.merchant || token.merchantIdentifier),
      fact("Card", `${token.card} ••••\u00a0${token.suffix}, ${token.expiry}`),
      ...token.events.map((event) => fact(NAMES[event.event], told(event))),
    );
    for (const button of shown.querySelectorAll("button")) button.disabled = Boolean(token.unlinkedBy);
  }
  if (!tokens.length) say("No agreement yet. Cards that give a merchant token: Visa credit, Mastercard credit, American Express.");
  else if (part("status").textContent === "Reading …") say("");
};

const read = async () => {
  try {
    show(await call("/agreements/list"));
  } catch {
    say("The sandbox does not answer.");
  }
};

const happen = async (token, { event, by }) => {
  try {
    await call(`/agreements/${encodeURIComponent(token)}`, { event, by, delivery: part("delivery").value });
    say(`${NAMES[event]}.`);
  } catch (error) {
    say(error.message);
  }
  await read();
};

const watch = async () => {
  await read();
  setTimeout(watch, POLL);
};

watch();
