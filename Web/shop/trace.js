// The trace of a payment, as the server recorded it. Tender keeps traces of simulated payments only.

import { ask, element, find, notThere, tender } from "./shop.js";

const PAYMENT = "POST /applepay/payment";

const CALLS = {
  "PUT /v2/{merchantId}/baskets/{basket}": [
    "The shop’s server stores the basket",
    "Signed with the merchant’s key. The prices are the server’s; the page never sends one.",
  ],
  "GET /v2/{merchantId}/baskets/{basket}": [
    "The shop’s server asks for the outcome",
    "Before it sends anything out, a shop believes this answer and not the page.",
  ],
  "DELETE /v2/{merchantId}/baskets/{basket}": ["The shop’s server takes the basket back", ""],
  "GET /applepay/basket/{basket}": [
    "The page fetches what the sheet needs",
    "Items, total, delivery methods, and data that binds the payment to this basket. A sheet must open in the very click, so this comes before it.",
  ],
  "PUT /applepay/basket/{basket}/details": ["The page prepares the order", ""],
  "POST /applepay/basket/{basket}/validatepostalcode": ["The page asks whether an address is served", ""],
  "POST /applepay/validate": [
    "Apple vouches for the merchant",
    "The sheet goes on only with a session that Apple gives to the merchant’s server, over a connection that both sides prove themselves on.",
  ],
  "POST /applepay/payment": [
    "The payment",
    "The shopper has confirmed, the wallet has sealed a payment token for this merchant and this basket, and the page hands it over.",
  ],
  "GET /applepay/payment/{basket}": [
    "The page asks for the outcome",
    "After a reload or a lost connection, by the basket and without the payment token.",
  ],
  "DELETE /applepay/payment/{basket}": [
    "The shopper closed the sheet",
    "Either the basket is cancelled for good, or the payment was there first and goes on.",
  ],
};

const CHANGES = {
  contactSelection: [
    "The shopper chooses an address",
    "Until the payment is confirmed the shop sees only town, country and the first part of the postal code. It answers with prices, and with what cannot be delivered there.",
  ],
  shippingMethodSelection: [
    "The shopper chooses how it travels",
    "Every answer is a new quote, and the payment will name the one that was seen last.",
  ],
  couponCodeChange: ["The shopper enters a coupon code", ""],
  paymentMethodSelection: ["The shopper chooses a card", "The shop learns its kind alone: credit, debit, prepaid."],
};

const SPANS = {
  open_token: [
    "Verified and opened the payment token",
    "Two certificates, the signature, the signing time; the key agreed with the merchant’s private key; then amount, currency and basket compared with the order.",
    "Tender",
  ],
  claim: [
    "Wrote down the attempt",
    "One durable commit, before the request to the bank. A crash from here on leaves something to ask about.",
    "Tender",
  ],
  "ask authorize": [
    "The bank answered: authorization",
    "The device account number and a one-time cryptogram; never the card’s own number.",
    "the bank",
  ],
  "ask capture": ["The bank answered: capture", "The money that was held is taken.", "the bank"],
  "ask prepare": ["The bank answered: the first of two steps", "", "the bank"],
  record: [
    "Wrote down the answer",
    "One durable commit: what the bank said, and the balances, guarded by the database itself.",
    "Tender",
  ],
  quote: ["The merchant’s server named the price", "", "the shop"],
  merchant_session: ["Apple’s gateway answered", "Mutual TLS with the merchant identity certificate.", "Apple"],
};

const OUTCOMES = {
  approved: "approved",
  declined: "declined",
  pending: "will answer later",
  unknown: "no answer",
  not_sent: "not reached",
  retriable: "declined",
  configuration: "declined",
  approved_for_less: "approved for less",
};

const time = (microseconds) => {
  if (microseconds >= 1_000_000) return `${(microseconds / 1_000_000).toFixed(2)} s`;
  return `${(microseconds / 1000).toFixed(microseconds >= 100_000 ? 0 : 1)} ms`;
};

const titleOf = (call) => CHANGES[call.about] ?? CALLS[call.name] ?? [call.name, ""];

const span = (part, whole) => {
  const [title, text, actor] = SPANS[part.name] ?? [part.name, "", "Tender"];
  const bar = element("span", { className: "bar", dataset: { actor: actor.split(" ").at(-1) } });
  bar.style.setProperty("--share", Math.max(0.004, part.microseconds / whole));
  bar.style.setProperty("--begin", Math.min(0.996, part.at / whole));
  return element(
    "li",
    { className: "stack tight span", dataset: { span: part.name } },
    element(
      "div",
      { className: "heading" },
      element(
        "h3",
        {},
        `${title} `,
        part.outcome
          ? element(
              "span",
              { className: "outcome", dataset: { outcome: part.outcome } },
              OUTCOMES[part.outcome] ?? part.outcome,
            )
          : null,
      ),
      element("span", { className: "time" }, time(part.microseconds)),
    ),
    element("span", { className: "track", ariaHidden: "true" }, bar),
    text ? element("p", { className: "quiet small" }, text) : null,
  );
};

const entry = (call) => {
  const [title, text] = titleOf(call);
  const { spans } = call;
  const isLong = spans.length > 0;
  // On a phone only the payment is unfolded.
  const open = call.name === PAYMENT || matchMedia("(width >= 48rem)").matches;
  return element(
    "li",
    { className: "stack tight call", dataset: { call: call.name } },
    element("p", { className: "at" }, `+${time(call.at)}`),
    element(
      "details",
      { className: isLong ? "panel" : "", open },
      element(
        "summary",
        { className: "heading" },
        element("h2", {}, title),
        element("span", { className: "time" }, time(call.microseconds)),
      ),
      element(
        "p",
        { className: "small" },
        element("code", {}, call.name),
        " ",
        element(
          "span",
          { className: "outcome", dataset: { outcome: call.status < 400 ? "approved" : "declined" } },
          `${call.status}`,
        ),
      ),
      text ? element("p", { className: "quiet small" }, text) : null,
      isLong
        ? element(
            "ol",
            { className: "stack", role: "list" },
            spans.map((part) => span(part, call.microseconds)),
          )
        : null,
    ),
  );
};

const sum = (calls, names) =>
  calls
    .flatMap(({ spans }) => spans)
    .filter(({ name }) => names.includes(name))
    .reduce((total, { microseconds }) => total + microseconds, 0);

const summary = ({ calls }) => {
  const paid = calls.filter(({ name }) => name === PAYMENT).at(-1);
  const figures = [
    ["calls answered", `${calls.length}`],
    ["from tap to answer", paid ? time(paid.microseconds) : "–"],
    ["to open the payment token", time(sum(paid ? [paid] : [], ["open_token"]))],
    ["waiting for the bank", time(sum(paid ? [paid] : [], ["ask authorize", "ask capture"]))],
  ];
  return element(
    "dl",
    { className: "figures" },
    figures.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
  );
};

const place = find("trace");
try {
  const trace = await ask(`${tender}/applepay/payment/${place.dataset.basket}/trace`);
  place.replaceChildren(
    summary(trace),
    element("ol", { className: "stack calls", role: "list" }, trace.calls.map(entry)),
    element(
      "p",
      {},
      element(
        "a",
        { className: "button plain", href: `/order/${place.dataset.basket}/payload` },
        "Inside the payment token",
      ),
    ),
  );
} catch (error) {
  place.replaceChildren(notThere(error));
}
