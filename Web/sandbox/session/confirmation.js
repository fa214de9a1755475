import { wallet } from "./wallet.js";

const LOOK_AGAIN = 300;

export const pause = (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** A payment confirmation on a paired phone or watch. */
export class Confirmation {
  #id;

  static async ask(device, payment) {
    const { id } = await wallet.askDevice(device.id, payment);
    return new Confirmation(id);
  }

  constructor(id) {
    this.#id = id;
  }

  /** Waits for the answer, "approved" or "cancelled", while `isWanted()`. */
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
