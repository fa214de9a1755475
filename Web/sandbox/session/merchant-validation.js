import { ANSWER_WITHIN, clock } from "./clock.js";
import { wallet } from "./wallet.js";

/** Whether the page has shown that it is the merchant's. */
export class MerchantValidation {
  #state = "idle";
  #stopDeadline = () => {};
  session; // the merchant session, once it was found good

  get isAwaited() {
    return this.#state === "validating";
  }
  get isComplete() {
    return this.#state === "complete";
  }

  begin(expire) {
    this.#state = "validating";
    this.#stopDeadline = clock.after(ANSWER_WITHIN, expire);
  }

  /** The device checks the session: its age, its domain, that it is unused and unchanged. */
  async accept(session) {
    this.end();
    this.#state = "answered";
    await wallet.checkSession(session);
    this.session = session;
    this.#state = "complete";
  }

  end() {
    this.#stopDeadline();
  }
}
