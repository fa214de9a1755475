// The standard checkout, with Apple Pay as one way to pay and the first, where there is Apple Pay; the other is cash.

import { ask, changes, chosen, clear, find, order, say, summarise, basketBody } from "./shop.js";
import { offer } from "./pay.js";
import { showOrder } from "./order.js";

const button = document.querySelector("tender-apple-pay");
const methods = [...document.querySelectorAll("input[name=method]")];

const choose = (value) => {
  for (const input of methods) input.checked = input.value === value;
  find("apple-pay").hidden = value !== "apple-pay";
  find("cash").hidden = value !== "cash";
  say("");
};

const show = () => {
  const isEmpty = chosen().length === 0;
  find("empty").hidden = !isEmpty;
  find("full").hidden = isEmpty;
  find("address").hidden = order.service !== "delivery";
  find("at").textContent = order.service === "delivery" ? "at the door" : "at the counter";
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

find("form").addEventListener("submit", async (event) => {
  event.preventDefault();
  const fields = [...find("cash").querySelectorAll("input")].filter((input) => input.checkVisibility());
  for (const input of fields) mark(input, problem(input));
  const wrong = fields.find((input) => problem(input));
  if (wrong) return wrong.focus();
  // The same basket: Tender's is cancelled, so that it is not paid twice.
  const basket = button.getAttribute("basket");
  if (!basket) return say("One moment, please.", "note");
  const body = Object.fromEntries(fields.map(({ id, value }) => [id, value.trim()]));
  try {
    await ask(`/api/orders/${basket}/cash`, { method: "POST", body });
  } catch (error) {
    return say(error.message);
  }
  clear();
  return showOrder(basket);
});

show();
choose("cash");
offer(basketBody, clear);
changes.addEventListener("change", show);

// Apple Pay is offered where it is available, and then it is the first choice.
const whenReady = async () => {
  await customElements.whenDefined("tender-apple-pay");
  if (!(await button.prepared)) return;
  if (find("with-apple-pay").hidden) choose("apple-pay");
  find("with-apple-pay").hidden = false;
};
new MutationObserver(whenReady).observe(button, { attributes: true, attributeFilter: ["basket"] });
whenReady();
