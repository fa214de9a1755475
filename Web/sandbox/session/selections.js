/** The sheet's state while it waits for the page's answer, by event type. */
const STATES = {
  paymentmethodselected: "paymentMethodSelected",
  shippingcontactselected: "shippingContactSelected",
  shippingmethodselected: "shippingMethodSelected",
  couponcodechanged: "couponCodeChanged",
};

/** The changes that the page has not received yet. It answers each before it receives the next. */
export class Selections {
  #waiting = [];
  #demands;
  #choices;

  constructor(demands, choices) {
    this.#demands = demands;
    this.#choices = choices;
  }

  get isEmpty() {
    return this.#waiting.length === 0;
  }

  card() {
    this.#waiting.push(["paymentmethodselected", this.#choices.paymentMethod]);
  }

  contact() {
    if (!this.#demands.asksAddress || this.#demands.isPickup) return;
    this.#waiting.push(["shippingcontactselected", this.#choices.shippingContact]);
  }

  method() {
    this.#waiting.push(["shippingmethodselected", this.#choices.method]);
  }

  coupon() {
    this.#waiting.push(["couponcodechanged", this.#choices.coupon]);
  }

  /** The next change with a listener. The engine answers the others itself, without changes. */
  next(hasListener) {
    while (!this.isEmpty) {
      const [type, value] = this.#waiting.shift();
      if (hasListener(type)) return { type, value, state: STATES[type] };
    }
    return undefined;
  }

  clear() {
    this.#waiting = [];
  }
}
