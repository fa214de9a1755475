// Tender's button in this shop: its basket, and what the shop does at its events.

import { ask, say, showPrices } from "./shop.js";
import { showOrder } from "./order.js";

const DEBOUNCE_TIME = 200;
const LEAVING_TIME = 10_000;
/** The ids of baskets by what is in them, so that a reload offers the very basket that may be on its way. */
const KEPT = "baskets";

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const known = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
const remember = (key, id) => sessionStorage.setItem(KEPT, JSON.stringify({ ...known(), [key]: id }));
const forget = (id) =>
  sessionStorage.setItem(
    KEPT,
    JSON.stringify(Object.fromEntries(Object.entries(known()).filter(([, other]) => other !== id))),
  );

/** Tender's button on this page, with the basket that stands in it. */
class Offer {
  #button = document.querySelector("tender-apple-pay");
  #basketBody;
  #paid;
  #timer;
  #newest = 0; // counts changes, so that an answer to an old one is not taken for the newest
  // A page that is being reloaded still receives events until the new one arrives. What it removed then,
  // the new page could not show.
  #isLeaving = false;
  #isAway = false; // the server did not answer

  constructor(basketBody, paid) {
    this.#basketBody = basketBody;
    this.#paid = paid;
    this.#listen();
    this.#dress();
    this.renew();
  }

  /** A changed order gets another basket. The old one is removed from the button at once, so that it cannot be paid. */
  renew() {
    const number = ++this.#newest;
    clearTimeout(this.#timer);
    const body = this.#basketBody();
    this.#button.hidden = !body;
    const id = body && known()[JSON.stringify(body)];
    if (id && id === this.#button.getAttribute("basket")) this.#showPrices();
    else if (id) this.#button.setAttribute("basket", id);
    else this.#button.removeAttribute("basket");
    if (body && !id) this.#timer = setTimeout(() => this.#make(body, number), DEBOUNCE_TIME);
  }

  async #make(body, number) {
    try {
      const { basketId } = await ask("/api/baskets", { method: "POST", body });
      remember(JSON.stringify(body), basketId);
      if (number === this.#newest) this.#button.setAttribute("basket", basketId);
    } catch (error) {
      if (number === this.#newest) say(error.message);
    }
  }

  /** Another basket in the place of this one. */
  #again(id) {
    forget(id);
    this.renew();
  }

  async #finish(id, reported) {
    if (this.#isLeaving) await pause(LEAVING_TIME);
    this.#isLeaving = false;
    forget(id);
    this.#paid();
    return showOrder(id, reported);
  }

  /** Asks the shop's backend for the basket's outcome: after a reload, the back button, a lost connection. */
  async #resume(id) {
    const { status } = await ask(`/api/orders/${id}`).catch(() => ({}));
    if (status && !["declined", "failed", "voided"].includes(status)) await this.#finish(id, {});
    else this.#again(id);
  }

  #listen() {
    const on = (name, handler) =>
      this.#button.addEventListener(`tender:${name}`, ({ detail }) =>
        handler(this.#button.getAttribute("basket"), detail),
      );
    on("ready", () => {
      this.#showPrices();
      if (this.#isAway) say("");
      this.#isAway = false;
    });
    on("authorized", (id, detail) => this.#finish(id, detail));
    on("failed", (id, detail) => this.#failed(id, detail));
    on("cancelled", () => {
      say("You closed the payment sheet. Nothing was charged, and your order is still here.", "note");
    });
    on("unavailable", (id, { reasons: [reason] }) => this.#unavailable(id, reason));
    addEventListener("beforeunload", () => {
      this.#isLeaving = true;
    });
    // A page that the back button brings out of the browser's memory is older than what was paid since.
    addEventListener("pageshow", ({ persisted }) => {
      if (persisted) location.reload();
    });
  }

  #showPrices() {
    const shown = this.#button.checkout?.shown;
    if (shown) showPrices(shown.request);
  }

  #failed(id, { code, detail }) {
    if (code === "outcome_unknown") this.#finish(id, {}); // what may have been paid is not offered again
    else if (["basket_cancelled", "basket_expired"].includes(code)) this.#again(id);
    say(code === "declined" ? "Your card was declined. Nothing was charged; please try another one." : detail);
  }

  #unavailable(id, reason) {
    const code = reason?.code;
    if (["basket_cancelled", "basket_expired", "basket_unknown"].includes(code)) this.#again(id);
    else if (["basket_placed", "payment_in_progress"].includes(code)) this.#resume(id);
    else if (code === "no_basket" && !this.#basketBody()) say("Choose a dish first.", "note");
    else if (["no_basket", "not_prepared"].includes(code)) say("One moment, please.", "note");
    else if (reason) say(reason.detail);
    this.#isAway = this.#button.checkout.mayPass; // the button tries again by itself
  }

  #dress() {
    const dark = matchMedia("(prefers-color-scheme: dark)");
    const dress = () => this.#button.setAttribute("button-style", dark.matches ? "white" : "black");
    dark.addEventListener("change", dress);
    dress();
  }
}

/**
 * Gives the page's button a basket of the order, and a new one whenever the order changes.
 *
 * @param basketBody returns the current body for `POST /api/baskets`, or nothing.
 * @param paid is called once it is paid.
 * @returns the function to call when the order has changed.
 */
export const offer = (basketBody, paid) => {
  const current = new Offer(basketBody, paid);
  return () => {
    say("");
    current.renew();
  };
};
