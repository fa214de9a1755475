"""The components for React and Vue: what the server renders, sessions, events, refs, and their declarations.

They need React and TypeScript of Debian, and wheels of PyPI with Vue and a newer TypeScript:
`scripts/install-prerequisites frameworks`.
"""

import json
import pathlib
import re
import shutil
import subprocess
import tempfile

from claims import claim
from fakeserver import ROOT, fake_server
from kit_availability import log, wait_for_state
from kit_buttons import button
from kit_package import installed

DEBIAN = pathlib.Path("/usr/share/nodejs")
FETCHED = ROOT / ".build/browser-tests/frameworks"
REACT = ["createElement", "forwardRef", "useEffect", "useImperativeHandle", "useLayoutEffect", "useRef", "useState", "StrictMode"]
HANDLERS = """Object.fromEntries(["Ready", "Pressed", "Authorized", "Failed", "Cancelled", "Unavailable", "LoadError"]
  .map((name) => [`on${name}`, (event) => heard.push([name, event.detail ?? String(event)])]))"""
PAGES = {
    "react": """
      import { createElement, StrictMode, useState } from "react";
      import { TenderApplePay } from "tender-web-kit/react";
      const Page = () => {
        const [shown, show] = useState({ server: SERVER, basket: "B" });
        window.show = show;
        const ref = (element) => element && (window.element = element);
        return shown ? createElement(TenderApplePay, { ...shown, ...HANDLERS, ref, buttonStyle: "white", id: "pay" }) : "Gone";
      };
      ReactDOM.createRoot(root).render(createElement(StrictMode, null, createElement(Page)));
      """,
    "vue": """
      import { createApp, h, shallowRef } from "vue";
      import { TenderApplePay } from "tender-web-kit/vue";
      const shown = shallowRef({ server: SERVER, basket: "B" });
      window.show = (value) => { shown.value = value; };
      const ref = (component) => component && (window.element = component.element);
      createApp({ render: () => shown.value
        ? h(TenderApplePay, { ...shown.value, ...HANDLERS, ref, buttonStyle: "white", id: "pay" }) : "Gone" }).mount(root);
      """,
}


def there(path):
    assert path.exists(), f"{path} is not there: scripts/install-prerequisites frameworks"
    return path


def component_page(shop, package, framework, server="location.origin"):
    """A page of the framework with the component, in the place of the shop's."""
    imports = {"react": "/react.js", "vue": "/vue.js", "tender-web-kit/react": "/package/react.js",
               "tender-web-kit/vue": "/package/vue.js"}
    for name in ("index.js", "listen.js", "react.js", "vue.js"):
        shop.files[f"/package/{name}"] = package / name
    scripts = ""
    if framework == "react":
        for name in ("react", "react-dom"):
            shop.files[f"/{name}.umd.js"] = there(DEBIAN / name / f"umd/{name}.development.js")
            scripts += f'<script src="/{name}.umd.js"></script>'
        shop.files["/react.js"] = f"export const {{ {', '.join(REACT)} }} = React;"
    else:
        shop.files["/vue.js"] = there(FETCHED / "nicegui/static/vue.esm-browser.js")
    text = PAGES[framework].replace("HANDLERS", HANDLERS).replace("SERVER", server)
    page = shop.files["/"].replace('<script type="module" src="/applepay/tender.js"></script>', "")
    shop.files["/"] = f"""{page}<div id="root"></div>{scripts}<script type="importmap">{json.dumps({"imports": imports})}</script>
        <script type="module">window.heard = [];{text}</script>"""


def names(shopper):
    return [name for name, _ in shopper.script("return heard")]


def a_component_pays(shopper, framework):
    with tempfile.TemporaryDirectory() as directory, fake_server(body="") as shop:
        component_page(shop, installed(directory), framework)
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        # A second of everything would be there by now.
        shopper.until(lambda: names(shopper) == ["Ready"], "the component did not report once that it is ready")
        assert [shop.asked(call) for call in ("GET metadata", "GET basket/B")] == [1, 1], f"two were prepared: {shop.calls}"
        assert shopper.script("return element === document.querySelector('tender-apple-pay') && element.id === 'pay' && "
                              "Boolean(element.checkout) && element.getAttribute('button-style') === 'white'")
        button(shopper).click()
        shopper.script("device.session.onvalidatemerchant({ validationURL: 'https://apple.example' })")
        shopper.until(lambda: "complete MerchantValidation" in log(shopper), "there was no session")
        assert shop.asked("POST validate") == 1, "a second session was asked for"
        shopper.script("show(null)")
        shopper.until(lambda: not shopper.script("return document.querySelector('tender-apple-pay')"), "the component stays")
        shopper.script("device.session.onpaymentauthorized({ payment: { token: { paymentData: {} } } })")
        shopper.until(lambda: "Authorized" in names(shopper), "a component that is gone does not report the payment")
        shopper.until(lambda: "page authorized captured" in log(shopper), "the page does not hear of the payment")
        assert names(shopper) == ["Ready", "Pressed", "Authorized"], names(shopper)
        detail = shopper.script("return heard.at(-1)[1]")
        assert detail["orderId"] == "o1", detail


