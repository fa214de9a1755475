/**
 * One reason why Apple Pay is not available: a stable code and a sentence for the developer.
 *
 * The kit's own codes, in the order in which to see to them: `insecure_page`, `payment_not_permitted`,
 * `origin_not_registered`, `top_origin_not_registered` and `top_origin_unknown` (the remedy is in the console), `disabled`, `simulated_session`, `no_apple_pay`,
 * `version_too_old`, `device_cannot_pay`, `no_active_card`; and
 * `script_not_loaded`, `script_not_trusted`, `connection_lost`, `no_basket`, `not_prepared`. All others are the server's.
 */
export interface Reason {
  code: string;
  detail: string;
}

export interface CheckoutOptions {
  /** Tender's origin; by default the origin this module was loaded from. */
  server?: string;
  /** The basket's id, as the shop's server was given it. */
  basket?: string;
  /**
   * Whether to load Apple's script in browsers that have no Apple Pay of their own, so that the shopper can pay with an
   * iPhone: `true` for the newest, or the address of a certain release. Never loaded in `simulated`.
   */
  appleScript?: boolean | string;
  /**
   * For a page in a frame: the origin of the page in the address bar, where the browser does not tell it. The server
   * takes only the merchant's own domains.
   */
  topOrigin?: string;
}

/** What the order is for, before the sheet opens. */
export interface Details {
  serviceType: "delivery" | "collection" | "shipping" | "servicePickup" | "none";
  /** ISO 8601. */
  requestedFor?: string;
  note?: string;
  /** What the page knows of the address; only the delivery zone is kept. */
  contact?: {
    countryCode?: string;
    postalCode?: string;
    administrativeArea?: string;
    subAdministrativeArea?: string;
    locality?: string;
    subLocality?: string;
  };
}

/**
 * What may be offered: `buy` a button that pays, `set-up` one that lets the shopper add a card first, `hidden` nothing.
 * `unknown`: the basket has a payment, and its outcome is being asked for.
 */
export type CheckoutState = "preparing" | "buy" | "set-up" | "hidden" | "unknown";

export interface Ready {
  state: "buy" | "set-up";
  /** Whether the shopper is known to have a card in Apple Pay: it is then to be the page's first choice. */
  isDefaultMethod?: boolean;
}

export interface Authorized {
  orderId: string;
  paymentId: string;
  /** `pending`: the provider has the payment and answers later. `verified`: nothing was to be paid, and the card is good. The last two are reported when the page is visited again. */
  status: "authorized" | "captured" | "partially_captured" | "pending" | "verified" | "partially_refunded" | "refunded";
  guestToken?: string;
  /** Apple's, of the payment token: 64 lowercase hexadecimal digits. */
  transactionIdentifier?: string;
  /** The card as the sheet showed it, "Visa 0492", its network as Apple names it, and its kind: for display only. */
  card?: string;
  cardNetwork?: string;
  cardType?: "credit" | "debit" | "prepaid" | "store";
  /** Amounts are decimal text in `currency`. Dates are days, "2026-11-24", or moments, "2026-11-24T19:30:00Z". */
  receipt: {
    amount: string;
    currency: string;
    merchantReference: string;
    /** `amount` is what is held: the sheet showed a pending total. */
    estimated?: true;
    /** `pending`: as the sheet showed it, without its amount. */
    lines?: { label: string; amount: string; pending?: true }[];
    expectedDates?: { dispatch?: string; arrival?: string; collection?: string };
    orderURL?: string;
  };
}

/**
 * A payment that failed. With the code `outcome_unknown` the outcome is not known yet: the kit keeps asking for
 * five minutes, and reports `authorized` or another `failed` when it is known.
 */
export interface Failed {
  code: string;
  detail: string;
}

export interface Unavailable {
  /** The one to see to first at the front; never empty. */
  reasons: Reason[];
}

export interface CheckoutEventMap {
  ready: CustomEvent<Ready>;
  authorized: CustomEvent<Authorized>;
  failed: CustomEvent<Failed>;
  cancelled: CustomEvent<Record<string, never>>;
  unavailable: CustomEvent<Unavailable>;
}

/** The answer of `GET /applepay/metadata` for the page's domain. */
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

/** What `GET /applepay/basket/{id}` answers: the request that the sheet is opened with. */
export interface ShownBasket {
  basketId: string;
  quoteId: string;
  /** The newest version of Apple's API that the server and this browser know. */
  applePayVersion: number;
  /** The version of Apple's API with which each network came, by its name; without those that the server does not know. */
  networkVersions: Record<string, number>;
  /** The language tag of what shoppers read from the server. */
  locale?: string;
  /** What the kit checks of a shipping contact of these countries before it asks the server. */
  addressRules?: AddressRule[];
  /** Apple's `ApplePayPaymentRequest`, without what this version does not know. */
  request: {
    countryCode: string;
    currencyCode: string;
    total: LineItem;
    lineItems?: LineItem[];
    shippingMethods?: { identifier: string; label: string; detail: string; amount: string }[];
    shippingType?: "shipping" | "delivery" | "storePickup" | "servicePickup";
    couponCode?: string;
    [member: string]: unknown;
  };
}

