// Types for `import { TenderCheckout } from "https://pay.example.com/applepay/tender.js"`, whatever the host and version.
// In one file of yours: /// <reference types="tender-web-kit/by-url" />

declare module "*/tender.js" {
  export * from "tender-web-kit/kit/tender.js";
}
