// This window's latest sheet, and the functions to call at every change of a sheet.

const watchers = new Set();
let latest;

export const latestPresentation = () => latest;

export const becomeLatest = (presentation) => {
  latest = presentation;
  keepForNextPage(null);
};

// A page may go to another as soon as it has completed the payment: a test finds there how the sheet ended.
const KEPT = "applePaySandboxLastSheet";

export const keepForNextPage = (snapshot) => {
  try {
    if (snapshot) sessionStorage.setItem(KEPT, JSON.stringify(snapshot));
    else sessionStorage.removeItem(KEPT);
  } catch {
    // A frame without an origin has no storage.
  }
};

/** Calls `watcher` at every change until the returned function is called. */
export const watch = (watcher) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const notifyWatchers = () => {
  for (const watcher of watchers) watcher();
};
