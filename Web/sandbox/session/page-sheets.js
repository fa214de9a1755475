import { hasOwnSheet } from "./latest-sheet.js";

// One sheet for the page, whichever of its frames opened it. A frame tells the others what it opens and closes, because
// frames of other origins can exchange nothing but messages: they know it one task later.

const KEY = "applePaySandboxSheet";
const sheetsOfOthers = new Set(); // windows

/** Whether a sheet is open in this page or in a frame of it. */
export const hasOpenSheet = () => hasOwnSheet() || [...sheetsOfOthers].some((other) => !other.closed);

/** Tells the page's other frames that this one's sheet is open, or closed. */
export const tellOtherFrames = (isOpen) => {
  for (const other of windowsOf(window.top)) if (other !== window) other.postMessage({ [KEY]: isOpen }, "*");
};

// A frame that was taken out of its page has no top.
const windowsOf = (top) =>
  top ? [top, ...Array.from({ length: top.length }, (_, index) => windowsOf(top[index])).flat()] : [];

window.addEventListener("message", ({ data, source }) => {
  if (typeof data?.[KEY] !== "boolean" || source === window) return;
  if (data[KEY]) sheetsOfOthers.add(source);
  else sheetsOfOthers.delete(source);
});
