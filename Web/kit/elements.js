let kit;

export const define = (given) => {
  if (customElements.get("tender-apple-pay")) return;
  kit = given;
  customElements.define("tender-apple-pay", ApplePay);
  customElements.define("tender-apple-pay-mark", ApplePayMark);
};

const shown = new Set();

const CONNECTING = ["basket", "server", "apple-script", "top-origin"];
const OFFERED = ["buy", "set-up"];

const addStyle = () => kit.addToHead("link", { rel: "stylesheet", href: kit.own("tender.css") });

const checkoutOf = (element) => {
  if (window.ApplePaySession) addStyle(); // so that it is there before the button
  const [basket, server, script, topOrigin] = CONNECTING.map((name) => element.getAttribute(name) ?? undefined);
  return new kit.TenderCheckout({ server, basket, appleScript: script === "" || script, topOrigin });
};

class ApplePay extends HTMLElement {
  static observedAttributes = [...CONNECTING, "type", "button-style", "locale"];
  checkout;
  prepared;
  #button;
  #kind;
  /** By the back button: the basket may have been paid. */
  #return = ({ persisted }) => persisted && this.#renew();

  connectedCallback() {
    shown.add(this);
    addEventListener("pageshow", this.#return);
    this.#renew();
  }

  disconnectedCallback() {
    shown.delete(this);
    removeEventListener("pageshow", this.#return);
  }

  attributeChangedCallback(name, before, after) {
    if (!this.checkout || before === after) return; // not connected yet
    if (CONNECTING.includes(name)) this.#renew();
    else this.#draw();
  }

  #renew() {
    const checkout = checkoutOf(this);
    this.checkout = checkout;
    for (const type of ["ready", "authorized", "failed", "cancelled", "unavailable"]) {
      checkout.addEventListener(type, ({ detail }) => this.#forward(checkout, type, detail));
    }
    this.#prepare();
  }

  #prepare() {
    const checkout = this.checkout;
    this.#setBusy(true);
    this.prepared = checkout.prepare().then((isReady) => {
      if (this.checkout !== checkout) return false;
      this.#enter(checkout.state);
      if (checkout.mayPass) setTimeout(() => this.isConnected && this.checkout === checkout && this.#renew(), 5_000);
      return isReady;
    });
  }

  #enter(state) {
    this.setAttribute("state", state);
    this.#setBusy(false);
    if (OFFERED.includes(state)) this.#draw();
    else this.replaceChildren();
  }

  #setBusy(isBusy) {
    this.#button?.setAttribute("aria-busy", isBusy);
  }

  #dispatch(type, detail, cancelable) {
    // The element may be gone.
    return (this.isConnected ? this : document).dispatchEvent(
      new CustomEvent(`tender:${type}`, { detail, bubbles: true, composed: true, cancelable }),
    );
  }

  #forward(checkout, type, detail) {
    if (this.checkout !== checkout) return;
    this.#setBusy(false);
    this.#dispatch(type, detail);
    if (this.checkout !== checkout) return;
    // An unpaid basket may be tried again, on a new quote; one that may have been paid, never.
    if (type === "authorized") {
      for (const one of [this, ...shown]) if (one.checkout.basket === checkout.basket) one.#enter("paid");
    } else if (detail.code === "outcome_unknown") this.#enter("unknown");
    else if (["failed", "cancelled"].includes(type)) this.#prepare();
  }

  #press() {
    const checkout = this.checkout;
    if (this.#button.ariaBusy === "true" || !this.#dispatch("pressed", {}, true)) return;
    this.#setBusy(true);
    if (checkout.state === "set-up") {
      checkout
        .setUp()
        .catch(() => {})
        .then(() => this.#prepare());
    } else if (checkout.basket) {
      checkout.begin();
    } else {
      const reason = { code: "no_basket", detail: "There is nothing to pay for yet." };
      this.#forward(checkout, "unavailable", { reasons: [reason] });
    }
  }

  #draw() {
    const { metadata, state } = this.checkout;
    if (!OFFERED.includes(state)) return;
    addStyle();
    const kind = kindOf(metadata);
    if (this.#kind !== kind) {
      this.#button = document.createElement(kind === "apple-script" ? "apple-pay-button" : "button");
      this.#button.addEventListener("click", () => this.#press());
      this.#kind = kind;
    }
    if (this.#button.parentNode !== this) this.replaceChildren(this.#button);
    dress(this.#button, kind, {
      type: state === "set-up" ? state : this.getAttribute("type") || "buy",
      buttonstyle: this.getAttribute("button-style") || "black",
      locale: this.getAttribute("locale") || document.documentElement.lang || navigator.language,
    });
  }
}

class ApplePayMark extends HTMLElement {
  async connectedCallback() {
    const checkout = checkoutOf(this);
    await checkout.prepare();
    this.setAttribute("state", checkout.state);
    if (!OFFERED.includes(checkout.state)) return;
    addStyle();
    const mark = make("span", "Apple Pay");
    mark.className = `tender-mark tender-${kindOf(checkout.metadata)}`;
    this.replaceChildren(mark);
  }
}

const kindOf = ({ environment }) => {
  if (environment === "simulated") return environment;
  return CSS.supports("-webkit-appearance", "-apple-pay-button") ? "native" : "apple-script";
};

const words = (type) => {
  if (type === "plain") return "Apple Pay";
  const verb = type[0].toUpperCase() + type.slice(1).replace("-", " ");
  return `${verb} ${type === "set-up" ? "" : "with "}Apple Pay`;
};

const make = (name, textContent) => Object.assign(document.createElement(name), { textContent });

const dress = (button, kind, attributes) => {
  const { type, buttonstyle, locale } = attributes;
  if (kind === "apple-script") {
    for (const [name, value] of Object.entries(attributes)) button.setAttribute(name, value);
    return;
  }
  button.type = "button";
  button.className = `tender-apple-pay tender-${kind}`;
  Object.assign(button.dataset, { type, style: buttonstyle });
  if (kind === "simulated") {
    button.replaceChildren(make("span", words(type)), " ", make("small", "Simulated"));
    return;
  }
  button.lang = locale;
  button.ariaLabel = words(type);
  button.style.setProperty("-apple-pay-button-type", type);
  button.style.setProperty("-apple-pay-button-style", buttonstyle);
};
