// Tender's web kit: why there is no button, in sentences for the developer. Loaded when there is none, or when a page
// asks for the reasons.

const SENTENCES = {
  insecure_page: "Apple Pay needs https; only on localhost a plain page will do.",
  payment_not_permitted: "The page's permissions do not let it take payments. See its Permissions-Policy header.",
  disabled: "This shop does not accept Apple Pay here: the merchant has no identity certificate on the server.",
  simulated_session: "The simulated Apple Pay is on a page whose server takes real money. Take its script away.",
  script_not_loaded: "Apple's script did not load. Look for the Content-Security-Policy, and for blockers.",
  no_apple_pay: "This browser has no Apple Pay of its own, and the page does not ask for Apple's script.",
  version_too_old: "This browser's Apple Pay is older than version 14, that is, than iOS 16 and macOS 13.",
  device_cannot_pay: "This device cannot pay with Apple Pay, or is not allowed to.",
  no_active_card: "The shopper has no card in Apple Pay yet, and can add one.",
};

const IN_A_FRAME = "The page is in a frame that may not take payments. The page around it has to write "
  + '<iframe allow="payment">, and its own Permissions-Policy must not forbid it.';
const IN_A_WEB_VIEW = "This is an app's web view that injects scripts, and Apple switches Apple Pay off there. Open the "
  + "page in SFSafariViewController, or use the app kit.";

const sentence = (code) => {
  if (code === "payment_not_permitted" && window !== window.top) return IN_A_FRAME;
  if (code === "no_apple_pay" && window.webkit?.messageHandlers) return IN_A_WEB_VIEW;
  return SENTENCES[code] ?? code;
};

/** The reasons, in the order in which to see to them, each with its sentence. */
export const explain = (reasons) => {
  const order = Object.keys(SENTENCES);
  const place = ({ code }) => (order.includes(code) ? order.indexOf(code) : 2.5); // the server's after the page's own
  return reasons
    .map(({ code, detail }) => ({ code, detail: detail || sentence(code) }))
    .sort((one, other) => place(one) - place(other));
};
