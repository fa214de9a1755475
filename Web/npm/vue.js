// <TenderApplePay> for Vue 3: the custom element of the kit, which the browser loads from the Tender server.

import { defineComponent, h, onBeforeUnmount, onMounted, ref } from "vue";
import { loadTender } from "./index.js";
import { attributesOf, listen } from "./listen.js";

// As properties, not as events: Vue emits none for a component that is gone, and its sheet may be open.
const handler = { type: [Function, Array], default: undefined };

export const TenderApplePay = defineComponent({
  name: "TenderApplePay",
  props: {
    server: { type: String, required: true },
    basket: { type: String, default: undefined },
    type: { type: String, default: undefined },
    buttonStyle: { type: String, default: undefined },
    locale: { type: String, default: undefined },
    appleScript: { type: [Boolean, String], default: undefined },
    topOrigin: { type: String, default: undefined },
    onReady: handler,
    onPressed: handler,
    onAuthorized: handler,
    onFailed: handler,
    onCancelled: handler,
    onUnavailable: handler,
    onLoadError: handler,
  },
  setup(props, { expose }) {
    const element = ref(null);
    const report = (name, given) => {
      const wanted = props[`on${name[0].toUpperCase()}${name.slice(1)}`] ?? [];
      for (const one of [wanted].flat()) one(given);
    };
    let stop;
    onMounted(() => {
      stop = listen(element.value, report);
      loadTender(props.server).catch((error) => report("loadError", error));
    });
    onBeforeUnmount(() => stop());
    expose({ element });
    return () => h("tender-apple-pay", { ...attributesOf(props), ref: element });
  },
});
