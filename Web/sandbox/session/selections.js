/** What the shopper can change: the state in which the page's answer is awaited. */
const STATES = {
  paymentmethodselected: "paymentMethodSelected",
  shippingcontactselected: "shippingContactSelected",
  shippingmethodselected: "shippingMethodSelected",
  couponcodechanged: "couponCodeChanged",
};

/** What the shopper has changed and the page was not told of yet. It answers one before it hears of the next. */
export class Selections {
  #waiting = [];
  #demands;
  #choices;
  #version;

  constructor(demands, choices, version) {
    this.#demands = demands;
    this.#choices = choices;
    this.#version = version;
  }

  get isEmpty() { return this.#waiting.length === 0; }

  card() {
    this.#waiting.push(["paymentmethodselected", this.#choices.paymentMethod(this.#version)]);
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

  /** The next one that somebody listens to. The others the engine answers itself, with nothing changed. */
  next(hears) {
    while (!this.isEmpty) {
      const [type, value] = this.#waiting.shift();
      if (hears(type)) return { type, value, state: STATES[type] };
    }
    return undefined;
  }

  clear() {
    this.#waiting = [];
  }
}
