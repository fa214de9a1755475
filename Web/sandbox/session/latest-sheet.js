// This window's latest sheet, and the functions to call at every change of a sheet.

const watchers = new Set();
let latest;

export const latestPresentation = () => latest;

export const becomeLatest = (presentation) => {
  latest = presentation;
};

/** Calls `watcher` at every change until the returned function is called. */
export const watch = (watcher) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const notifyWatchers = () => {
  for (const watcher of watchers) watcher();
};
