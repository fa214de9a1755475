import { element } from "./sheet-fields.js";

// One sheet for the page, whichever of its frames opened it. Windows of other origins see of one another which frames they
// hold, by name, so a window holds an empty frame while its sheet is open. A message would reach the page's own listeners.

const NAME = "applePaySandboxSheet";
let mark;

/** Whether a sheet is open in this page or in a frame of it. */
export const hasOpenSheet = () => windowsOf(window.top).some(isMarked);

/** Shows the page's other frames that this one's sheet is open. */
export const markSheet = () => {
  mark = element("iframe", { name: NAME, title: "", hidden: true, tabIndex: -1 });
  document.body.append(mark);
};

export const unmarkSheet = () => mark?.remove();

// A frame that was taken out of its page has no top.
const windowsOf = (top) =>
  top ? [top, ...Array.from({ length: top.length }, (_, index) => windowsOf(top[index])).flat()] : [];

const isMarked = (other) => {
  try {
    return other[NAME] !== undefined;
  } catch {
    return false; // of another origin, and without such a frame
  }
};
