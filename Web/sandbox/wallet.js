// The page of a phone that scanned a payment sheet's code: it shows what the sheet says, and sends what the shopper chooses.
"use strict";

const POLL = 400;

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

let wallet; // this phone's name in all calls
let shown; // the sheet's state in front of the shopper, as text

const choose = async (choice) => {
  try {
    await call(`/wallet/${wallet}/choices`, choice);
  } catch (error) {
    say(error.message);
  }
};

const showChoice = (name, options, chosen) => {
  const select = part(name);
  select.hidden = !options;
  document.querySelector(`label[for="${name}"]`).hidden = !options;
  if (!options) return;
  const made = options.map(({ value, text, isRefused }) =>
    Object.assign(new Option(text, value), { disabled: isRefused }),
  );
  select.replaceChildren(...made);
  select.value = chosen ?? "";
};

const row = ({ label, amount }) => {
  const line = document.createElement("div");
  const [term, value] = [document.createElement("dt"), document.createElement("dd")];
  [term.textContent, value.textContent] = [label, amount];
  line.append(term, value);
  return line;
};

const show = (state) => {
  const text = JSON.stringify(state);
  if (text === shown) return;
  const isFirst = shown === undefined;
  shown = text;
  part("sheet").hidden = false;
  part("merchant").textContent = state.merchant;
  part("amount").textContent = state.total;
  part("items").hidden = state.items.length === 0;
  part("items").replaceChildren(...state.items.map(row));
  showChoice("card", state.cards, state.card);
  showChoice("contact", state.contacts, state.contact);
  showChoice("method", state.methods, state.method);
  part("errors").textContent = state.errors;
  part("errors").hidden = !state.errors;
  part("approve").disabled = state.obstacle !== null;
  say(state.obstacle ?? "Ready to pay.");
  if (isFirst) part("merchant").focus();
};

const end = ({ result }) => {
  part("sheet").hidden = true;
  say(result);
};

const watch = async () => {
  for (;;) {
    try {
      const { isOpen, state } = await call(`/wallet/${wallet}`);
      if (!isOpen) {
        end(state);
        return;
      }
      show(state);
    } catch (error) {
      say(error.code ? error.message : "The sandbox does not answer.");
    }
    await pause(POLL);
  }
};

const pair = async (code) => {
  try {
    wallet = (await call("/wallet/pair", { code })).wallet;
  } catch (error) {
    say(error.message);
    return;
  }
  await watch();
};

for (const name of ["card", "contact", "method"]) {
  part(name).addEventListener("change", ({ target }) => choose({ [name]: target.value }));
}
part("sheet").addEventListener("submit", (event) => {
  event.preventDefault();
  part("approve").disabled = true;
  choose({ approve: true });
});
part("cancel").addEventListener("click", () => choose({ cancel: true }));
pair(new URLSearchParams(location.search).get("code") ?? "");
