import { wallet } from "./wallet.js";
import { pause } from "./confirmation.js";
import { advise } from "./web-idl.js";

// A phone that operates this sheet: it scans the sheet's code, shows what the sheet says, and sends what the shopper chooses.

const EXCHANGE_EVERY = 400;

export class PhoneLink {
  #host;
  #sheet; // the sandbox's name for this sheet
  #received = 0;
  #isAsked = false;
  isPaired = false;
  code; // `{url, side, path}`: the drawing to scan

  /** @param host the payment sheet: `isOver`, `phoneState`, `actions`, `coded()` and `paired()` */
  constructor(host) {
    this.#host = host;
  }

  /** Asks the sandbox for a code, once, and follows the phone that scans it until the sheet is over. */
  async offer() {
    if (this.#isAsked || this.#host.isOver) return;
    this.#isAsked = true;
    const { sheet, ...code } = await wallet.openSheet(this.#host.phoneState);
    [this.#sheet, this.code] = [sheet, code];
    this.#host.coded();
    while (!this.#host.isOver) {
      await this.#exchange();
      await pause(EXCHANGE_EVERY);
    }
  }

  /** The code, for a test in place of a camera. */
  get text() {
    return this.code && new URL(this.code.url).searchParams.get("code");
  }

  async #exchange() {
    const nothing = { isPaired: this.isPaired, choices: [] };
    const { isPaired, choices } = await wallet
      .exchange(this.#sheet, this.#host.phoneState, this.#received)
      .catch(() => nothing);
    this.#received += choices.length;
    if (isPaired && !this.isPaired) {
      this.isPaired = true;
      this.#host.paired();
    }
    for (const choice of choices) await this.#choose(choice);
  }

  // A step that is not possible any more is not taken: the phone shows why with the sheet's next state.
  async #choose(choice) {
    const [name, value] = Object.entries(choice)[0] ?? [];
    const actions = this.#host.actions;
    try {
      const step = name === "approve" ? actions.pay : actions[name];
      step?.(value)?.catch((error) => advise(error.message));
    } catch (error) {
      advise(error.message);
    }
  }

  /** The phone shows this as the end. */
  close(state) {
    if (this.#sheet) wallet.closeSheet(this.#sheet, state).catch(() => {});
  }
}

/** The sheet as a phone shows it. */
export const phoneState = ({ choices, demands, sums, money, obstacle, errors, result }) => ({
  merchant: sums.total.label,
  total: money.of(sums.total),
  items: sums.items.map((item) => ({ label: item.label ?? "", amount: money.of(item) })),
  cards: (choices.cards ?? []).map(({ id, label, displayName, refusal }) => ({
    value: id,
    text: `${label} (${displayName})`,
    isRefused: refusal !== undefined,
  })),
  card: choices.card?.id ?? null,
  contacts: demands.asksContact ? (choices.contacts ?? []).map(({ id, label }) => ({ value: id, text: label })) : null,
  contact: choices.contact?.id ?? null,
  methods:
    choices.methods.length > 0
      ? choices.methods.map(({ identifier, label, amount }) => ({
          value: identifier,
          text: `${label}, ${money.of({ amount })}`,
          isRefused: false,
        }))
      : null,
  method: choices.method?.identifier ?? null,
  errors,
  obstacle: obstacle ?? null,
  result,
});
