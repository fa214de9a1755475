import { wallet } from "./wallet.js";

const LOOK_AGAIN = 300;

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A question to a paired phone or watch: whether its owner pays this. */
export class Confirmation {
  #id;

  static async ask(device, payment) {
    const { id } = await wallet.askDevice(device.id, payment);
    return new Confirmation(id);
  }

  constructor(id) {
    this.#id = id;
  }

  /** Waits for the answer, "approved" or "cancelled", as long as somebody wants to know. */
  async answer(isWanted) {
    for (;;) {
      const { state } = await wallet.confirmation(this.#id);
      if (!isWanted() || state === "approved" || state === "cancelled") return state;
      await pause(LOOK_AGAIN);
    }
  }

  withdraw() {
    wallet.withdraw(this.#id).catch(() => {});
  }
}
