import type { ForwardRefExoticComponent, HTMLAttributes, RefAttributes } from "react";
import type { TenderApplePayElement } from "./kit/tender.js";
import type { TenderApplePayProperties } from "./properties.js";

export type { TenderApplePayElement } from "./kit/tender.js";

/** Its element's attributes `id`, `className`, `style` and the like go to the element. */
export type TenderApplePayProps = TenderApplePayProperties
  & Omit<HTMLAttributes<HTMLElement>, keyof TenderApplePayProperties>;

/** The ref is the element: `ref.current.checkout` is the checkout of the present basket. */
export declare const TenderApplePay: ForwardRefExoticComponent<
  TenderApplePayProps & RefAttributes<TenderApplePayElement>
>;
