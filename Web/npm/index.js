// Loads the kit from the Tender server, so that both are always of one version. Importing this file touches nothing of a
// browser, so a server that renders pages may import it too.

/** @param server Tender's origin, `https://pay.example.com`. A second call returns the same module. */
export const loadTender = async (server) =>
  import(/* webpackIgnore: true */ /* @vite-ignore */ new URL("/applepay/tender.js", server).href);
