/** One reason why Apple Pay is not available: a stable code and a sentence for the developer. */
export interface Reason {
  code: string;
  detail: string;
}

export interface CheckoutOptions {
  /** Tender's origin; by default the origin this module was loaded from. */
  server?: string;
  /** The basket's id, as the shop's server was given it. */
  basket?: string;
}

/** What the order is for, before the sheet opens. */
export interface Details {
  serviceType: "delivery" | "collection" | "shipping";
  /** ISO 8601. */
  requestedFor?: string;
  note?: string;
  customer?: string;
}

export interface Authorized {
  orderId: string;
  paymentId: string;
  status: "authorized" | "captured" | "partially_captured" | "pending";
  guestToken?: string;
  /** `amount` is decimal text in `currency`. */
  receipt: {
    amount: string;
    currency: string;
    merchantReference: string;
  };
  /** The card as the sheet showed it, "Visa 0492": to show, not to rely on. */
  card?: string;
}

/** A payment that did not come to be, or (`outcome_unknown`) of which that is not known yet. */
export interface Failed {
  code: string;
  detail: string;
}

export interface Unavailable {
  /** The one to see to first at the front. */
  reasons: Reason[];
}

export interface CheckoutEventMap {
  authorized: CustomEvent<Authorized>;
  failed: CustomEvent<Failed>;
  cancelled: CustomEvent<Record<string, never>>;
  unavailable: CustomEvent<Unavailable>;
}

/** What `GET /applepay/metadata` tells of the page's domain. */
export interface Metadata {
  enabled: boolean;
  environment: "simulated" | "apple-sandbox" | "production";
  merchantIdentifier: string;
  displayName: string;
  countryCode: string;
  currencyCode: string;
  supportedNetworks: string[];
  merchantCapabilities: string[];
  touchIcons: { href: string; sizes?: string }[];
  apiVersion: number;
  simulatedSession?: string;
}

/** Whether this device and browser can show a sheet. In `simulated`, true once a checkout was prepared. */
export function isSupportedByDevice(): boolean;

/** Whether a checkout can be made here, with this server and, if one is named, this basket. */
export function isSupportedForCheckout(options?: CheckoutOptions): Promise<boolean>;

/** Every reason why not, the one to see to first at the front. Empty when Apple Pay is available. */
export function explainAvailability(options?: CheckoutOptions): Promise<Reason[]>;

/** One basket's way through the sheet. */
export class TenderCheckout extends EventTarget {
  constructor(options?: CheckoutOptions);
  readonly server: string;
  readonly basket?: string;
  readonly metadata?: Metadata;
  /** Whether `begin` may be called. */
  readonly isReady: boolean;
  /**
   * Fetches all that the sheet needs. Resolves to whether `begin` may be called; if not, tells `unavailable`.
   * Prepare again before the basket's sheet is opened a second time.
   */
  prepare(): Promise<boolean>;
  /** The reasons against a checkout, fetching on the way what `begin` needs. */
  examine(): Promise<Reason[]>;
  /** Changes what the order is for before the sheet opens. */
  setDetails(details: Details): Promise<void>;
  /** Opens the sheet. Call it in the shopper's click, and await nothing before. */
  begin(): void;
  addEventListener<Type extends keyof CheckoutEventMap>(
    type: Type,
    listener: (event: CheckoutEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/** `<tender-apple-pay basket server type button-style>`. */
export interface TenderApplePayElement extends HTMLElement {
  /** Resolves when the checkout of the present basket is prepared, to whether it is available. */
  readonly prepared: Promise<boolean>;
}

export interface TenderApplePayEventMap {
  "tender:authorized": CustomEvent<Authorized>;
  "tender:failed": CustomEvent<Failed>;
  "tender:cancelled": CustomEvent<Record<string, never>>;
  "tender:unavailable": CustomEvent<Unavailable>;
}

declare global {
  interface HTMLElementTagNameMap {
    "tender-apple-pay": TenderApplePayElement;
  }
  interface HTMLElementEventMap extends TenderApplePayEventMap {}
}
