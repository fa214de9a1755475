// `<apple-pay-button>`, which Apple's script defines elsewhere: its attributes and CSS variables, without Apple's artwork.

const APPLE_SCRIPT = "applepay.cdn-apple.com";
const PLAIN = "plain";
const BUTTON_TYPES = {
  plain: "Apple Pay",
  buy: "Buy with Apple Pay",
  "set-up": "Set up Apple Pay",
  donate: "Donate with Apple Pay",
  "check-out": "Check out with Apple Pay",
  book: "Book with Apple Pay",
  subscribe: "Subscribe with Apple Pay",
  reload: "Reload with Apple Pay",
  "add-money": "Add money with Apple Pay",
  "top-up": "Top up with Apple Pay",
  order: "Order with Apple Pay",
  rent: "Rent with Apple Pay",
  support: "Support with Apple Pay",
  contribute: "Contribute with Apple Pay",
  tip: "Tip with Apple Pay",
  continue: "Continue with Apple Pay",
  pay: "Pay with Apple Pay",
};

// Not inline, so that a content security policy needs no exception.
const buttonStyle = new CSSStyleSheet();
buttonStyle.replaceSync(`
  :host {
    display: inline-block;
    box-sizing: var(--apple-pay-button-box-sizing, content-box);
    width: var(--apple-pay-button-width, auto);
    min-width: 140px;
    height: var(--apple-pay-button-height, 30px);
    min-height: 30px;
    padding: var(--apple-pay-button-padding, 0);
    vertical-align: middle;
  }
  :host([hidden]) { display: none; }
  :host([type="plain"]), :host(:not([type])) { min-width: 100px; }
  button {
    box-sizing: border-box;
    width: 100%;
    height: 100%;
    margin: 0;
    padding: 0 0.5rem;
    border: 1px solid #15181d;
    border-radius: var(--apple-pay-button-border-radius, 4px);
    background: #15181d;
    color: #fff;
    cursor: pointer;
    font: 600 0.875rem/1.2 system-ui, sans-serif;
    white-space: nowrap;
  }
  :host([buttonstyle^="white"]) button { border-color: #fff; background: #fff; color: #15181d; }
  :host([buttonstyle="white-outline"]) button { border-color: #15181d; }
  button:disabled { cursor: default; opacity: 0.5; }
  button:focus-visible { outline: 3px solid #1f5fbf; outline-offset: 2px; }
  small { padding: 0.1em 0.4em; border-radius: 4px; background: #fff3d6; color: #6b4700; font-size: 0.75rem; }
`);

class ApplePayButton extends HTMLElement {
  static observedAttributes = ["type", "disabled"];

  #button = document.createElement("button");

  constructor() {
    super();
    this.#button.type = "button";
    const root = this.attachShadow({ mode: "open", delegatesFocus: true });
    root.adoptedStyleSheets = [buttonStyle];
    root.append(this.#button);
    this.#draw();
  }

  attributeChangedCallback() {
    this.#draw();
  }

  #draw() {
    const label = BUTTON_TYPES[this.getAttribute("type")] ?? BUTTON_TYPES[PLAIN];
    const mark = Object.assign(document.createElement("small"), { textContent: "Simulated" });
    this.#button.replaceChildren(`${label} `, mark);
    this.#button.disabled = this.hasAttribute("disabled");
  }
}

const defineButton = () => {
  if (!customElements.get("apple-pay-button")) customElements.define("apple-pay-button", ApplePayButton);
};

const loadsAppleScript = () =>
  [...document.scripts].some(({ src }) => src && URL.parse(src, document.baseURI)?.hostname === APPLE_SCRIPT);

/** Leaves the element to Apple's script where the page loads it, unless that script does not arrive. */
export const offerButton = () => {
  if (document.readyState === "complete") defineButton();
  else if (document.readyState === "loading") document.addEventListener("DOMContentLoaded", decideOnButton);
  else decideOnButton();
};

const decideOnButton = () => {
  if (loadsAppleScript()) window.addEventListener("load", defineButton);
  else defineButton();
};
