// The sheet's script, for browsers without Apple Pay of their own.

const APPLE_SCRIPT = "https://applepay.cdn-apple.com/jsapi/1.latest/apple-pay-sdk.js";

const load = (src, crossOrigin = null) =>
  new Promise((resolve, reject) => {
    const script = Object.assign(document.createElement("script"), { src, crossOrigin });
    script.onload = resolve;
    script.onerror = () => {
      script.remove();
      reject(Object.assign(new Error(`${src} could not be loaded.`), { code: "script_not_loaded" }));
    };
    document.head.append(script);
  });

/** Apple's is of the address that the page names, or the newest. */
export const loadSession = ({ environment, simulatedSession }, appleScript) =>
  environment === "simulated"
    ? load(simulatedSession)
    : load(appleScript === true ? APPLE_SCRIPT : appleScript, "anonymous");
