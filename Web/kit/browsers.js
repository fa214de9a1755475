// For browsers without Apple Pay, or with an older one.

const failure = (code, message, status) => Object.assign(new Error(message), { code, status });

let policy;

const trusted = (src) => {
  try {
    policy ??= window.trustedTypes?.createPolicy("tender", { createScriptURL: (url) => url });
    return policy?.createScriptURL(src) ?? src;
  } catch {
    throw failure("script_not_trusted", "The page's policy has to allow trusted-types tender.");
  }
};

const load = async (address, crossOrigin = null) => {
  const src = trusted(address);
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src, crossOrigin });
    script.onload = resolve;
    script.onerror = () => {
      script.remove();
      reject(failure("script_not_loaded", `${address} could not be loaded.`, 0));
    };
    document.head.append(script);
  });
};

/** Apple's newest, unless the page names another. */
export const loadSession = ({ environment, simulatedSession }, appleScript) =>
  environment === "simulated"
    ? load(simulatedSession)
    : load(
        appleScript === true ? "https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js" : appleScript,
        "anonymous",
      );

/** What the shopper agrees to is not left out; then there is no sheet. */
export const fit = (basket, applePayVersion) => {
  const { request, networkVersions } = basket;
  const supportedNetworks = request.supportedNetworks.filter((name) => networkVersions[name] <= applePayVersion);
  if (!supportedNetworks[0] || /PaymentRequest|TokenContexts/.test(Object.keys(request))) {
    throw failure("version_too_old");
  }
  return { ...basket, applePayVersion, request: { ...request, supportedNetworks } };
};

/** In the order in which to see to them; "" stands for the server's own. */
const SENTENCES = {
  insecure_page: "Apple Pay needs https; on localhost a plain page will do.",
  payment_not_permitted:
    window !== top
      ? 'The page around this frame has to write <iframe allow="payment">.'
      : "The page's Permissions-Policy does not allow payments.",
  origin_not_registered: "Apple Pay is not available here.",
  top_origin_not_registered: "Apple Pay is not available here.",
  top_origin_unknown: "Apple Pay is not available here.",
  "": "",
  disabled: "",
  simulated_session: "The simulated Apple Pay is on a page that takes real money. Remove its script.",
  no_apple_pay:
    "Apple Pay is off in web views of apps that inject scripts. Use SFSafariViewController, or the app kit.",
  version_too_old: "This browser's Apple Pay is too old for this page or its basket.",
  device_cannot_pay: "This device cannot pay with Apple Pay, or is not allowed to.",
  no_active_card: "The shopper has no card in Apple Pay, and can add one; or the domain is not verified.",
};

const place = ({ code }) => Object.keys(SENTENCES).indexOf(code in SENTENCES ? code : "");

export const explain = (reasons) =>
  reasons
    .map(({ code, detail }) => ({ code, detail: detail || SENTENCES[code] || code }))
    .sort((one, other) => place(one) - place(other));
