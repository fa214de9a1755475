// The page's latest sheet, and who wants to know when anything changes in one.

const watchers = new Set();
let latest;

export const latestPresentation = () => latest;
export const hasOpenSheet = () => latest !== undefined && !latest.isOver;

export const becomeLatest = (presentation) => {
  latest = presentation;
};

/** Calls at every change, until the function that is returned was called. */
export const watch = (watcher) => {
  watchers.add(watcher);
  return () => watchers.delete(watcher);
};

export const tellWatchers = () => {
  for (const watcher of watchers) watcher();
};
