import { setupConfiguration } from "./dictionaries.js";
import { isInGesture, requirePage, simulated } from "./simulated-device.js";
import { advise, invalidAccess, listOf, requireArguments, typeError } from "./web-idl.js";

// `ApplePaySetup`, by which Apple's own stores offer a card. It is here so that a page that looks for it finds what WebKit has:
// calls are checked, and nothing can be set up.

export class ApplePaySetupFeature {
  constructor() {
    throw new TypeError("Illegal constructor");
  }
}

const setupFeatures = listOf((value) => {
  if (!(value instanceof ApplePaySetupFeature)) throw typeError();
  return value;
});

export class ApplePaySetup {
  constructor(configuration) {
    requireArguments(arguments, 1);
    setupConfiguration(configuration, simulated.newestVersion);
  }

  async getSetupFeatures() {
    requirePage();
    advise("ApplePaySetup is without effect in the sandbox: it has no features.");
    return [];
  }

  async begin(features) {
    requireArguments(arguments, 1);
    setupFeatures(features);
    requirePage();
    if (!isInGesture()) throw invalidAccess("Must call ApplePaySetup.begin from a user gesture handler.");
    advise("ApplePaySetup is without effect in the sandbox: nothing was set up.");
    return false;
  }
}