@claim(page=None)
def a_react_component_mounted_twice_has_one_session_and_reports_a_payment_after_it_is_gone(shopper):
    a_component_pays(shopper, "react")


@claim(page=None)
def a_vue_component_has_one_session_and_reports_a_payment_after_it_is_gone(shopper):
    a_component_pays(shopper, "vue")


def a_component_changes(shopper, framework):
    with tempfile.TemporaryDirectory() as directory, fake_server(body="") as shop:
        shop.answers["GET basket/C"] = {**shop.answers["GET basket/B"], "basketId": "C", "quoteId": "q9"}
        component_page(shop, installed(directory), framework)
        shopper.browser.get(shop.origin)
        wait_for_state(shopper, "buy")
        shopper.script("show({ server: location.origin, basket: 'C' })")
        shopper.until(lambda: names(shopper) == ["Ready", "Ready"], "the new basket was not prepared")
        assert shopper.script("return element.checkout.basket") == "C" and shop.asked("GET basket/C") == 1
        shopper.script("show(null)")
        shopper.until(lambda: not shopper.script("return document.querySelector('tender-apple-pay')"), "the component stays")
        shopper.script("show({ server: location.origin, basket: 'B' })")
        wait_for_state(shopper, "buy")
        button(shopper).click()
        shopper.script("device.session.oncancel()")
        shopper.until(lambda: names(shopper)[2:] == ["Ready", "Pressed", "Cancelled", "Ready"], "the events are others")


@claim(page=None)
def a_react_component_takes_another_basket_and_comes_back(shopper):
    a_component_changes(shopper, "react")


@claim(page=None)
def a_vue_component_takes_another_basket_and_comes_back(shopper):
    a_component_changes(shopper, "vue")


@claim(page=None)
def components_report_a_kit_that_cannot_be_loaded(shopper):
    for framework in PAGES:
        for server in ("'http://localhost:1'", "'no address'"):
            with tempfile.TemporaryDirectory() as directory, fake_server(body="") as shop:
                component_page(shop, installed(directory), framework, server)
                shopper.browser.get(shop.origin)
                shopper.until(lambda: "LoadError" in names(shopper), f"{framework} reports nothing of {server}")
                shopper.discard_errors()


SERVER_SIDE = {
    "react": """
        import { createElement } from "react";
        import { renderToString } from "react-dom/server";
        import { TenderApplePay } from "tender-web-kit/react";
        const properties = { server: "https://pay.example", basket: "B", buttonStyle: "white", appleScript: true, onReady() {} };
        console.log(renderToString(createElement(TenderApplePay, properties)));
        """,
    # Vue's own renderer for servers is in no package at hand; this makes what it renders.
    "vue": """
        import { TenderApplePay } from "tender-web-kit/vue";
        const properties = { server: "https://pay.example", basket: "B", buttonStyle: "white", appleScript: true };
        const { type, props, children } = TenderApplePay.setup(properties, { expose() {} })();
        const attributes = Object.entries(props).filter(([name, value]) => value !== undefined && name !== "ref");
        console.log(`<${type}${attributes.map(([name, value]) => ` ${name}="${value}"`).join("")}>${children ?? ""}</${type}>`);
        """,
}


@claim(browser=False)
def a_server_renders_the_components_without_a_window(_):
    with tempfile.TemporaryDirectory() as directory:
        package = installed(directory)
        modules = package / "node_modules"
        modules.mkdir()
        (modules / "tender-web-kit").symlink_to(package)
        for name in ("react", "react-dom", "scheduler", "loose-envify", "js-tokens", "object-assign"):
            if (DEBIAN / name).exists():
                (modules / name).symlink_to(DEBIAN / name)
        (modules / "vue").mkdir()
        shutil.copy(there(FETCHED / "nicegui/static/vue.esm-browser.prod.js"), modules / "vue/index.js")
        (modules / "vue/package.json").write_text('{"type": "module", "main": "index.js"}', encoding="utf-8")
        for framework, text in SERVER_SIDE.items():
            (package / "page.mjs").write_text(text, encoding="utf-8")
            run = subprocess.run(["node", "--preserve-symlinks", "page.mjs"], cwd=package, capture_output=True, text=True,
                                 check=False)
            wanted = '<tender-apple-pay basket="B" button-style="white" apple-script=""></tender-apple-pay>'
            assert run.stdout.strip() == wanted and not run.stderr, f"{framework}: {run.stdout}{run.stderr}"


