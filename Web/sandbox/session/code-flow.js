import { Money } from "./money.js";
import { address } from "./wallet.js";

// Browsers that are not Safari: `ApplePayWebOptions`, and the window in which Apple's script shows its code where a page
// asks for one. Without that the code is in a dialog of the page, which is the payment sheet itself.

const FORMS = ["modal", "window"];
const SIZE = { width: 640, height: 640 };
const LOOK_AT_WINDOW = 200;

const options = { renderApplePayCodeAs: "modal", onApplePayCodeClose: () => {} };
let codeWindow; // the open one

export const isCodeInWindow = () => options.renderApplePayCodeAs === "window";
export const reportCodeClosed = () => options.onApplePayCodeClose();

/** Apple's script names wrong options in the console and keeps what was. */
export const webOptions = Object.freeze({
  set(changes) {
    const { renderApplePayCodeAs: form, onApplePayCodeClose: close } = changes ?? {};
    if (form !== undefined && !FORMS.includes(form)) {
      console.error(`renderApplePayCodeAs must be one of: "${FORMS.join('", "')}"`);
    } else if (form !== undefined) options.renderApplePayCodeAs = form;
    if (close !== undefined && typeof close !== "function") console.error("onApplePayCodeClose must be a function");
    else if (close !== undefined) options.onApplePayCodeClose = close;
  },
  focusApplePayCodeWindow: () => codeWindow?.focus(),
  closeApplePayCodeWindow: () => codeWindow?.dismiss(),
});

/** The code in a window of its own, where a payment sheet's dialog would be. */
export class CodeWindow {
  #actions;
  #money;
  #window;
  #state = {};
  #looking;

  /** Has to be made in the shopper's gesture, for the browser to let the window open. */
  constructor(request, actions) {
    this.#actions = actions;
    this.#money = new Money(request.currencyCode);
    const { width, height } = SIZE;
    const [left, top] = [screenX + (outerWidth - width) / 2, screenY + (outerHeight - height) / 2];
    this.#window = window.open(
      new URL("code", address.origin),
      "_blank",
      `popup,width=${width},height=${height},left=${left},top=${top}`,
    );
    if (!this.#window) return;
    codeWindow = this;
    this.#looking = setInterval(() => this.#look(), LOOK_AT_WINDOW);
  }

  /** Why there is no window; undefined when there is one. */
  get refusal() {
    return this.#window
      ? undefined
      : "The browser did not open the window for the code: begin the session in the click, and let the frame open popups.";
  }

  show({ sums: { total }, phone: { code, isPaired } }) {
    const words = isPaired ? "Continue on the phone." : "Scan the code with the camera of an iPhone or iPad.";
    this.#post({ merchant: total.label, total: this.#money.of(total), code: isPaired ? undefined : code, words });
  }

  focus() {
    this.#window.focus();
  }

  dismiss() {
    this.#actions.cancel();
  }

  /** With a last word, the window stands long enough for that to be read. */
  close(word, time = 0) {
    clearInterval(this.#looking);
    if (codeWindow === this) codeWindow = undefined;
    if (word !== undefined) this.#post({ words: word });
    if (time > 0) setTimeout(() => this.#window?.close(), time);
    else this.#window?.close();
  }

  // The window's page may still be loading when a state is posted first, so it is posted again.
  #look() {
    if (this.#window.closed) this.#actions.cancel();
    else this.#post({});
  }

  #post(changes) {
    this.#state = { ...this.#state, ...changes };
    this.#window?.postMessage({ applePayCode: this.#state }, "*"); // it may have an address only later
  }
}
