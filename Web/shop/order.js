// The confirmation: on its own page, and in the page that was paid on, so that nothing has to be loaded first.

import { ask, element, find, greet, money, say, shows, tender } from "./shop.js";

const PATIENCE = 60_000;
const OPEN = ["authorizing", "pending", "unknown"];
// As a shopper says it.
const WORDS = {
  authorizing: "Being confirmed",
  pending: "Being confirmed",
  unknown: "Being confirmed",
  authorized: "Reserved on your card",
  captured: "Paid",
  partially_captured: "Paid in part",
  refunded: "Refunded",
  partially_refunded: "Refunded in part",
  verified: "Card checked",
  voided: "Not charged",
  declined: "Declined",
  failed: "Not paid",
};
const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Turns the page that was paid on into the confirmation. `reported` is what the button reported. */
export const showOrder = async (basket, reported = {}) => {
  const address = `/order/${basket}`;
  if (location.pathname !== address) {
    history.pushState({}, "", address);
    shows(address);
  }
  document.body.className = "page-order";
  const place = element("div");
  document.querySelector("main").replaceChildren(place);
  await render(place, basket, reported);
  find("thanks")?.focus();
  scrollTo(0, 0);
};

// A guest who has paid has an account from now on: of the contact in the payment sheet, by Tender's signed guest token.
const signIn = async (guestToken) => {
  const account = await ask("/api/shopper/guest", { method: "POST", body: { guestToken } }).catch(() => undefined);
  if (account) greet(account);
};

const render = async (place, basket, reported) => {
  // Shows what the button reported until the shop's backend has answered.
  let order;
  try {
    order = await ask(`/api/orders/${basket}`);
  } catch (error) {
    if (!reported.orderId) return place.replaceChildren(nothing(error));
    order = {
      orderId: reported.orderId,
      paymentId: reported.paymentId,
      status: reported.status,
      reference: reported.receipt?.merchantReference,
      amount: reported.receipt?.amount,
      estimated: reported.receipt?.estimated,
      lines: (reported.receipt?.lines ?? []).map((line) => (line.pending ? { label: line.label } : line)),
      expectedDates: reported.receipt?.expectedDates,
      unavailable: [],
      card: reported.card,
      transactionIdentifier: reported.transactionIdentifier,
    };
  }
  place.replaceChildren(receipt(basket, order));
  if (reported.guestToken) signIn(reported.guestToken);
  document.title = document.title.replace(/^[^–]+/, `${headline(order)} `);
  if (OPEN.includes(order.status)) await wait(place, basket);
};

// A payment whose outcome is open is asked about until it is known; Tender asks the bank each time.
const wait = async (place, basket) => {
  const deadline = Date.now() + PATIENCE;
  for (let rest = 1000; Date.now() < deadline; rest = Math.min(rest * 2, 8000)) {
    await pause(rest);
    await fetch(`${tender}/applepay/payment/${basket}`, { cache: "no-store" }).catch(() => undefined);
    const order = await ask(`/api/orders/${basket}`).catch(() => undefined);
    if (order && !OPEN.includes(order.status)) return place.replaceChildren(receipt(basket, order));
  }
};

const nothing = (error) =>
  element(
    "div",
    { className: "panel narrow" },
    element("h1", { id: "thanks", tabIndex: -1 }, error.status === 404 ? "No such order" : "One moment"),
    element("p", {}, error.message),
    element("p", {}, element("a", { className: "button", href: "/" }, "See the menu")),
  );

const headline = ({ status }) => {
  if (OPEN.includes(status)) return "Your payment is being confirmed";
  return ["declined", "failed", "voided"].includes(status) ? "This order was not paid" : "Thank you";
};

