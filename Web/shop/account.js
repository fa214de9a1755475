// Sign in as one of the shop's regulars, or stay a guest.

import { ask, element, find, greet, visitor } from "./shop.js";

const show = ({ shopper, regulars }) => {
  find("state").textContent = shopper ? `You are signed in as ${shopper.name}.` : "You are a guest.";
  greet({ shopper });
  find("guest").hidden = !shopper;
  find("regulars").replaceChildren(
    ...regulars.map(({ customer, name }) =>
      element(
        "li",
        {},
        element(
          "button",
          {
            type: "button",
            className: "button plain",
            disabled: customer === shopper?.customer,
            onclick: async () => show(await ask("/api/shopper", { method: "POST", body: { customer } })),
          },
          `Sign in as ${name}`,
        ),
      ),
    ),
  );
  find("state").focus();
};

find("guest").addEventListener("click", async () => show(await ask("/api/shopper", { method: "DELETE" })));
show(await visitor);
