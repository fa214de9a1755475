import type { TenderApplePayEventMap } from "./kit/tender.js";

type Handler<Name extends keyof TenderApplePayEventMap> = (event: TenderApplePayEventMap[Name]) => void;

/** The properties of the components for React and Vue. */
export interface TenderApplePayProperties {
  /** Tender's origin, `https://pay.example.com`. */
  server: string;
  /** The basket's id. Another one begins another checkout. */
  basket?: string;
  /** Apple's name of the button's kind, `buy` by default. */
  type?: string;
  /** `black` by default, `white`, `white-outline`. */
  buttonStyle?: string;
  /** Of the button's words; by default the page's language. */
  locale?: string;
  /** As `appleScript` of `CheckoutOptions`. */
  appleScript?: boolean | string;
  /** As `topOrigin` of `CheckoutOptions`. */
  topOrigin?: string;
  onReady?: Handler<"tender:ready">;
  /** The shopper pressed the button. If the handler prevents the default, no sheet opens. */
  onPressed?: Handler<"tender:pressed">;
  /** Also when the component has gone while its sheet was open; so are `onFailed` and `onCancelled`. */
  onAuthorized?: Handler<"tender:authorized">;
  onFailed?: Handler<"tender:failed">;
  onCancelled?: Handler<"tender:cancelled">;
  onUnavailable?: Handler<"tender:unavailable">;
  /** The kit could not be loaded from the server: there is no button. */
  onLoadError?: (error: unknown) => void;
}
