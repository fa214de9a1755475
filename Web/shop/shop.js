// What every page of the shop shares: the menu, the order that is kept between pages, calls to the shop's backend.
// No page ever knows a price that counts.

export const find = (id) => document.getElementById(id);
export const tender = document.documentElement.dataset.tender;

export const element = (tag, properties = {}, ...children) => {
  const { dataset, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  Object.assign(made.dataset, dataset);
  made.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return made;
};

// ── Calls

export class Refusal extends Error {
  constructor(message, code, status) {
    super(message);
    Object.assign(this, { code, status });
  }
}

export const ask = async (address, { method = "GET", body } = {}) => {
  let response;
  try {
    response = await fetch(address, {
      method,
      cache: "no-store",
      body: body && JSON.stringify(body),
      headers: body ? { "Content-Type": "application/json" } : {},
    });
  } catch {
    throw new Refusal("The shop does not answer. Please try again in a moment.", "no_answer", 0);
  }
  const answer = await response.json().catch(() => ({}));
  if (!response.ok) throw new Refusal(answer.detail ?? "The shop did not answer.", answer.code, response.status);
  return answer;
};

// ── The menu

export const menu = await ask("/api/menu");
const format = new Intl.NumberFormat(document.documentElement.lang, { style: "currency", currency: menu.currency });

export const dishOf = (id) => menu.dishes.find((dish) => dish.id === id);

// Exact: minor units become decimal text, never a floating-point number.
const decimal = (minorUnits) => {
  const digits = String(minorUnits).padStart(menu.exponent + 1, "0");
  return menu.exponent === 0 ? digits : `${digits.slice(0, -menu.exponent)}.${digits.slice(-menu.exponent)}`;
};

export const price = (minorUnits) => format.format(decimal(minorUnits));
/** Decimal text, "12.90", as the server writes it. */
export const money = (text) => format.format(text);

/** ["dublin", "london"] → "Dublin and London" */
export const places = (zones) =>
  new Intl.ListFormat(document.documentElement.lang).format(zones.map((zone) => zone[0].toUpperCase() + zone.slice(1)));

// ── The order

const MOST = 20;
const KEPT = "order";

const load = () => {
  try {
    return JSON.parse(localStorage.getItem(KEPT)) ?? {};
  } catch {
    return {};
  }
};

/** What is in the basket and how it is wanted; the same on every page, and after a reload. */
export const order = { dishes: {}, service: "delivery", time: "", note: "", code: "", ...load() };
for (const id of Object.keys(order.dishes)) if (!dishOf(id)) delete order.dishes[id]; // the menu has changed

export const changes = new EventTarget();

// The page that became a confirmation has nothing left that shows the order.
const announce = () => {
  showCount();
  if (!document.body.classList.contains("page-order")) changes.dispatchEvent(new Event("change"));
};

export const save = () => {
  localStorage.setItem(KEPT, JSON.stringify(order));
  announce();
};

export const set = (id, quantity) => {
  if (quantity > 0) order.dishes[id] = Math.min(MOST, quantity);
  else delete order.dishes[id];
  save();
};

export const clear = () => {
  Object.assign(order, { dishes: {}, time: "", note: "", code: "" });
  save();
};

/** In the order of the menu: `[{dish, quantity}]`. */
export const chosen = () =>
  menu.dishes.filter(({ id }) => order.dishes[id]).map((dish) => ({ dish, quantity: order.dishes[dish.id] }));

const subtotal = () => price(chosen().reduce((sum, { dish, quantity }) => sum + dish.amount * quantity, 0));

/** What is sent for a basket; nothing while the basket is empty. */
export const basketBody = () => {
  const items = chosen().map(({ dish, quantity }) => ({ id: dish.id, quantity }));
  if (items.length === 0) return undefined;
  return {
    serviceType: order.service,
    items,
    requestedFor: order.time || undefined,
    note: order.note.trim() || undefined,
    couponCode: order.code || undefined,
  };
};

// ── Pieces of pages

export const stepper = (dish, quantity, change) => {
  const less = element("button", { type: "button", className: "step", ariaLabel: `One ${dish.name} less` }, "−");
  const more = element("button", { type: "button", className: "step", ariaLabel: `One ${dish.name} more` }, "+");
  const count = element("output", { ariaLabel: `${dish.name}, quantity` });
  const show = () => {
    count.textContent = quantity();
    less.disabled = quantity() <= 0;
    more.disabled = quantity() >= MOST;
  };
  less.addEventListener("click", () => change(quantity() - 1));
  more.addEventListener("click", () => change(quantity() + 1));
  show();
  return Object.assign(element("div", { className: "stepper row tight" }, less, count, more), { show });
};

/** The radio buttons for delivery or collection, with the order's own choice. */
export const chooseService = () => {
  for (const input of document.querySelectorAll("input[name=service]")) {
    input.checked = input.value === order.service;
    input.addEventListener("change", () => {
      order.service = input.value;
      save();
    });
  }
};

const row = (label, amount) => element("div", {}, element("dt", {}, label), element("dd", {}, amount));

const HINTS = {
  delivery: "Where it goes and how is chosen in the payment sheet, and may cost more.",
  collection: "You collect it: no delivery is added.",
};

/** What the chosen service adds. */
export const hint = () => HINTS[order.service];

/** In the summary, and in the bar that stays in sight on the menu. */
const showSum = (text) => {
  find("subtotal").textContent = text;
  if (find("so-far")) find("so-far").textContent = text;
};

/** What stands in a summary: the dishes and their sum; fees and delivery follow when the button is ready. */
export const summarise = () => {
  if (!find("lines")) return;
  find("lines").replaceChildren(
    ...chosen().map(({ dish, quantity }) =>
      row(quantity > 1 ? `${quantity} × ${dish.name}` : dish.name, price(dish.amount * quantity)),
    ),
  );
  find("sum").textContent = "Dishes";
  showSum(subtotal());
  find("hint").textContent = chosen().length > 0 ? hint() : "";
};

/**
 * What the payment sheet will open with: every line and the total. The first shipping method is the least that delivery
 * can cost, so a total with one is marked “from”.
 *
 * @param request Apple's `ApplePayPaymentRequest`, which Tender made of the basket.
 */
export const showPrices = ({ lineItems = [], shippingMethods = [], total }) => {
  if (!find("lines")) return;
  const from = (isFrom, amount) => (isFrom ? `from ${money(amount)}` : money(amount));
  const [method] = shippingMethods;
  if (lineItems.length > 0) {
    find("lines").replaceChildren(
      ...lineItems.map(({ label, amount }, index) =>
        row(label, from(index === lineItems.length - 1 && label === method?.label, amount)),
      ),
    );
  }
  find("sum").textContent = "Total";
  showSum(from(method, total.amount));
};

export const say = (text, kind = "error") => {
  const message = find("message");
  if (!message) return;
  message.textContent = text;
  message.dataset.kind = kind;
  message.hidden = !text;
};

/** What stands in the place of a trace. One that is gone is no error: the order and its payment are kept. */
export const notThere = ({ code, message }) =>
  code === "trace_forgotten"
    ? element(
        "p",
        { className: "message", role: "status", dataset: { kind: "note" } },
        "Tender keeps the traces of simulated payments in memory, and no longer has this one. The order itself is kept.",
      )
    : element("p", { className: "message", role: "alert" }, message);

const showCount = () => {
  const count = chosen().reduce((sum, { quantity }) => sum + quantity, 0);
  find("basket-count").textContent = count;
  find("basket-count").hidden = count === 0;
};

showCount();
addEventListener("storage", ({ key }) => {
  if (key !== KEPT) return;
  Object.assign(order, load()); // another tab has changed it
  announce();
});

// ── The back button

let shown = location.pathname;

/** The page has become another without being loaded; going back or forward loads whatever is there. */
export const shows = (path) => {
  shown = path;
};
addEventListener("popstate", () => {
  if (location.pathname !== shown) location.reload();
});

// ── Who is ordering

export const visitor = ask("/api/shopper").catch(() => ({ shopper: undefined, regulars: [] }));
export const greet = ({ shopper }) => {
  find("account-link").textContent = shopper ? shopper.name : "Sign in";
};
visitor.then(({ shopper }) => {
  if (shopper) greet({ shopper });
  if (find("who")) find("who").textContent = shopper ? `Ordering as ${shopper.name}.` : "Ordering as a guest.";
});
