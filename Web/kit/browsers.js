// For browsers without Apple Pay, or with an older one.

const APPLE_SCRIPT = "https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js";

let policy;

const trusted = (src) => {
  try {
    policy ??= window.trustedTypes?.createPolicy("tender", { createScriptURL: (url) => url });
    return policy?.createScriptURL(src) ?? src;
  } catch {
    throw Object.assign(new Error("The page's policy has to allow trusted-types tender."), {
      code: "script_not_trusted",
    });
  }
};

const load = async (address, crossOrigin = null) => {
  const src = trusted(address);
  return new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src, crossOrigin });
    script.onload = resolve;
    script.onerror = () => {
      script.remove();
      reject(Object.assign(new Error(`${address} could not be loaded.`), { code: "script_not_loaded", status: 0 }));
    };
    document.head.append(script);
  });
};

/** Apple's newest, unless the page names another. */
export const loadSession = ({ environment, simulatedSession }, appleScript) =>
  environment === "simulated"
    ? load(simulatedSession)
    : load(appleScript === true ? APPLE_SCRIPT : appleScript, "anonymous");

/** The basket for this version. What the shopper agrees to is not left out; then there is no sheet. */
export const fit = (basket, applePayVersion) => {
  const request = { ...basket.request };
  if (applePayVersion < 12) {
    for (const name of ["supportsCouponCode", "couponCode", "shippingContactEditingMode"]) delete request[name];
    request.shippingMethods = request.shippingMethods?.map(({ dateComponentsRange, ...method }) => method);
  }
  request.supportedNetworks = request.supportedNetworks.filter(
    (name) => basket.networkVersions[name] <= applePayVersion,
  );
  if (!request.supportedNetworks[0] || /PaymentRequest|TokenContexts/.test(Object.keys(request))) {
    throw Object.assign(new Error(), { code: "version_too_old" });
  }
  return { ...basket, applePayVersion, request };
};
