import { isBlocking, isOfBillingContact, isPINStatus, STATUS, whyNotShown } from "./errors.js";
import { advise } from "./web-idl.js";

const PIN_NOTICES = {
  [STATUS.PIN_REQUIRED]: "This card asks for its PIN. Pay again, as if you had entered it.",
  [STATUS.PIN_INCORRECT]: "The PIN was not right. Pay again, as if you had entered another.",
  [STATUS.PIN_LOCKOUT]: "The PIN was wrong too often.",
};

/** The errors that the sheet shows, from the page or a paired device. */
export class SheetErrors {
  errors = [];
  notice = "";
  status; // the page's latest result

  /** Takes the page's errors, which answer an event in this state. */
  take(errors, state) {
    for (const error of errors) {
      const reason = whyNotShown(error, state);
      if (reason) advise(reason);
    }
    this.errors = errors;
  }

  /** Takes the page's result. Returns whether the shopper may try again: to correct errors, or to enter a PIN. */
  takeResult({ status, errors = [] }) {
    this.take(errors, "authorized");
    this.status = status;
    this.notice = PIN_NOTICES[status] ?? "";
    return isPINStatus(status) || (status !== STATUS.SUCCESS && errors.length > 0);
  }

  remove(isResolved) {
    this.errors = this.errors.filter((error) => !isResolved(error));
    this.notice = "";
  }

  clear() {
    this.remove(() => true);
  }

  /** What blocks the payment; undefined when nothing does. */
  obstacle({ asksAddress, isPickup }) {
    if (this.status === STATUS.PIN_LOCKOUT) return "Choose another way to pay.";
    const blocking = this.errors.find(isBlocking);
    if (!blocking) return undefined;
    if (isOfBillingContact(blocking)) return "Choose another billing address or card to go on.";
    return `Choose another ${asksAddress && !isPickup ? "address" : "contact"} to go on.`;
  }
}
