// Tender's button in this shop: which basket stands in it, and what the shop does with what it tells.

import { ask, say } from "/shop.js";
import { showOrder } from "/order.js";

const SETTLING_TIME = 200;
const BACK_SOON = 2000;
const LEAVING_TIME = 10_000;
/** The server may be there again in a moment. */
const isPassing = (code) => ["connection_lost", "script_not_loaded"].includes(code) || /^http_5/.test(code);
/** The ids of baskets by what is in them, so that a reload offers the very basket that may be on its way. */
const KEPT = "baskets";

const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

const known = () => JSON.parse(sessionStorage.getItem(KEPT) ?? "{}");
const remember = (key, id) => sessionStorage.setItem(KEPT, JSON.stringify({ ...known(), [key]: id }));
const forget = (id) => sessionStorage.setItem(
  KEPT, JSON.stringify(Object.fromEntries(Object.entries(known()).filter(([, other]) => other !== id))));

/**
 * Gives the page's button a basket of what is wished, again whenever that changes.
 *
 * @param wish says what is wished at the moment: a body for `POST /api/baskets`, or nothing.
 * @param paid is told once it was paid.
 * @returns what to call when the wish has changed.
 */
export const offer = (wish, paid) => {
  const button = document.querySelector("tender-apple-pay");
  let settling;
  let newest = 0; // counts changes, so that an answer to an old one is not taken for the newest

  // A changed order is another basket. The old one leaves the button at once, so that nobody pays it by mistake.
  const renew = () => {
    const number = ++newest;
    clearTimeout(settling);
    button.hidden = false;
    const body = wish();
    const id = body && known()[JSON.stringify(body)];
    if (id) button.setAttribute("basket", id);
    else button.removeAttribute("basket");
    if (body && !id) settling = setTimeout(() => make(body, number), SETTLING_TIME);
  };

  const make = async (body, number) => {
    try {
      const { basketId } = await ask("/api/baskets", { method: "POST", body });
      remember(JSON.stringify(body), basketId);
      if (number === newest) button.setAttribute("basket", basketId);
    } catch (error) {
      if (number === newest) say(error.message);
    }
  };

  const changed = () => {
    say("");
    renew();
  };

  const again = (id) => {
    forget(id);
    renew();
  };

  // The same basket, prepared again.
  const retry = () => {
    button.removeAttribute("basket");
    renew();
    button.prepared?.then((isReady) => { if (isReady) say(""); });
  };

  // A page that is being reloaded is heard from for as long as the new one takes to arrive. What it forgot then, and
  // showed to nobody, the new one could not show.
  let isLeaving = false;
  addEventListener("beforeunload", () => { isLeaving = true; });

  const finish = async (id, told) => {
    if (isLeaving) await pause(LEAVING_TIME);
    isLeaving = false;
    forget(id);
    paid();
    return showOrder(id, told);
  };

  // What this basket came to is asked of the shop's own backend: after a reload, the back button, a lost connection.
  const resume = async (id) => {
    const { status } = await ask(`/api/orders/${id}`).catch(() => ({}));
    if (status && !["declined", "failed", "voided"].includes(status)) await finish(id, {});
    else again(id);
  };

  button.addEventListener("tender:authorized", ({ detail }) => finish(button.getAttribute("basket"), detail));
  button.addEventListener("tender:failed", ({ detail: { code, detail } }) => {
    const id = button.getAttribute("basket");
    if (code === "outcome_unknown") finish(id, {}); // what may have been paid is not offered again
    else if (["basket_cancelled", "basket_expired"].includes(code)) again(id);
    say(code === "declined" ? "Your card was declined. Nothing was charged; please try another one." : detail);
  });
  button.addEventListener("tender:cancelled", () => {
    say("You closed the payment sheet. Nothing was charged, and your order is still here.", "note");
  });
  button.addEventListener("tender:unavailable", ({ detail: { reasons: [reason] } }) => {
    const id = button.getAttribute("basket");
    const code = reason?.code;
    if (["basket_cancelled", "basket_expired", "basket_unknown"].includes(code)) again(id);
    else if (["basket_placed", "payment_in_progress"].includes(code)) resume(id);
    else if (code === "no_basket" && !wish()) say("Choose a dish first.", "note");
    else if (["no_basket", "not_prepared"].includes(code)) say("One moment, please.", "note");
    else if (reason) say(reason.detail);
    if (isPassing(code)) settling = setTimeout(retry, BACK_SOON);
  });
  // A page that the back button brings out of the browser's memory is older than what was paid since.
  addEventListener("pageshow", ({ persisted }) => { if (persisted) location.reload(); });

  const dark = matchMedia("(prefers-color-scheme: dark)");
  const dress = () => button.setAttribute("button-style", dark.matches ? "white" : "black");
  dark.addEventListener("change", dress);
  dress();
  renew();
  return changed;
};

