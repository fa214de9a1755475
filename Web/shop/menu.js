// The menu, with the order beside it.

import {
  changes,
  chooseService,
  element,
  find,
  menu,
  order,
  places,
  price,
  set,
  stepper,
  summarise,
  chosen,
  clear,
  basketBody,
} from "./shop.js";
import { offer } from "./pay.js";

const steppers = new Map();

const card = (dish) => {
  const count = stepper(
    dish,
    () => order.dishes[dish.id] ?? 0,
    (quantity) => set(dish.id, quantity),
  );
  steppers.set(dish.id, count);
  return element(
    "li",
    { className: "dish" },
    element(
      "div",
      { className: "plate" },
      element("img", { src: `/art/${dish.id}.svg`, alt: "", width: 240, height: 240, loading: "lazy" }),
    ),
    element(
      "div",
      { className: "stack tight words" },
      element("h3", {}, element("a", { href: `/dish/${dish.id}` }, dish.name)),
      element("p", { className: "quiet small" }, dish.description),
      dish.availableIn && element("p", { className: "badge" }, `${places(dish.availableIn)} only`),
    ),
    element("div", { className: "buy" }, element("p", { className: "price" }, price(dish.amount)), count),
  );
};

const show = () => {
  for (const count of steppers.values()) count.show();
  find("empty").hidden = chosen().length > 0;
  summarise();
};

// A first visit starts with a filled basket.
const visited = "visited";
if (!localStorage.getItem(visited)) {
  localStorage.setItem(visited, "yes");
  if (chosen().length === 0) set(menu.dishes[0].id, 1);
}

find("dishes").replaceChildren(...menu.dishes.map(card));
chooseService();
show();
const renew = offer(basketBody, clear);
changes.addEventListener("change", () => {
  show();
  renew();
});

const shortcut = find("to-order");
new IntersectionObserver(([{ isIntersecting }]) => {
  shortcut.hidden = isIntersecting;
}).observe(find("order"));
