import { isSecureDocument } from "./frames.js";
import { invalidAccess, refusal } from "./web-idl.js";

// The simulated browser and device, and what such a browser requires of a page that uses Apple Pay.

/**
 * Changed by `applePaySandbox.setDevice`, or, before any script of the page runs, by an object of the same members in
 * `window.applePaySandboxDevice`.
 */
export const simulated = {
  /** The newest version of the API that it knows. */
  newestVersion: 15,
  /** False on a device without Apple Pay. */
  canMakePayments: true,
  /** Ids of the cards in its wallet; nothing stands for all that the sandbox has. */
  cards: undefined,
  /** A browser that is not Safari, with Apple's script, which never knows what is in the phone. */
  isThirdPartyBrowser: false,
  /** False lets a session begin outside of a click, for test tools whose clicks no browser trusts. */
  requiresGesture: true,
  ...window.applePaySandboxDevice,
};

export const simulate = (changes) => {
  for (const name of Object.keys(changes)) {
    if (!(name in simulated))
      throw new TypeError(`A device has no "${name}". It has: ${Object.keys(simulated).join(", ")}.`);
  }
  Object.assign(simulated, changes);
};

// WebKit forwards a gesture from the handler of a click to its microtasks, to timers and animation frames within one
// second, and since late 2025 to what awaits a fetch within ten. Older engines forward less, so the sandbox accepts only
// the handler's own task, which every engine does. `userActivation` lasts for seconds and says nothing of this.
let isInHandler = false;
let lastGesture = -Infinity;

const enterHandler = (event) => {
  if (!event.isTrusted) return;
  isInHandler = true;
  lastGesture = performance.now();
  setTimeout(() => {
    isInHandler = false;
  });
};

for (const type of ["pointerdown", "pointerup", "mousedown", "mouseup", "touchend", "click", "keydown", "keyup"]) {
  window.addEventListener(type, enterHandler, { capture: true, passive: true });
}

export const isInGesture = () =>
  !simulated.requiresGesture || (isInHandler && navigator.userActivation?.isActive !== false);

export const requireGesture = (message) => {
  if (isInGesture()) return;
  const late = Math.round(performance.now() - lastGesture);
  if (late < 10_000) {
    console.error(
      `Simulated Apple Pay: this came ${late} ms after the shopper's click, in another task. The sandbox allows it only`
        + " in the click's own handler. WebKit also allows a timer within a second, and in new versions a fetch; older"
        + " versions of Safari refuse the fetch. Fetch what you need before the click.",
    );
  }
  throw invalidAccess(message);
};

const START = "Trying to start an Apple Pay session from";

// Of a document that is gone, the browser cannot tell it any more.
const policy = document.permissionsPolicy ?? document.featurePolicy;
const isAllowedInFrame = window === window.top || policy?.allowsFeature("payment") !== false;

/** Why this page may not use Apple Pay at all, as the exception's name and message; nothing when it may. WebKit's order. */
export const whyNoPage = () => {
  if (!isAllowedInFrame) {
    const message =
      "Third-party iframes are not allowed to request payments unless explicitly allowed via Feature-Policy (payment)";
    return ["SecurityError", message];
  }
  if (!document.defaultView) return ["InvalidAccessError", `${START} an inactive document.`];
  if (!isSecureDocument()) return ["InvalidAccessError", `${START} an insecure document.`];
  if (!window.isSecureContext) return ["InvalidAccessError", `${START} a document with an insecure parent frame.`];
  return undefined;
};

export const requirePage = () => {
  const reason = whyNoPage();
  if (reason) throw refusal(...reason);
};

/** Payment Request says the same with an exception of its own. */
export const requirePageOfRequest = () => {
  const reason = whyNoPage();
  if (reason) throw refusal("SecurityError", reason[1]);
};