const receipt = (basket, order) =>
  element(
    "div",
    { className: "receipts" },
    element(
      "div",
      { className: "panel ticket" },
      element("h1", { id: "thanks", tabIndex: -1 }, headline(order)),
      element("p", { className: "tagline" }, second(order)),
      element(
        "dl",
        { className: "lines" },
        order.lines.map(({ label, amount }) =>
          element("div", {}, element("dt", {}, label), element("dd", {}, amount ? money(amount) : "Amount pending")),
        ),
      ),
      element(
        "p",
        { className: "subtotal" },
        element("span", {}, order.estimated ? "Held on your card" : "Total"),
        element("output", { id: "amount" }, order.amount ? money(order.amount) : ""),
      ),
      order.unavailable.length > 0
        ? element(
            "p",
            { className: "message", dataset: { kind: "note" } },
            `Not delivered to your address, and not charged: ${order.unavailable.join(", ")}.`,
          )
        : null,
      element("dl", { className: "receipt" }, facts(order)),
    ),
    element(
      "div",
      { className: "stack fill" },
      order.isCash
        ? null
        : element(
            "div",
            { className: "panel" },
            element("h2", {}, "What has just happened"),
            element("p", { id: "explanation", className: "quiet" }, explanation(order.status)),
            element(
              "p",
              {},
              element("a", { className: "button", href: `/order/${basket}/trace` }, "The trace of this payment"),
            ),
            element(
              "p",
              {},
              element("a", { className: "button plain", href: `/order/${basket}/payload` }, "Inside the payment token"),
            ),
            element(
              "details",
              {},
              element("summary", {}, "What Tender calls it"),
              element("dl", { className: "receipt" }, names(order)),
            ),
          ),
      element("p", {}, element("a", { id: "again", className: "button plain", href: "/" }, "Order something else")),
    ),
  );

const second = ({ status }) => {
  if (OPEN.includes(status))
    return "The bank has not answered yet. Please do not pay again; this page asks on its own.";
  if (["declined", "failed", "voided"].includes(status)) return "Nothing was charged. Your basket can still be paid.";
  return "Your order is in.";
};

const facts = (order) =>
  [
    ["Reference", "reference", order.reference],
    ["Date", "date", when(order.placedAt)],
    ["Payment", "status", order.isCash ? "In cash, simulated" : status(order.status)],
    ["Card", "card", order.card],
    ["Service", "service", order.serviceType && (order.serviceType === "delivery" ? "Delivery" : "Collection")],
    ["For", "requested-for", when(order.requestedFor)],
    ["Expected", "expected", expected(order.expectedDates)],
    ["Note", "kept-note", order.note],
    ["Ordered by", "shopper", order.serviceType && (order.shopper ?? "A guest")],
  ]
    .filter(([, , value]) => value)
    .map(fact);

const fact = ([name, id, value]) => element("div", {}, element("dt", {}, name), element("dd", { id }, value));

// For who looks the payment up in the back office.
const names = (order) =>
  [
    ["Payment", "payment-id", order.paymentId],
    ["Order", "order-id", order.orderId],
    ["Apple Pay transaction", "transaction", order.transactionIdentifier],
  ]
    .filter(([, , value]) => value)
    .map(fact);

const expected = (dates = {}) =>
  when(dates.arrival) ?? (dates.collection && `ready ${when(dates.collection)}`) ?? when(dates.dispatch);

const status = (word) =>
  word && element("span", { className: "status", dataset: { status: word } }, WORDS[word] ?? word);

const when = (text) =>
  text
  && new Intl.DateTimeFormat(document.documentElement.lang, {
    weekday: "long",
    day: "numeric",
    month: "long",
    hour: "2-digit",
    minute: "2-digit",
    hourCycle: "h23",
  }).format(new Date(text));

// The steps that a simulated payment has taken.
const explanation = (word) =>
  word === "captured"
    ? "The simulated wallet issued a payment token for exactly this amount. Tender verified and decrypted it, and had"
      + " the amount authorized and captured. The cryptography is real; the money is not."
    : "The simulated wallet issued a payment token for exactly this amount. Tender verified and decrypted it, and sent"
      + " it to the bank. The cryptography is real; the money is not.";

const own = find("place");
if (own) {
  await render(own, own.dataset.basket, {});
  say("");
}
