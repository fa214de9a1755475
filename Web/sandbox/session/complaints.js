import { isBlocking, isOfBillingContact, isPINStatus, STATUS, whyNotShown } from "./errors.js";
import { advise } from "./web-idl.js";

const PIN_NOTICES = {
  [STATUS.PIN_REQUIRED]: "This card asks for its PIN. Pay again, as if you had entered it.",
  [STATUS.PIN_INCORRECT]: "The PIN was not right. Pay again, as if you had entered another.",
  [STATUS.PIN_LOCKOUT]: "The PIN was wrong too often.",
};

/** What is wrong with the shopper's choices, by the page's word or a paired device's. */
export class Complaints {
  errors = [];
  notice = "";
  status; // the page's latest result

  /** The page's errors in answer to what happens in this state. */
  take(errors, state) {
    for (const error of errors) {
      const reason = whyNotShown(error, state);
      if (reason) advise(reason);
    }
    this.errors = errors;
  }

  /** The page's result. Whether the shopper may try again: with errors to correct, and when a PIN is asked for. */
  takeResult({ status, errors = [] }) {
    this.take(errors, "authorized");
    this.status = status;
    this.notice = PIN_NOTICES[status] ?? "";
    return isPINStatus(status) || (status !== STATUS.SUCCESS && errors.length > 0);
  }

  forget(isSettled) {
    this.errors = this.errors.filter((error) => !isSettled(error));
    this.notice = "";
  }

  clear() {
    this.forget(() => true);
  }

  /** What has to change before the shopper can pay, or nothing. */
  obstacle({ asksAddress, isPickup }) {
    if (this.status === STATUS.PIN_LOCKOUT) return "Choose another way to pay.";
    const blocking = this.errors.find(isBlocking);
    if (!blocking) return undefined;
    if (isOfBillingContact(blocking)) return "Choose another billing address or card to go on.";
    return `Choose another ${asksAddress && !isPickup ? "address" : "contact"} to go on.`;
  }
}
