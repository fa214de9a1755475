// <TenderApplePay> for React 17 and later: the custom element of the kit, which the browser loads from the Tender server.

import { createElement, forwardRef, useEffect, useImperativeHandle, useLayoutEffect, useRef } from "react";
import { loadTender } from "./index.js";
import { attributesOf, listen } from "./listen.js";

// Before React takes the element out of the page. On a server neither effect runs, but React warns of this one.
const useElementEffect = typeof document === "undefined" ? useEffect : useLayoutEffect;

export const TenderApplePay = forwardRef((properties, ref) => {
  const { server, basket, type, buttonStyle, locale, appleScript, topOrigin, ...rest } = properties;
  const { onReady, onPressed, onAuthorized, onFailed, onCancelled, onUnavailable, onLoadError, ...attributes } = rest;
  const element = useRef(null);
  const handlers = useRef({});
  useImperativeHandle(ref, () => element.current);
  useElementEffect(() => {
    handlers.current = {
      ready: onReady,
      pressed: onPressed,
      authorized: onAuthorized,
      failed: onFailed,
      cancelled: onCancelled,
      unavailable: onUnavailable,
      loadError: onLoadError,
    };
  });
  useElementEffect(() => listen(element.current, (name, event) => handlers.current[name]?.(event)), []);
  useEffect(() => {
    loadTender(server).catch((error) => handlers.current.loadError?.(error));
  }, [server]);
  const own = attributesOf({ basket, type, buttonStyle, locale, appleScript, topOrigin });
  return createElement("tender-apple-pay", { ...attributes, ...own, ref: element, suppressHydrationWarning: true });
});
TenderApplePay.displayName = "TenderApplePay";
