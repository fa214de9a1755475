// What the components for React and Vue share.

const TYPES = ["ready", "pressed", "authorized", "failed", "cancelled", "unavailable"];
const followed = new WeakSet();

/** The element's attributes, of a component's properties. */
export const attributesOf = ({ basket, type, buttonStyle, locale, appleScript, topOrigin }) => ({
  basket,
  type,
  "button-style": buttonStyle,
  locale,
  "apple-script": appleScript === true ? "" : appleScript || undefined,
  "top-origin": topOrigin,
});

/**
 * Reports the element's events, and those of a payment whose sheet is open when the element goes.
 *
 * @returns what ends it.
 */
export const listen = (element, report) => {
  const hear = (event) => {
    report(event.type.slice("tender:".length), event);
    follow(element, report);
  };
  for (const type of TYPES) element.addEventListener(`tender:${type}`, hear);
  return () => TYPES.forEach((type) => element.removeEventListener(`tender:${type}`, hear));
};

const follow = (element, report) => {
  const { checkout } = element;
  if (!checkout || followed.has(checkout)) return;
  followed.add(checkout);
  for (const type of ["authorized", "failed", "cancelled"]) {
    checkout.addEventListener(type, (event) => element.isConnected || report(type, event));
  }
};
