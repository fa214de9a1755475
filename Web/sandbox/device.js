// The page that simulates a phone or a watch. It asks the sandbox for payments to confirm, and sends the shopper's answer.
//
// `/device?kind=watch&name=Wrist` pairs at once, for tests.
"use strict";

const POLL = 400;
const KINDS = { phone: "Phone", watch: "Watch" };

const part = (id) => document.getElementById(id);
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const call = async (path, body) => {
  const response = await fetch(path, {
    method: body ? "POST" : "GET",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body),
  });
  if (response.status === 204) return undefined;
  const answer = await response.json();
  if (!response.ok) throw Object.assign(new Error(answer.message), { code: answer.code });
  return answer;
};

const say = (text) => {
  if (part("status").textContent !== text) part("status").textContent = text;
};

const showKind = (kind, name) => {
  document.querySelector("main").dataset.kind = kind;
  part("name").textContent = name || KINDS[kind];
};

let device; // once it is paired
let asked; // the confirmation in front of the shopper
let answered; // the id of the one answered last: a request sent before the answer may still return it

const pair = async (kind, name) => {
  try {
    device = await call("/paired", { kind, name: name || KINDS[kind] });
  } catch (error) {
    say(error.message);
    return;
  }
  showKind(device.kind, device.name);
  document.title = `${device.name} (NOT APPLE)`;
  part("pairing").hidden = true;
  say("Paired. Nothing to confirm.");
  addEventListener("pagehide", () => navigator.sendBeacon(`/paired/${device.id}/leave`));
  await watch();
};

const watch = async () => {
  for (;;) {
    try {
      const { confirmation } = await call(`/paired/${device.id}/confirmation`);
      show(confirmation?.id === answered ? undefined : confirmation);
    } catch (error) {
      if (error.code === "device_unknown") {
        pair(device.kind, device.name); // the sandbox was started anew
        return;
      }
      say("The sandbox does not answer.");
    }
    await pause(POLL);
  }
};

const show = (confirmation) => {
  if (confirmation?.id === asked?.id) return;
  const before = asked;
  asked = confirmation ?? undefined;
  part("asked").hidden = !asked;
  if (!asked) {
    say(`${before.outcome ?? "The payment was withdrawn."} Nothing to confirm.`);
    return;
  }
  const { merchant, amount, currency, card, page } = asked.payment;
  const money = new Intl.NumberFormat(navigator.language, { style: "currency", currency });
  part("merchant").textContent = merchant;
  part("amount").textContent = amount ? money.format(amount) : "Amount pending";
  part("card").textContent = card;
  part("page").textContent = page;
  part("approve").disabled = part("cancel").disabled = false;
  say("A payment waits for you.");
  part("merchant").focus();
};

const answer = async (approve) => {
  if (!asked) return;
  const confirmation = asked;
  part("approve").disabled = part("cancel").disabled = true;
  confirmation.outcome = approve ? "Approved." : "Cancelled.";
  try {
    await call(`/paired/${device.id}/answer`, { confirmation: confirmation.id, approve });
    answered = confirmation.id;
    if (asked === confirmation) show(undefined);
  } catch (error) {
    delete confirmation.outcome; // it was not reported
    if (asked !== confirmation) return;
    part("approve").disabled = part("cancel").disabled = false;
    say(error.message);
  }
};

part("approve").addEventListener("click", () => answer(true));
part("cancel").addEventListener("click", () => answer(false));
addEventListener("keydown", (event) => event.key === "Escape" && answer(false));
part("pairing").addEventListener("change", ({ target }) => {
  if (target.name !== "kind") return;
  showKind(target.value);
  part("given-name").placeholder = KINDS[target.value];
});
part("pairing").addEventListener("submit", (event) => {
  event.preventDefault();
  const { kind, name } = Object.fromEntries(new FormData(event.target));
  pair(kind, name.trim());
});

const parameters = new URLSearchParams(location.search);
if (parameters.get("kind") in KINDS) pair(parameters.get("kind"), parameters.get("name")?.trim().slice(0, 40));
