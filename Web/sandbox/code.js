// The window in which a browser that is not Safari shows the code of a payment: what the sheet's script says, and a way out.
"use strict";

const SVG = "http://www.w3.org/2000/svg";

const part = (id) => document.getElementById(id);

const write = (id, text = "") => {
  if (part(id).textContent !== text) part(id).textContent = text;
};

const drawing = (name, attributes, ...children) => {
  const made = document.createElementNS(SVG, name);
  for (const [attribute, value] of Object.entries(attributes)) made.setAttribute(attribute, value);
  made.append(...children);
  return made;
};

let drawn;

const draw = (code) => {
  if (drawn === code?.url) return;
  drawn = code?.url;
  if (!code) {
    part("code").replaceChildren();
    return;
  }
  const { url, side, path } = code;
  const picture = drawing(
    "svg",
    {
      viewBox: `0 0 ${side} ${side}`,
      role: "img",
      "aria-label": "QR code for a phone",
      "shape-rendering": "crispEdges",
    },
    drawing("path", { fill: "#fff", d: `M0 0h${side}v${side}H0z` }),
    drawing("path", { fill: "#000", d: path }),
  );
  const link = Object.assign(document.createElement("a"), { href: url, target: "_blank", rel: "noopener" });
  link.append(picture);
  part("code").replaceChildren(link);
};

window.addEventListener("message", ({ source, data }) => {
  if (source !== window.opener || !data?.applePayCode) return;
  const { merchant, total, code, words } = data.applePayCode;
  write("merchant", merchant);
  write("amount", total);
  draw(code);
  if (words) write("status", words);
});

// The page that opened the window looks whether it is still there.
part("close").addEventListener("click", () => window.close());
window.addEventListener("keydown", ({ key }) => key === "Escape" && window.close());
