import { topHost } from "./frames.js";
import { simulated } from "./simulated-device.js";

/** The sandbox that this script came from. */
export const address = new URL(document.currentScript.src);

const CALL_WITHIN = 30_000;

/** Whatever a page makes of `toJSON`. */
function plain(key) {
  return this[key];
}

const ask = async (path, body) => {
  const response = await fetch(new URL(path, address.origin), {
    method: body ? "POST" : "GET",
    headers: body ? { "Content-Type": "application/json" } : {},
    body: body && JSON.stringify(body, plain),
    signal: AbortSignal.timeout(CALL_WITHIN),
  });
  if (response.status === 204) return undefined;
  if (response.ok) return response.json();
  const problem = await response.json().catch(() => ({}));
  const refusal = new Error(problem.message ?? `The sandbox answered ${response.status} to ${path}.`);
  throw Object.assign(refusal, { code: problem.code });
};

const ownContacts = []; // what a test added

/** The simulated wallet: the sandbox's cards and contacts, and its Secure Element. */
export const wallet = {
  async cards() {
    const cards = await ask("device/cards");
    return simulated.cards ? cards.filter(({ id }) => simulated.cards.includes(id)) : cards;
  },
  async contacts() {
    return [...ownContacts, ...(await ask("device/contacts"))];
  },
  addContact(contact) {
    const index = ownContacts.findIndex(({ id }) => id === contact.id);
    ownContacts.splice(index < 0 ? ownContacts.length : index, index < 0 ? 0 : 1, contact);
  },
  /** Where merchants are validated, and whether phones on the network reach the sandbox. */
  async gateway() {
    const { gatewayURL, servesPhones } = await ask("sandbox/ca.json");
    return { validationURL: new URL("/paymentservices/paymentSession", gatewayURL).href, servesPhones };
  },
  /** By the domain of this frame, not of the page around it. */
  merchant: (identifier) => ask(`device/merchants/${encodeURIComponent(identifier)}`),
  checkSession: (merchantSession) => ask("device/sessions/check", { merchantSession, topHost: topHost() }),
  issuePaymentToken: (order) => ask("device/tokens", { ...order, topHost: topHost() }),
  // Phones and watches in other windows.
  devices: () => ask("device/paired"),
  askDevice: (device, payment) => ask("device/confirmations", { device, payment }),
  confirmation: (id) => ask(`device/confirmations/${id}`),
  withdraw: (id) => ask(`device/confirmations/${id}/withdraw`, {}),
  // A phone that scans the sheet's code.
  openSheet: (state) => ask("device/sheets", { state }),
  exchange: (sheet, state, received) => ask(`device/sheets/${sheet}`, { state, received }),
  closeSheet: (sheet, state) => ask(`device/sheets/${sheet}/close`, { state }),
  /** Pairs as a phone that scanned the code: for tests, which have no camera. */
  pairPhone: (code) => ask("device/sheets/pair", { code }),
};
