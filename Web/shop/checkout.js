// The standard checkout, with Apple Pay as one way to pay and the first, where there is Apple Pay; and a card form that
// goes nowhere.

import { changes, chosen, clear, find, order, say, summarise, basketBody } from "./shop.js";
import { offer } from "./pay.js";

const methods = [...document.querySelectorAll("input[name=method]")];

const choose = (value) => {
  for (const input of methods) input.checked = input.value === value;
  find("apple-pay").hidden = value !== "apple-pay";
  find("card").hidden = value !== "card";
  say("");
};

const show = () => {
  const isEmpty = chosen().length === 0;
  find("empty").hidden = !isEmpty;
  find("full").hidden = isEmpty;
  find("address").hidden = order.service !== "delivery";
  summarise();
};

for (const input of methods) input.addEventListener("change", () => choose(input.value));

const problem = (input) => {
  if (input.validity.valueMissing) return "Please fill this in.";
  return input.validity.valid ? "" : "Please check this.";
};

const mark = (input, text) => {
  const id = `${input.id}-problem`;
  find(id)?.remove();
  input.removeAttribute("aria-invalid");
  input.removeAttribute("aria-describedby");
  if (!text) return;
  input.setAttribute("aria-invalid", "true");
  input.setAttribute("aria-describedby", id);
  input.insertAdjacentElement(
    "afterend",
    Object.assign(document.createElement("span"), { id, className: "problem", textContent: text }),
  );
};

find("form").addEventListener("submit", (event) => {
  event.preventDefault();
  const fields = [...find("card").querySelectorAll("input")].filter((input) => input.checkVisibility());
  for (const input of fields) mark(input, problem(input));
  const wrong = fields.find((input) => problem(input));
  if (wrong) {
    wrong.focus();
    return;
  }
  say("Here a card payment would begin. Nothing was sent, nothing was charged, and your basket is still here.", "note");
  for (const id of ["number", "expiry", "check"]) find(id).value = "";
});

show();
choose("card");
offer(basketBody, clear);
changes.addEventListener("change", show);

// Apple Pay is offered where it is available, and then it is the first choice.
const button = document.querySelector("tender-apple-pay");
const whenReady = async () => {
  await customElements.whenDefined("tender-apple-pay");
  if (!(await button.prepared)) return;
  if (find("with-apple-pay").hidden) choose("apple-pay");
  find("with-apple-pay").hidden = false;
};
new MutationObserver(whenReady).observe(button, { attributes: true, attributeFilter: ["basket"] });
whenReady();
