// The basket: what is in it, how and when, a promo code, and both ways to pay.

import {
  ask,
  changes,
  chooseService,
  chosen,
  clear,
  element,
  find,
  order,
  places,
  price,
  save,
  set,
  stepper,
  summarise,
  basketBody,
} from "./shop.js";
import { offer } from "./pay.js";

const row = ({ dish, quantity }) =>
  element(
    "li",
    { className: "dish" },
    element(
      "span",
      { className: "plate" },
      element("img", { src: `/art/${dish.id}.svg`, alt: "", width: 96, height: 96 }),
    ),
    element(
      "div",
      { className: "stack tight words" },
      element("h2", { className: "name" }, element("a", { href: `/dish/${dish.id}` }, dish.name)),
      dish.availableIn && element("p", { className: "badge" }, `${places(dish.availableIn)} only`),
    ),
    element(
      "div",
      { className: "buy" },
      element("p", { className: "price" }, price(dish.amount * quantity)),
      stepper(
        dish,
        () => order.dishes[dish.id] ?? 0,
        (wanted) => set(dish.id, wanted),
      ),
    ),
  );

// Rebuilt rows lose the focus; restore it for keyboard users.
const showRows = () => {
  const focused = document.activeElement?.ariaLabel;
  find("rows").replaceChildren(...chosen().map(row));
  const same = focused && [...find("rows").querySelectorAll("button")].find(({ ariaLabel }) => ariaLabel === focused);
  if (same) (same.disabled ? find("rows").querySelector("button:not(:disabled)") : same)?.focus();
};

const show = () => {
  const isEmpty = chosen().length === 0;
  find("empty").hidden = !isEmpty;
  find("full").hidden = isEmpty;
  showRows();
  summarise();
};

// ── When

const SLOT = 30;
const HOURS = [12, 22]; // the kitchen's, in the shopper's own day

const two = (number) => String(number).padStart(2, "0");
const written = (date) =>
  `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;

const slots = () => {
  const [now, made] = [new Date(), []];
  for (const day of [0, 1]) {
    for (let minutes = HOURS[0] * 60; minutes < HOURS[1] * 60; minutes += SLOT) {
      const date = new Date(now.getFullYear(), now.getMonth(), now.getDate() + day, 0, minutes);
      if (date - now > 45 * 60_000)
        made.push({
          value: written(date),
          label: `${day ? "Tomorrow" : "Today"}, ${two(date.getHours())}:${two(date.getMinutes())}`,
        });
    }
  }
  return made;
};

const times = slots();
if (!times.some(({ value }) => value === order.time)) order.time = ""; // a time that has passed
find("time").replaceChildren(
  element("option", { value: "" }, "As soon as possible"),
  ...times.map(({ value, label }) => element("option", { value }, label)),
);
find("time").value = order.time;
find("time").addEventListener("change", ({ target }) => {
  order.time = target.value;
  save();
});
find("note").value = order.note;
find("note").addEventListener("change", ({ target }) => {
  order.note = target.value;
  save();
});

// ── The promo code

const answer = (text, kind) => {
  find("code-answer").textContent = text;
  find("code-answer").dataset.kind = kind;
  if (kind === "error") find("code").setAttribute("aria-invalid", "true");
  else find("code").removeAttribute("aria-invalid");
};

const apply = async (code) => {
  try {
    const coupon = await ask("/api/codes", { method: "POST", body: { code } });
    order.code = coupon.code;
    find("code").value = coupon.code;
    answer(`${coupon.label}: taken off in the payment sheet.`, "good");
  } catch (error) {
    order.code = "";
    answer(error.message, "error");
  }
  save();
};

find("code").value = order.code;
find("promo").addEventListener("submit", (event) => {
  event.preventDefault();
  const code = find("code").value.trim();
  if (code) apply(code);
  else {
    order.code = "";
    answer("", "");
    save();
  }
});

chooseService();
show();
const renew = offer(basketBody, clear);
changes.addEventListener("change", () => {
  show();
  renew();
});
if (order.code) apply(order.code);
