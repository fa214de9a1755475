// A dish's own page: into the basket, or paid for at once.

import { chooseService, changes, dishOf, element, find, hint, order, places, price, set, stepper } from "./shop.js";
import { offer } from "./pay.js";

const dish = dishOf(find("product").dataset.dish);
let quantity = 1;

find("description").textContent = dish.description;
find("price").textContent = price(dish.amount);
find("about").textContent = dish.about;
find("allergens").textContent = dish.allergens.length > 0 ? `Contains ${dish.allergens.join(", ")}.` : "";
find("only").hidden = !dish.availableIn;
if (dish.availableIn) find("only").textContent = `Delivered only in ${places(dish.availableIn)}. Collect it anywhere.`;

const count = stepper(
  dish,
  () => quantity,
  (wanted) => {
    quantity = Math.max(1, wanted);
    count.show();
    find("price").textContent = price(dish.amount * quantity);
    show();
    renew();
  },
);
find("stepper").append(count);

find("add").addEventListener("click", () => {
  set(dish.id, (order.dishes[dish.id] ?? 0) + quantity);
  find("added").replaceChildren(
    `${order.dishes[dish.id]} in your basket. `,
    element("a", { href: "/basket" }, "To the basket"),
  );
});

// Only this dish; fees and delivery follow when the button is ready.
const show = () => {
  find("lines").replaceChildren();
  find("sum").textContent = quantity > 1 ? `${quantity} × ${dish.name}` : dish.name;
  find("subtotal").textContent = price(dish.amount * quantity);
  find("hint").textContent = hint();
};

chooseService();
show();
const renew = offer(
  () => ({ serviceType: order.service, items: [{ id: dish.id, quantity }] }),
  () => {},
);
changes.addEventListener("change", () => {
  show();
  renew();
});