# Vue's declarations are in no package at hand: these are the two that the component's names, as Vue 3 has them.
VUE = """
    export interface Ref<T> { value: T }
    export type DefineComponent<Props, Bindings> = new () => { $props: Props } & { [Name in keyof Bindings]:
      Bindings[Name] extends Ref<infer T> ? T : Bindings[Name] };
    """
# What compiles, and after each `@ts-expect-error` what must not: without an error there, the compiler reports the comment.
USED = """
    import { createElement, createRef } from "react";
    import { TenderApplePay, type TenderApplePayElement } from "tender-web-kit/react";
    import { TenderApplePay as ForVue } from "tender-web-kit/vue";
    const ref = createRef<TenderApplePayElement>();
    export const page = createElement(TenderApplePay, {
      server: "https://pay.example", basket: "B", id: "pay", className: "wide", appleScript: true, ref,
      onAuthorized: ({ detail }) => console.log(detail.orderId.length, detail.receipt.amount),
      onFailed: ({ detail }) => console.log(detail.code.length),
      onPressed: (event) => event.preventDefault(),
      onUnavailable: ({ detail }) => console.log(detail.reasons[0]?.code),
    });
    ref.current?.checkout.prepare().then((isReady: boolean) => isReady);
    declare const component: InstanceType<typeof ForVue>;
    component.element?.checkout.begin();
    export const forVue: typeof component.$props = { server: "https://pay.example", onAuthorized: ({ detail }) => detail.orderId };

    // @ts-expect-error: no server
    createElement(TenderApplePay, { basket: "B" });
    // @ts-expect-error: a basket is named by a text
    createElement(TenderApplePay, { server: "", basket: 5 });
    // @ts-expect-error: no such event
    createElement(TenderApplePay, { server: "", onFialed: () => {} });
    // @ts-expect-error: no such member of an event
    createElement(TenderApplePay, { server: "", onAuthorized: ({ detail }) => detail.order });
    // @ts-expect-error: no such method of the checkout
    ref.current?.checkout.prepaer();
    // @ts-expect-error: it is the checkout that begins
    component.element?.begin();
    // @ts-expect-error: no server
    export const incomplete: typeof component.$props = { basket: "B" };
    """


def compilers(shop):
    """Debian's TypeScript and the one in Deno, as commands that check `page.ts`."""
    (shop / "tsconfig.json").write_text(json.dumps({"compilerOptions": {
        "strict": True, "noEmit": True, "target": "es2020", "module": "es2020", "moduleResolution": "node16", "types": [],
        "lib": ["dom", "dom.iterable", "es2020"]}, "files": ["page.ts"]}), encoding="utf-8")
    (shop / "deno.json").write_text(json.dumps({"nodeModulesDir": "manual", "compilerOptions": {
        "strict": True, "types": [], "lib": ["dom", "dom.iterable", "esnext"]}}), encoding="utf-8")
    return {"tsc": [shutil.which("tsc") or "tsc", "--project", "."],
            "deno": [there(FETCHED / "bin/deno"), "check", "--quiet", "--no-remote", "page.ts"]}


def declare(modules, name, text):
    (modules / name).mkdir()
    (modules / name / "index.d.ts").write_text(text, encoding="utf-8")
    (modules / name / "package.json").write_text(
        json.dumps({"name": name, "version": "3.0.0", "types": "index.d.ts"}), encoding="utf-8")


@claim(browser=False)
def the_declarations_of_the_components_hold_in_the_oldest_and_the_newest_compiler(_):
    with tempfile.TemporaryDirectory() as directory:
        shop = pathlib.Path(directory) / "shop"
        modules = shop / "node_modules"
        shutil.copytree(there(DEBIAN / "@types/react"), modules / "@types/react")
        shutil.copytree(there(DEBIAN / "@types/scheduler"), modules / "@types/scheduler")
        used = set(re.findall(r"PropTypes\.(\w+)", (modules / "@types/react/index.d.ts").read_text(encoding="utf-8")))
        declare(modules, "vue", VUE)
        # React's own declarations name these two, which Debian leaves out.
        declare(modules, "csstype", "export interface Properties<Length> { width?: Length }")
        declare(modules, "prop-types", "\n".join(
            f"export type {name}<T> = T;" if name[0].isupper() else f"export declare const {name}: unknown;" for name in used))
        installed(directory).rename(modules / "tender-web-kit")
        (shop / "package.json").write_text('{"type": "module"}', encoding="utf-8")
        (shop / "page.ts").write_text(USED, encoding="utf-8")
        for name, command in compilers(shop).items():
            run = subprocess.run(command, cwd=shop, capture_output=True, text=True, check=False)
            assert run.returncode == 0, f"{name}: {run.stdout}{run.stderr}"


@claim(browser=False)
def each_component_has_fewer_than_80_lines(_):
    for name in ("react.js", "vue.js", "listen.js"):
        lines = (ROOT / "Web/npm" / name).read_text(encoding="utf-8").splitlines()
        assert len(lines) < 80, f"{name} has {len(lines)} lines"
