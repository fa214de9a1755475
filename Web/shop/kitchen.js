// The shop's own side: the paid orders, as Tender reported them to the shop's backend.

import { ask, element, find, money } from "./shop.js";

const PAUSE = 2000;
const WORDS = { partially_captured: "partially captured", partially_refunded: "partially refunded" };
const language = document.documentElement.lang;
const countries = new Intl.DisplayNames(language, { type: "region" });
const clock = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

const fact = (name, ...value) => element("div", {}, element("dt", {}, name), element("dd", {}, ...value));
const link = (scheme, text) => text && element("a", { href: `${scheme}:${text.replace(/\s/g, "")}` }, text);

const where = ({ address, countryCode }) =>
  element(
    "address",
    {},
    [...address, countryCode && countries.of(countryCode)]
      .filter(Boolean)
      .flatMap((line, index) => (index > 0 ? [element("br"), line] : [line])),
  );

const facts = (order) =>
  [
    ["For", order.name],
    ["Deliver to", order.address.length > 0 && where(order)],
    ["By", order.method],
    ["Phone", link("tel", order.phone)],
    ["E-mail", link("mailto", order.email)],
    ["Wanted", order.requestedFor ? clock.format(new Date(order.requestedFor)) : "as soon as possible"],
    ["Note", order.note],
    ["Customer", order.customer ?? "a guest"],
  ]
    .filter(([, value]) => value)
    .map(([name, value]) => fact(name, value));

const ticket = (order) =>
  element(
    "li",
    { className: "panel ticket" },
    element(
      "div",
      { className: "heading" },
      element("h2", {}, `${order.reference}, ${order.serviceType}`),
      element("span", { className: "status", dataset: { status: order.status } }, WORDS[order.status] ?? order.status),
    ),
    order.placedAt && element("p", { className: "at" }, clock.format(new Date(order.placedAt))),
    element(
      "dl",
      { className: "lines" },
      order.lines.map(({ label, amount }) => fact(label, money(amount))),
    ),
    element("dl", { className: "receipt" }, facts(order)),
  );

let shown;
const show = async () => {
  const { orders } = await ask("/api/kitchen");
  const text = JSON.stringify(orders);
  if (text === shown) return; // what has the focus stays there
  shown = text;
  find("tickets").replaceChildren(...orders.map(ticket));
  find("state").textContent =
    orders.length === 0 ? "Nothing has been paid since the shop was started." : `Paid orders: ${orders.length}`;
};

for (;;) {
  if (!document.hidden) await show().catch(({ message }) => (find("state").textContent = message));
  await new Promise((resolve) => setTimeout(resolve, PAUSE));
}
