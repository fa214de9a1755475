import { messages } from "./errors.js";
import { dateRange } from "./money.js";

// The parts of the sheet in which the shopper chooses.

export const element = (tag, properties = {}, ...children) => {
  const { aria = {}, ...rest } = properties;
  const made = Object.assign(document.createElement(tag), rest);
  for (const [name, value] of Object.entries(aria)) made.setAttribute(name === "role" ? name : `aria-${name}`, value);
  made.append(...children);
  return made;
};

/** A text from the page, in the page's language and direction; the sheet itself speaks English. */
export const quoted = (tag, text, properties = {}) =>
  element(tag, { lang: document.documentElement.lang, dir: "auto", ...properties }, text);

/** Writes a text only when it is another one, so that assistive technology does not say it twice. */
export const write = (node, text) => {
  if (node.textContent !== text) node.textContent = text;
  node.hidden = !text;
};

/** A labelled list of which one thing is chosen, with what is wrong with that beside it. */
export class Choice {
  #select;
  #hint;
  #error;
  #shown;

  constructor(name, title, choose) {
    const ids = { hint: `aps-${name}-hint`, error: `aps-${name}-error` };
    this.#select = element("select", { id: `aps-${name}`, aria: { describedby: `${ids.error} ${ids.hint}` } });
    this.#hint = element("p", { id: ids.hint, className: "aps-hint" });
    this.#error = element("p", { id: ids.error, className: "aps-alert", hidden: true, aria: { role: "alert" } });
    const label = element("label", { htmlFor: this.#select.id }, title);
    this.element = element(
      "fieldset",
      { hidden: true, aria: { role: "none" } },
      label,
      this.#select,
      this.#hint,
      this.#error,
    );
    this.#select.addEventListener("change", () => choose(this.#select.value));
  }

  show(options, chosen, hint = "", errors = []) {
    this.element.hidden = !options;
    if (!options) return;
    const key = JSON.stringify(options);
    if (this.#shown !== key) {
      this.#select.replaceChildren(...options.map((option) => element("option", option)));
      this.#shown = key;
    }
    this.#select.value = chosen ?? "";
    write(this.#hint, hint);
    this.#select.setAttribute("aria-invalid", String(errors.length > 0));
    const text = messages(errors);
    const isNew = text && this.#error.textContent !== text;
    write(this.#error, text);
    if (isNew) this.#error.scrollIntoView({ block: "nearest" });
  }
}

/** The shipping methods as one group of radio buttons. */
export class Methods {
  #money;
  #choose;
  #list = element("div", { className: "aps-methods" });
  #shown;

  constructor(title, money, choose) {
    this.#money = money;
    this.#choose = choose;
    this.element = element("fieldset", { hidden: true }, element("legend", {}, title), this.#list);
  }

  show(methods, chosen) {
    this.element.hidden = methods.length === 0;
    const key = JSON.stringify(methods);
    if (this.#shown !== key) {
      const hadFocus = this.#list.contains(document.activeElement);
      this.#list.replaceChildren(...methods.map((method) => this.#option(method)));
      this.#shown = key;
      if (hadFocus) this.#radio(chosen)?.focus();
    }
    const radio = this.#radio(chosen);
    if (radio) radio.checked = true;
  }

  #radio(method) {
    return [...this.#list.querySelectorAll("input")].find(({ value }) => value === method?.identifier);
  }

  #option({ identifier, label, detail, amount, dateComponentsRange }) {
    const radio = element("input", { type: "radio", name: "aps-method", value: identifier });
    radio.addEventListener("change", () => this.#choose(identifier));
    const when = dateComponentsRange ? dateRange(dateComponentsRange) : "";
    const details = [detail, when].filter(Boolean).map((text) => quoted("small", text));
    return element(
      "label",
      {},
      radio,
      element("span", {}, quoted("span", label), ...details),
      element("span", { className: "aps-sum" }, this.#money.of({ amount })),
    );
  }
}

/** The field for a coupon code, with its own error beside it. */
export class Coupon {
  #input = element("input", { id: "aps-coupon", autocomplete: "off", aria: { describedby: "aps-coupon-error" } });
  #error = element("p", {
    id: "aps-coupon-error",
    className: "aps-alert",
    hidden: true,
    aria: { role: "alert" },
  });
  #shown = "";

  constructor(apply) {
    const button = element("button", { type: "button" }, "Apply code");
    const submit = () => apply(this.#input.value.trim());
    button.addEventListener("click", submit);
    this.#input.addEventListener("keydown", (event) => event.key === "Enter" && submit());
    this.element = element(
      "fieldset",
      { className: "aps-coupon", hidden: true, aria: { role: "none" } },
      element("label", { htmlFor: "aps-coupon" }, "Coupon code"),
      element("div", {}, this.#input, button),
      this.#error,
    );
  }

  show(isOffered, code, errors) {
    this.element.hidden = !isOffered;
    if (code !== this.#shown) this.#input.value = this.#shown = code;
    write(this.#error, messages(errors));
    this.#input.setAttribute("aria-invalid", String(errors.length > 0));
  }
}

const SVG = "http://www.w3.org/2000/svg";

const drawing = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
};

/** The code that a phone scans to operate the sheet. It is asked for when the shopper opens this part. */
export class PhoneCode {
  #picture = element("div", { className: "aps-code" });
  #hint = element("p", { className: "aps-hint" });
  #shown;

  constructor(ask) {
    this.element = element(
      "details",
      { className: "aps-phone" },
      element("summary", {}, "Pay with a phone"),
      this.#picture,
      this.#hint,
    );
    this.element.addEventListener("toggle", () => this.element.open && ask());
  }

  show({ code, isPaired, isAlone }) {
    if (isAlone || (code && !this.#shown)) this.element.open = true;
    this.#picture.hidden = !code || isPaired;
    if (code && this.#shown !== code.url) this.#draw(code);
    const words = isPaired ? "Continue on the phone." : "Scan the code: the phone becomes the wallet of this payment.";
    write(this.#hint, code ? words : "");
  }

  #draw({ url, side, path }) {
    this.#shown = url;
    const picture = drawing(
      "svg",
      {
        viewBox: `0 0 ${side} ${side}`,
        role: "img",
        "aria-label": "QR code for a phone",
        "shape-rendering": "crispEdges",
      },
      drawing("path", { fill: "#fff", d: `M0 0h${side}v${side}H0z` }),
      drawing("path", { fill: "#000", d: path }),
    );
    this.#picture.replaceChildren(element("a", { href: url, target: "_blank", rel: "noopener" }, picture));
  }
}
