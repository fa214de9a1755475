export type {
  AddressRule,
  Authorized,
  CheckoutEventMap,
  CheckoutOptions,
  CheckoutState,
  Details,
  Failed,
  LineItem,
  Metadata,
  Ready,
  Reason,
  ShownBasket,
  TenderApplePayElement,
  TenderApplePayEventMap,
  TenderApplePayMarkElement,
  TenderCheckout,
  Unavailable,
} from "./kit/tender.js";

/**
 * Loads the kit that a Tender server serves, and defines its elements. A second call returns the same module.
 *
 * @param server Tender's origin, `https://pay.example.com`.
 * @returns the kit's module. Rejects with a `TypeError` when the server does not answer.
 */
export function loadTender(server: string): Promise<typeof import("./kit/tender.js")>;
