// Why there is no button.

const FRAMED = window !== window.top;
const IN_WEB_VIEW = window.webkit?.messageHandlers;

/** In the order in which to see to them; "" stands for the server's own. */
const SENTENCES = {
  insecure_page: "Apple Pay needs https; on localhost a plain page will do.",
  payment_not_permitted: FRAMED
    ? 'This frame may not take payments: the page around it has to write <iframe allow="payment">.'
    : "The page's Permissions-Policy does not allow payments.",
  origin_not_registered: "Apple Pay is not available here.",
  top_origin_not_registered: "Apple Pay is not available here.",
  top_origin_unknown: "Apple Pay is not available here.",
  "": "",
  disabled: "The merchant takes no Apple Pay here: it has no identity certificate on the server.",
  simulated_session: "The simulated Apple Pay is on a page that takes real money. Remove its script.",
  no_apple_pay: IN_WEB_VIEW
    ? "Apple Pay is off in web views of apps that inject scripts. Use SFSafariViewController, or the app kit."
    : "This browser has no Apple Pay, and the page does not ask for Apple's script.",
  version_too_old: "This browser's Apple Pay is too old for this page or its basket.",
  device_cannot_pay: "This device cannot pay with Apple Pay, or is not allowed to.",
  no_active_card: "The shopper has no card in Apple Pay, and can add one; or the domain is not verified.",
};

const ORDER = Object.keys(SENTENCES);
const place = ({ code }) => ORDER.indexOf(ORDER.includes(code) ? code : "");

export const explain = (reasons) =>
  reasons
    .map(({ code, detail }) => ({ code, detail: detail || SENTENCES[code] || code }))
    .sort((one, other) => place(one) - place(other));
