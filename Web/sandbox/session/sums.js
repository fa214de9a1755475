import { SPECIAL } from "./rules.js";

/** What the sheet says is to be paid, now and later. */
export class Sums {
  constructor(request) {
    this.total = request.total;
    this.items = request.lineItems ?? [];
    this.special = Object.fromEntries(SPECIAL.map((name) => [name, request[name]]));
  }

  /** What an answer of the page's leaves out stays as it is. */
  take(update) {
    this.total = update.newTotal ?? this.total;
    this.items = update.newLineItems ?? this.items;
    for (const name of SPECIAL) {
      this.special[name] = update[`new${name[0].toUpperCase()}${name.slice(1)}`] ?? this.special[name];
    }
  }

  get isPending() {
    return this.total.type === "pending";
  }
}
