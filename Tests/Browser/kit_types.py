"""The declarations of the kit and of the sandbox, and what there is: names, parameters, and the values that pages get
from a running shop."""

import pathlib
import re

from claims import claim
from declarations import Declarations
from merchantpage import BY_SCRIPT, merchant_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
KIT = (ROOT / "Web/kit/tender.d.ts").read_text(encoding="utf-8")
SANDBOX = (ROOT / "Web/sandbox/fixtures/apple-pay-sandbox.d.ts").read_text(encoding="utf-8")

# An object's methods with the number of their parameters, and what else it has, without what begins with an underscore.
SURFACE = """
    const surface = (object, ...hidden) => {
      const methods = {}, values = {};
      for (let at = object; at && ![Object, EventTarget, HTMLElement].some(({ prototype }) => at === prototype);
        at = Object.getPrototypeOf(at)) {
        for (const name of Object.getOwnPropertyNames(at).filter((name) => !["constructor", ...hidden].includes(name))) {
          if (typeof object[name] === "function") methods[name] = object[name].length;
          else values[name] = object[name];
        }
      }
      return { methods, values };
    };
    """
ELEMENTS_OWN = ["connectedCallback", "disconnectedCallback", "attributeChangedCallback"]
# A shopper who cancels, is declined, and pays; and a page that asks for what there is not.
SEEN = SURFACE + """
    const [server, own] = arguments;
    const kit = await import(`${server}/applepay/tender.js`);
    const button = document.querySelector("tender-apple-pay");
    const events = [];
    for (const type of ["ready", "pressed", "authorized", "failed", "cancelled", "unavailable"]) {
      document.addEventListener(`tender:${type}`, ({ detail }) => events.push({ type, detail }));
    }
    const reported = async (type) => {
      while (!events.some((event) => event.type === type)) await new Promise((resolve) => setTimeout(resolve, 20));
    };
    const open = async () => {
      while (button.getAttribute("state") !== "buy" || !await button.prepared || button.firstChild.ariaBusy === "true") {
        await new Promise((resolve) => setTimeout(resolve, 20));
      }
      button.firstChild.click();
    };
    applePaySandbox.setDevice({ requiresGesture: false });
    const { state } = button.checkout;
    await button.prepared;
    const checkout = surface(button.checkout);
    const element = surface(button, ...own);
    const elements = Object.fromEntries(["tender-apple-pay", "tender-apple-pay-mark"]
      .map((name) => [name, surface(document.createElement(name), ...own)]));
    const attributes = customElements.get("tender-apple-pay").observedAttributes;
    await open();
    await applePaySandbox.cancel();
    await reported("cancelled");
    await open();
    await applePaySandbox.decline();
    await reported("failed");
    await open();
    await applePaySandbox.approve();
    await reported("authorized");
    const lost = document.createElement("tender-apple-pay");
    lost.setAttribute("basket", "0".repeat(32));
    document.body.append(lost);
    await reported("unavailable");
    const functions = Object.fromEntries(Object.entries(kit).map(([name, value]) => [name, value.length]));
    const reasons = await kit.explainAvailability({ basket: "0".repeat(32) });
    return { functions, state, checkout, element, elements, attributes, events, reasons, };
    """


def errors(text, seen):
    """What is not as the declarations say."""
    try:
        kit = Declarations(text)
    except AssertionError as error:
        return [f"it cannot be read: {error}"]
    found = differences("the module", {**kit.functions, **{name: None for name in kit.classes}}, seen["functions"])
    for name, element in (("TenderCheckout", seen["checkout"]), ("TenderApplePayElement", seen["element"])):
        members = kit.shapes.get(name, {})
        methods = {key: member for key, member in members.items()
                   if member.parameters is not None and key not in ("constructor", "addEventListener")}
        found += differences(name, methods, element["methods"])
    found += kit.errors("TenderCheckout", seen["checkout"]["values"], "checkout")
    found += differences("the element", [name for name, member in kit.shapes["TenderApplePayElement"].items()
                                         if member.parameters is None], seen["element"]["values"])
    found += kit.errors("CheckoutState", seen["state"], "checkout.state")
    for event in seen["events"]:
        kind = kit.shapes["TenderApplePayEventMap"].get(f"tender:{event['type']}")
        found += kit.errors(kind.type[2][0], event["detail"], event["type"]) if kind \
            else [f"tender:{event['type']} is not declared"]
    seen_names = {f"tender:{event['type']}" for event in seen["events"]}
    found += [f"{name} is never reported" for name in set(kit.shapes["TenderApplePayEventMap"]) - seen_names]
    found += kit.errors(("list", ("name", "Reason", ())), seen["reasons"], "reasons")
    return found + listed(text, seen)