/** Regular expressions, without regard to case, for the field `error.contactField` without its spaces and hyphens. */
export interface AddressRule {
  countryCode: string;
  /** For the contact of a payment. */
  whole: string;
  /** For what the sheet shows of a contact before. */
  shown?: string;
  /** For `ApplePayError`. */
  error: { code: string; contactField?: string; message: string };
}

export interface LineItem {
  label: string;
  /** Decimal text in the request's currency. */
  amount: string;
  type?: "final" | "pending";
}

/** Whether this device and browser can show a sheet. In `simulated`, true once a checkout was prepared. */
export function isSupportedByDevice(): boolean;

/** Whether a checkout can be made here, with this server and, if one is named, this basket. */
export function isSupportedForCheckout(options?: CheckoutOptions): Promise<boolean>;

/**
 * The reasons why not, the one to see to first at the front. Empty when Apple Pay is available. A device is examined only
 * for a merchant that takes Apple Pay, and a basket only on a device that has it.
 */
export function explainAvailability(options?: CheckoutOptions): Promise<Reason[]>;

/** The checkout of one basket. */
export class TenderCheckout extends EventTarget {
  constructor(options?: CheckoutOptions);
  readonly server: string;
  readonly basket?: string;
  readonly appleScript?: boolean | string;
  /** Of a page in a frame: the origin of the page in the address bar, or `null` where it is hidden. */
  readonly topOrigin?: string;
  readonly metadata?: Metadata;
  /** What the next sheet will be opened with: totals and items to show beside the button. */
  readonly shown?: ShownBasket;
  /** The quote that would be paid now; every choice in the sheet makes another. */
  readonly quoteId?: string;
  readonly state: CheckoutState;
  readonly isDefaultMethod?: boolean;
  /** Whether `begin` may be called. */
  readonly isReady: boolean;
  /** Whether `prepare` may succeed later, because the server did not answer. The element calls it again by itself. */
  readonly mayPass?: boolean;
  /**
   * Fetches all that the sheet needs. Resolves to whether `begin` may be called, and reports `ready` or `unavailable`.
   * Prepare again before the basket's sheet is opened a second time. Of a basket that has a payment already, after a
   * reload or the back button, it reports the outcome instead.
   */
  prepare(): Promise<boolean>;
  /** The reasons against a checkout, fetching on the way what `begin` needs. */
  examine(): Promise<Reason[]>;
  /** Changes what the order is for before the sheet opens. Rejects with the server's `code`. */
  setDetails(details: Details): Promise<void>;
  /** Opens the sheet. Call it in the shopper's click, and await nothing before. */
  begin(): void;
  /** Lets the shopper add a card. Call it in the click. Resolves to whether the checkout is ready then. */
  setUp(): Promise<boolean>;
  addEventListener<Type extends keyof CheckoutEventMap>(
    type: Type,
    listener: (event: CheckoutEventMap[Type]) => void,
    options?: boolean | AddEventListenerOptions,
  ): void;
  addEventListener(
    type: string,
    listener: EventListenerOrEventListenerObject | null,
    options?: boolean | AddEventListenerOptions,
  ): void;
}

/**
 * `<tender-apple-pay basket server type button-style locale apple-script top-origin>`.
 *
 * The attribute `state` is a `CheckoutState`, or `paid`. In the states `buy` and `set-up` there is a button.
 */
export interface TenderApplePayElement extends HTMLElement {
  /** Resolves when the checkout of the present basket is prepared, to whether it is available. */
  readonly prepared: Promise<boolean>;
  /** The checkout of the present basket. */
  readonly checkout: TenderCheckout;
}

/** `<tender-apple-pay-mark server apple-script top-origin>`: names Apple Pay in a list of methods, where it is available. */
export type TenderApplePayMarkElement = HTMLElement;

export interface TenderApplePayEventMap {
  "tender:ready": CustomEvent<Ready>;
  /** The shopper pressed the button. If the page prevents the default, no sheet opens. */
  "tender:pressed": CustomEvent<Record<string, never>>;
  "tender:authorized": CustomEvent<Authorized>;
  "tender:failed": CustomEvent<Failed>;
  "tender:cancelled": CustomEvent<Record<string, never>>;
  "tender:unavailable": CustomEvent<Unavailable>;
}

declare global {
  interface HTMLElementTagNameMap {
    "tender-apple-pay": TenderApplePayElement;
    "tender-apple-pay-mark": TenderApplePayMarkElement;
  }
  interface HTMLElementEventMap extends TenderApplePayEventMap {}
  // They bubble.
  interface DocumentEventMap extends TenderApplePayEventMap {}
  interface WindowEventMap extends TenderApplePayEventMap {}
}
