// The demo shop's page. It shows the menu, keeps the order, and gives Tender's button the id of a basket that the
// shop's backend made. It never knows a price that counts.

const SETTLING_TIME = 200;
const find = (id) => document.getElementById(id);
const button = document.querySelector("tender-apple-pay");
const order = new Map(); // dish id → quantity
const steppers = new Map();
let menu;
let money;
let settling;
let wishes = 0; // counts changes, so that an answer to an old one is not taken for the newest

// ── Calls of the shop's own backend

const ask = async (path, body) => {
  const response = await fetch(path, body && {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  });
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw Object.assign(new Error(answer.detail ?? "The shop did not answer."), { code: answer.code });
  return answer;
};

// ── The menu

const element = (tag, properties, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

// Exact: minor units become decimal text, never a floating-point number.
const decimal = (minorUnits) => {
  const digits = String(minorUnits).padStart(menu.exponent + 1, "0");
  return menu.exponent === 0 ? digits : `${digits.slice(0, -menu.exponent)}.${digits.slice(-menu.exponent)}`;
};

const price = (minorUnits) => money.format(decimal(minorUnits));

const stepper = (dish) => {
  const less = element("button", { type: "button", className: "step", ariaLabel: `One ${dish.name} less` }, "−");
  const more = element("button", { type: "button", className: "step", ariaLabel: `One ${dish.name} more` }, "+");
  const count = element("output", { ariaLabel: `${dish.name}, quantity` });
  less.addEventListener("click", () => change(dish, -1));
  more.addEventListener("click", () => change(dish, +1));
  steppers.set(dish.id, { less, count });
  return element("div", { className: "stepper" }, less, count, more);
};

const row = (dish) =>
  element(
    "li", {},
    element("div", { className: "dish" },
      element("h3", {}, dish.name), element("p", { className: "quiet" }, dish.description)),
    element("p", { className: "price" }, price(dish.amount)),
    stepper(dish));

const change = (dish, step) => {
  const quantity = Math.min(20, Math.max(0, (order.get(dish.id) ?? 0) + step));
  if (quantity === 0) order.delete(dish.id);
  else order.set(dish.id, quantity);
  choose();
};

// ── The order

const chosen = () => menu.dishes.filter(({ id }) => order.has(id));
const serviceType = () => document.querySelector("input[name=service]:checked").value;

const show = () => {
  for (const [id, { less, count }] of steppers) {
    count.textContent = order.get(id) ?? 0;
    less.disabled = !order.has(id);
  }
  const dishes = chosen();
  find("empty").hidden = dishes.length > 0;
  find("lines").replaceChildren(...dishes.map(({ id, name, amount }) => {
    const quantity = order.get(id);
    const label = quantity > 1 ? `${name} × ${quantity}` : name;
    return element("div", {}, element("dt", {}, label), element("dd", {}, price(amount * quantity)));
  }));
  const subtotal = price(dishes.reduce((sum, { id, amount }) => sum + amount * order.get(id), 0));
  for (const id of ["subtotal", "so-far"]) find(id).textContent = subtotal;
  find("hint").textContent = serviceType() === "delivery"
    ? "Delivery is priced in the payment sheet, where you choose the address."
    : "Ready in about 25 minutes.";
};

// A changed order is another basket. The old one leaves the button at once, so that nobody pays it by mistake.
const renew = () => {
  show();
  button.hidden = false;
  button.removeAttribute("basket");
  clearTimeout(settling);
  const wish = ++wishes;
  if (order.size > 0) settling = setTimeout(() => makeBasket(wish), SETTLING_TIME);
};

const choose = () => {
  say("");
  renew();
};

const makeBasket = async (wish) => {
  const items = [...order].map(([id, quantity]) => ({ id, quantity }));
  try {
    const { basketId } = await ask("/api/baskets", { serviceType: serviceType(), items });
    if (wish === wishes) button.setAttribute("basket", basketId);
  } catch (error) {
    if (wish === wishes) say(error.message);
  }
};

const say = (text, kind = "error") => {
  find("message").textContent = text;
  find("message").dataset.kind = kind;
  find("message").hidden = !text;
};

// ── What became of it

const words = {
  captured: "captured", authorized: "authorized", pending: "pending", partially_captured: "partially captured",
};

// What a payment that is no more than simulated has really been through.
const story = (status) =>
  status === "captured"
    ? "The simulated wallet minted a payment token for exactly this amount. Tender verified and decrypted it, and had"
      + " the amount authorized and captured. The cryptography is real; the money is not."
    : "The simulated wallet minted a payment token for exactly this amount. Tender verified and decrypted it, and sent"
      + " it to the bank. The cryptography is real; the money is not.";

const confirm = async ({ orderId, status, receipt, card }) => {
  const basket = button.getAttribute("basket");
  // The browser's word is for the shopper's impatience; the shop's own is shown as soon as it is there.
  const told = { orderId, status, reference: "", amount: receipt?.amount, currency: receipt?.currency };
  const known = await ask(`/api/orders/${basket}`).catch(() => told);
  find("order-id").textContent = known.orderId;
  find("reference").textContent = known.reference;
  find("status").textContent = words[known.status] ?? known.status;
  find("status").dataset.status = known.status;
  find("amount").textContent = known.amount === undefined ? "" : money.format(known.amount);
  find("card").textContent = card ?? "";
  find("card").parentNode.hidden = !card;
  find("story").textContent = story(known.status);
  find("shop").hidden = true;
  find("confirmation").hidden = false;
  find("thanks").focus();
};

const restart = () => {
  order.clear();
  find("confirmation").hidden = true;
  find("shop").hidden = false;
  choose();
  find("menu-title").scrollIntoView();
};

button.addEventListener("tender:authorized", ({ detail }) => confirm(detail));
button.addEventListener("tender:failed", ({ detail: { code, detail } }) => {
  button.hidden = code === "outcome_unknown"; // what may have been paid is not offered again
  say(code === "declined" ? "Your card was declined. Nothing was charged; please try another one." : detail);
});
button.addEventListener("tender:cancelled", () => {
  say("You closed the payment sheet. Nothing was charged, and your order is still here.", "note");
});
button.addEventListener("tender:unavailable", ({ detail: { reasons: [reason] } }) => {
  if (["basket_cancelled", "basket_expired"].includes(reason.code)) renew(); // the same order in a new basket
  else if (reason.code === "no_basket" && order.size === 0) say("Choose a dish first.", "note");
  else if (["no_basket", "not_prepared"].includes(reason.code)) say("One moment, please.", "note");
  else say(reason.detail);
});
find("again").addEventListener("click", restart);
for (const input of document.querySelectorAll("input[name=service]")) input.addEventListener("change", choose);

new IntersectionObserver(([{ isIntersecting }]) => { find("to-order").hidden = isIntersecting; })
  .observe(find("order"));

const dark = matchMedia("(prefers-color-scheme: dark)");
const dress = () => button.setAttribute("button-style", dark.matches ? "white" : "black");
dark.addEventListener("change", dress);
dress();

try {
  menu = await ask("/api/menu");
  money = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency: menu.currency });
  find("dishes").replaceChildren(...menu.dishes.map(row));
  order.set(menu.dishes[0].id, 1);
  choose();
} catch (error) {
  say(error.message);
}
