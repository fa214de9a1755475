// What a page and its sheet said to each other, in the form of Tests/Support/Flows: an event of the sheet, and under it what
// the page did.

const TITLE = "A recorded payment sheet";

/** By the event's type, the word of the flow files. */
const CHANGES = {
  paymentmethodselected: "payment-method",
  shippingcontactselected: "shipping-contact",
  shippingmethodselected: "shipping-method",
  couponcodechanged: "coupon-code",
};
const CHANGES_OF_STATES = {
  paymentMethodSelected: "payment-method",
  shippingContactSelected: "shipping-contact",
  shippingMethodSelected: "shipping-method",
  couponCodeChanged: "coupon-code",
};

const words = (...parts) => parts.filter((part) => part !== undefined && part !== "").join(" ");

const place = ({ countryCode = "", postalCode }) =>
  postalCode ? `${countryCode}/${postalCode.replaceAll(" ", "")}` : countryCode;

const valueOf = {
  paymentmethodselected: ({ type }) => type,
  shippingcontactselected: place,
  shippingmethodselected: ({ identifier }) => identifier,
  couponcodechanged: (code) => code,
};

const errorWords = (errors = []) =>
  errors.map(({ code, contactField }) => `error=${code}${contactField ? `:${contactField}` : ""}`);

const methodWords = (methods = []) =>
  methods.length > 0
    ? `methods=${methods.map(({ identifier, amount }) => `${identifier}:${amount}`).join(",")}`
    : undefined;

export class Transcript {
  #entries = [];

  opened() {
    this.#entries.push({ event: "page pressed", effects: ["sheet opens"] });
  }

  /** Stands first: whether it comes before the preselected card is no promise. */
  validates(url) {
    this.#entries.splice(1, 0, { event: `sheet merchant-session ${url}`, effects: [] });
  }

  validated() {
    const entry = this.#entries.find(({ event }) => event.startsWith("sheet merchant-session"));
    entry?.effects.push("sheet gets merchant-session");
  }

  changed(type, value) {
    this.#event(words("sheet changed", CHANGES[type], valueOf[type](value)));
  }

  answered(state, { newTotal, newShippingMethods, errors }) {
    const total = newTotal && `total=${newTotal.amount}`;
    const effect = words("sheet gets", CHANGES_OF_STATES[state], total, methodWords(newShippingMethods));
    this.#effect(words(effect, ...errorWords(errors)));
  }

  authorized() {
    this.#event("sheet authorized");
  }

  completed(isSuccess, errors) {
    this.#effect(words(`sheet gets ${isSuccess ? "success" : "failure"}`, ...errorWords(errors)));
  }

  closed() {
    this.#event("sheet closed");
  }

  aborted() {
    this.#effect("sheet aborted");
  }

  #event(event) {
    this.#entries.push({ event, effects: [] });
  }

  #effect(effect) {
    this.#entries.at(-1).effects.push(effect);
  }

  get events() {
    return this.#entries.map(({ event }) => event);
  }

  /** The text of a flow file. */
  text(title = TITLE) {
    const lines = this.#entries.flatMap(({ event, effects }) => [
      `> ${event}`,
      ...effects.map((effect) => `< ${effect}`),
    ]);
    return `${title}\n\n${lines.join("\n")}\n`;
  }
}

/** The lines of a transcript that a sheet and its page write; the address of the gateway is another in each run. */
export const linesOf = (text) =>
  text
    .split("\n")
    .slice(1)
    .map((line) => line.trim().replace(/^(> sheet merchant-session) .*/, "$1"))
    .filter((line) => /^[<>] (sheet|page pressed)/.test(line));

/** The events of a transcript, each as `[word, value]`: `["shipping-method", "van"]`. */
export const eventsOf = (text) =>
  linesOf(text)
    .filter((line) => line.startsWith("> "))
    .map((line) => line.slice(2).replace(/^sheet (changed )?/, ""))
    .map((line) => [line.split(" ")[0], line.split(" ").slice(1).join(" ")]);