def listed(text, seen):
    """What the comments list: attributes, and reasons in their order."""
    shown = re.search(r"`<tender-apple-pay ([\w -]+)>`", text)
    found = differences("the comment on attributes", shown[1].split() if shown else [], seen["attributes"])
    known = re.findall(r"^  (\w+):", (ROOT / "Web/kit/browsers.js").read_text(encoding="utf-8"), re.MULTILINE)
    comment = re.findall(r"`(\w+)`", text[:text.index("and\n * `script_not_loaded`")])
    found += [f"{target} does not know the events" for target in ("HTMLElement", "Document", "Window")
              if f"interface {target}EventMap extends TenderApplePayEventMap {{}}" not in text]
    return found + ([] if comment == known else [f"the reasons are {known}, and the comment lists {comment}"])


def differences(where, declared, there):
    found = [f"{where} has no {name}" for name in declared if name not in there]
    found += [f"{where} has {name}, which is not declared" for name in there if name not in declared]
    if isinstance(declared, dict):
        found += [f"{where}.{name} takes {there[name]}, and {member.parameters} is declared"
                  for name, member in declared.items() if member and there.get(name, 0) > member.parameters]
    return found


# The declaration, its mutant, and a word of the expected error.
MUTANTS = [
    ("isSupportedByDevice(): boolean", "isSupportedOnDevice(): boolean", "isSupportedOnDevice"),
    ("  begin(): void;", "  open(): void;", "open"),
    ("  setDetails(details: Details)", "  setDetails()", "setDetails takes 1"),
    ("  readonly isReady: boolean;", "", "isReady"),
    ("  readonly shown?: ShownBasket;", "  readonly shown?: string;", "shown is no string"),
    ("  orderId: string;", "  orderId: number;", "orderId is no number"),
    ("    merchantReference: string;\n", "", "merchantReference is not declared"),
    ("  touchIcons: {", "  icons: {", "icons is missing"),
    ('environment: "simulated" |', "environment:", "none of its choices"),
    ('  "tender:cancelled": CustomEvent<Record<string, never>>;\n', "", "tender:cancelled is not declared"),
    ("  readonly prepared: Promise<boolean>;", "  readonly ready: Promise<boolean>;", "the element has no ready"),
    ("basket server type button-style", "basket server kind button-style", "kind"),
    ("`disabled`, ", "", "the reasons are"),
    ("  interface WindowEventMap extends TenderApplePayEventMap {}\n", "", "Window does not know"),
    ("export interface Failed {", "export interfase Failed {", "cannot be read"),
]


@claim(page=None, limit=240)
def the_declarations_of_the_kit_are_true(shopper):
    shopper.fill(fish=1)
    shopper.open("/basket")
    shopper.button()
    seen = shopper.script(SEEN, shopper.demo.server, ELEMENTS_OWN)
    shopper.browser_errors()
    found = errors(KIT, seen)
    assert not found, "; ".join(found)
    for right, wrong, word in MUTANTS:
        assert KIT.count(right) == 1, f"{right!r} stands {KIT.count(right)} times in the declarations"
        found = errors(KIT.replace(right, wrong), seen)
        assert any(word in error for error in found), f"no check notices {wrong!r}: {found}"


@claim(page=None)
def the_declarations_of_the_sandbox_are_true(shopper):
    with merchant_page(shopper):
        seen = shopper.script(f"""
            {BY_SCRIPT}
            {SURFACE}
            page.open({{ request: {{ supportsCouponCode: true, requiredShippingContactFields: ["postalAddress"],
              shippingMethods: [{{ label: "Bike", detail: "", identifier: "bike", amount: "1.00" }}] }},
              on: {{ couponcodechanged: (_, session) => session.completeCouponCodeChange(
                {{ ...page.update(), errors: [new ApplePayError("couponCodeInvalid")] }}) }} }});
            const refused = await applePaySandbox.enterCouponCode("NO");
            const closed = await applePaySandbox.cancel();
            const {{ sheet, device, clock, ...rest }} = surface(applePaySandbox).values;
            return {{ ...surface(applePaySandbox), states: [refused, closed], device, clock: surface(clock), rest,
              lists: {{ cards: await applePaySandbox.cards(), contacts: await applePaySandbox.contacts(),
                devices: await applePaySandbox.devices() }} }};""")
    types = Declarations(SANDBOX)
    members = types.shapes["ApplePaySandbox"]
    methods = {name: member for name, member in members.items() if member.parameters is not None}
    found = differences("applePaySandbox", methods, seen["methods"])
    found += differences("applePaySandbox", [name for name in members if name not in methods], seen["values"])
    found += differences("clock", dict(members["clock"].type[1]) and list(members["clock"].type[1]),
                         {**seen["clock"]["methods"], **seen["clock"]["values"]})
    for state in seen["states"]:
        found += types.errors("ApplePaySheetState", state, "sheet")
    found += types.errors("ApplePaySandboxDevice", seen["device"], "device")
    assert not found, "; ".join(found)
