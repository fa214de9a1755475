import type { DefineComponent, Ref } from "vue";
import type { TenderApplePayElement } from "./kit/tender.js";
import type { TenderApplePayProperties } from "./properties.js";

export type { TenderApplePayElement } from "./kit/tender.js";
export type TenderApplePayProps = TenderApplePayProperties;

/** Handlers are written `@authorized="…"`. Of a template ref `element` is the element. */
export declare const TenderApplePay: DefineComponent<
  TenderApplePayProps,
  { element: Ref<TenderApplePayElement | null> }
>;
