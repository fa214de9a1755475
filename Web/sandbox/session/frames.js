// This window among the frames of its page.

// A frame that was taken out of its page has no parent.
const windowsAround = (inner = window) =>
  inner.parent && inner.parent !== inner ? [inner.parent, ...windowsAround(inner.parent)] : [];

const hostOf = (origin) => URL.parse(origin)?.hostname ?? "";

/**
 * The host of the page in the address bar, which the merchant session has to name: WebKit opens the sheet with the main
 * frame's address (webkit.org/b/259667). Undefined where the browser keeps it from a frame of another origin.
 */
export const topHost = () => {
  if (window === window.top) return location.hostname;
  if (location.ancestorOrigins) return hostOf([...location.ancestorOrigins].at(-1));
  return isReachable(window.top) ? window.top.location.hostname : undefined;
};

const isReachable = (other) => {
  try {
    return Boolean(other.document);
  } catch {
    return false;
  }
};

const isLoopback = (host) =>
  host === "localhost" || host.endsWith(".localhost") || host === "[::1]" || /^127(\.[0-9]+){3}$/.test(host);

/** Whether this document came by HTTPS or, in the sandbox alone, from this machine: one without an address did not. */
export const isSecureDocument = () =>
  location.protocol === "https:"
  || (location.protocol === "http:" && (window.isSecureContext || isLoopback(location.hostname)));

/** What the device shows as the site's picture: WebKit collects them in the head of the frame's document. */
export const touchIcons = () =>
  [...document.head.querySelectorAll("link[href]")]
    .filter(({ relList }) => ["apple-touch-icon", "apple-touch-icon-precomposed"].some((one) => relList.contains(one)))
    .map(({ href }) => href);

/** Calls `stop` when this document goes for good, while a page around it stays that can hold its promises. */
export const whenFrameGoes = (stop) => {
  const staying = new Set(windowsAround().filter(isReachable));
  const over = new AbortController();
  for (const outer of staying) outer.addEventListener("pagehide", () => staying.delete(outer), over);
  const leave = ({ persisted }) => {
    over.abort();
    if (!persisted && staying.size > 0) stop();
  };
  window.addEventListener("pagehide", leave, { once: true });
};
