"""The recipes of docs/frameworks.md: React and Django are run as the page prints them, the others are parsed.

They need React and TypeScript of Debian and Django of PyPI: `scripts/install-prerequisites frameworks`.
"""

import contextlib
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from claims import claim
from fakeserver import ROOT
from kit_components import DEBIAN, FETCHED, REACT, there
from kit_package import installed

sys.path.insert(0, str(ROOT / "Tests/Support"))
import free_ports  # noqa: E402

PAGE = (ROOT / "docs/frameworks.md").read_text(encoding="utf-8")
RECIPES = dict(re.findall(r"<!-- (\S+\.\w+) -->\n```\w+\n(.*?)```", PAGE, re.DOTALL))
# Seconds after which a program hangs, also on a machine that is slow.
STILL = 600

# Prints JSX as JavaScript, or ends with what is no JSX. The types are not looked at.
TRANSPILE = ["node", "-e", f"""
    const ts = require({str(DEBIAN / "typescript")!r});
    const text = require("fs").readFileSync(process.argv[1], "utf8");
    const compilerOptions = {{ jsx: "react", target: "es2020", module: "es2020" }};
    const made = ts.transpileModule(text, {{ fileName: "recipe.jsx", reportDiagnostics: true, compilerOptions }});
    for (const {{ messageText }} of made.diagnostics) console.error(messageText);
    console.log(made.outputText);
    process.exitCode = made.diagnostics.length ? 1 : 0;
    """]

# What `startproject` makes of a project.
SETTINGS = """
import sys
DEBUG, SECRET_KEY, ALLOWED_HOSTS, ROOT_URLCONF, USE_TZ = True, "of the tests", ["localhost"], "urls", True
INSTALLED_APPS = ["django.contrib.staticfiles"]
STATIC_URL, STATICFILES_DIRS = "static/", ["static"]
MIDDLEWARE = ["django.middleware.common.CommonMiddleware", "django.middleware.csrf.CsrfViewMiddleware"]
LOADERS = ["django.template.loaders.filesystem.Loader"]  # which keeps no template: the page becomes another
TEMPLATES = [{"BACKEND": "django.template.backends.django.DjangoTemplates", "DIRS": ["templates"], "OPTIONS": {"loaders": LOADERS}}]
"""
# In the place of a bundler: modules by their names, and the component as TypeScript compiles it.
REACT_PAGE = """<!doctype html><html lang="en"><title>Tea</title><div id="root"></div>
<script src="/static/react.umd.js"></script><script src="/static/react-dom.umd.js"></script>
<script type="importmap">{"imports": {"react": "/static/react.js", "tender-web-kit/react": "/static/kit/react.js"}}</script>
<script type="module">
import { createElement, StrictMode } from "react";
import { Checkout } from "/static/Checkout.js";
import { useBasket } from "/static/useBasket.js";
const Shop = () => {
  const checkout = useBasket({ tea: 1 });
  return checkout && createElement(Checkout, { key: checkout.basket, ...checkout });
};
ReactDOM.createRoot(document.getElementById("root")).render(createElement(StrictMode, null, createElement(Shop)));
</script>"""
# What a shop whose cart changes has beside the recipe: the back end of useBasket.
CART = """
def cart(request):
    quantity, basket = views.json.loads(request.body)["tea"], views.secrets.token_hex(16)
    views.tender.put_basket(basket, {
        "currencyCode": "EUR", "countryCode": "IE", "businessName": "My shop", "merchantReference": f"TEA-{basket[:6]}",
        "serviceTypes": ["collection"], "items": [{"id": "tea", "label": "Tea", "unitAmount": 450, "quantity": quantity}]})
    return views.JsonResponse({"server": views.tender.SERVER, "basket": basket})

urlpatterns.append(path("checkout", views.csrf_exempt(cart)))
"""


def the_step(port, shop):
    """What the step of the workflow runs, with other ports."""
    text = RECIPES[".github/workflows/test.yml"]
    lines = text.partition("  run: |\n")[2].splitlines()
    script = "\n".join(line.removeprefix("    ") for line in lines)
    ports = {"8400": f"{port}", "8402": f"{port + 2}", "localhost:3000": f"localhost:{shop}", "localhost-3000": f"localhost-{shop}"}
    return re.sub("|".join(ports), lambda found: ports[found[0]], script)


@contextlib.contextmanager
def in_group(command, **how):
    """A program with what it starts, which ends with the context."""
    process = subprocess.Popen(command, start_new_session=True, **how)
    try:
        yield process
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGTERM)
        process.wait()


@contextlib.contextmanager
def started_sandbox(tender, home, shop):
    """The environment that the step hands on, once it has ended; its sandbox runs on."""
    port, handed = free_ports.row(6), home / "handed"
    programs = home / "programs"
    programs.mkdir()
    for name in ("tender", "tender-sandbox"):
        (programs / name).symlink_to(pathlib.Path(tender).with_name(name))
    environment = {**os.environ, "GITHUB_ENV": str(handed), "PATH": f"{programs}:{os.environ['PATH']}"}
    script = "set -e\n" + the_step(port, shop) + "\ntouch ended; wait"
    with open(home / "step.log", "w", encoding="utf-8") as log, \
            in_group(["bash", "-c", script], cwd=home, env=environment, stdout=log, stderr=log) as process:
        wait_until(lambda: (home / "ended").exists() or process.poll() is not None, "the step does not end")
        assert (home / "ended").exists(), f"the step failed: {(home / 'step.log').read_text(encoding='utf-8')}"
        values = dict(line.split("=", 1) for line in handed.read_text(encoding="utf-8").splitlines())
        yield {**environment, **values}, port


def wait_until(holds, failure):
    end = time.monotonic() + STILL
    while not holds():
        assert time.monotonic() < end, failure
        time.sleep(0.2)


def answers(address):
    with contextlib.suppress(OSError):
        return bool(urllib.request.urlopen(address, timeout=STILL).read())
    return False


def django_project(home):
    """The recipe's files in their places."""
    (home / "templates").mkdir()
    (home / "views.py").write_text(RECIPES["views.py"], encoding="utf-8")
    (home / "urls.py").write_text(RECIPES["urls.py"] + CART, encoding="utf-8")
    (home / "templates/checkout.html").write_text(RECIPES["checkout.html"], encoding="utf-8")
    (home / "settings.py").write_text(SETTINGS, encoding="utf-8")
    shutil.copy(ROOT / "Examples/back-end/tender_client.py", home)
    (home / "static").mkdir()


def react_page(home):
    """The recipe's component and hook, on a page in the place of the one without React."""
    static = home / "static"
    shutil.copytree(installed(home / "package"), static / "kit")
    for name in ("react", "react-dom"):
        shutil.copy(there(DEBIAN / name / f"umd/{name}.development.js"), static / f"{name}.umd.js")
    exported = ", ".join([*REACT, "Fragment"])
    (static / "react.js").write_text(f"export default React; export const {{ {exported} }} = React;", encoding="utf-8")
    for name in ("Checkout", "useBasket"):
        recipe = static / f"{name}.jsx"
        recipe.write_text('import React from "react";\n' + RECIPES[recipe.name], encoding="utf-8")
        transpiled = subprocess.run([*TRANSPILE, recipe], capture_output=True, text=True, check=True)
        recipe.with_suffix(".js").write_text(transpiled.stdout, encoding="utf-8")
    (home / "templates/checkout.html").write_text(REACT_PAGE, encoding="utf-8")


@claim(page=None, limit=600)
def a_shop_of_django_and_then_of_react_is_paid_as_its_recipe_says(shopper):
    with tempfile.TemporaryDirectory() as directory:
        home, place = pathlib.Path(directory), free_ports.row(1)
        django_project(home)
        address = f"http://localhost:{place}"
        with started_sandbox(shopper.demo.tender, home, place) as (environment, port):
            environment |= {"PYTHONPATH": str(there(FETCHED)), "PYTHONDONTWRITEBYTECODE": "1", "DJANGO_SETTINGS_MODULE": "settings"}
            command = [sys.executable, "-m", "django", "runserver", "--noreload", str(place)]
            with open(home / "shop.log", "w+", encoding="utf-8") as log, \
                    in_group(command, cwd=home, env=environment, stdout=log, stderr=log):
                wait_until(lambda: answers(address), "Django does not answer")
                tender(environment, home, "merchant", "verify", "--merchant-identifier", f"merchant.test.localhost-{place}",
                       "--domain", f"localhost:{place}", "--sandbox", f"http://localhost:{port + 2}")
                pays(shopper, address, "body > tender-apple-pay")
                wait_until(lambda: "payment.captured" in (home / "shop.log").read_text(encoding="utf-8"), "no webhook came")
                forged = urllib.request.Request(f"{address}/hooks", b"{}", {"X-GCS-Signature": "no"}, method="POST")
                assert refused(forged) == 403, "a forged webhook is taken"
                react_page(home)
                pays(shopper, address, "#root tender-apple-pay")


def tender(environment, home, *words):
    run = subprocess.run(["tender", *words], cwd=home, env=environment, capture_output=True, text=True, check=False)
    assert run.returncode == 0, f"tender {' '.join(words)}: {run.stdout}{run.stderr}"


def refused(request):
    try:
        return urllib.request.urlopen(request, timeout=STILL).status
    except urllib.error.HTTPError as error:
        return error.code


def pays(shopper, address, place):
    shopper.browser.get(address)
    shopper.until(lambda: shopper.find("button", "Buy with Apple Pay"), "there is no button")
    assert shopper.script("return document.querySelectorAll(arguments[0]).length", place) == 1, f"it is not at {place}"
    shopper.press("Pay", shopper.open_sheet())
    shopper.sees("Thank you: TEA-")
    shopper.discard_errors()  # the browser asks for an icon that there is not


# How each language is parsed; `{}` is the file.
PARSERS = {"rb": ["ruby", "-c"], "php": ["php", "-l"], "swift": ["swiftc", "-frontend", "-parse"], "js": ["node", "--check"]}
BROKEN = {"rb": "def (", "php": "<?php function (", "swift": "func (", "js": "const = ;", "jsx": "const a = <b>;", "py": "def ("}


def faults(name, text, folder):
    """What a parser says against a recipe; None where the parser is not installed."""
    ending = name.rpartition(".")[2]
    file = folder / f"recipe.{'mjs' if ending == 'js' else ending}"
    file.write_text(text, encoding="utf-8")
    if ending == "py":
        command = [sys.executable, "-c", f"import ast; ast.parse(open({str(file)!r}).read())"]
    elif ending == "jsx":
        command = [*TRANSPILE, file]
    else:
        command = [*PARSERS[ending], file]
    if not shutil.which(command[0]):
        return None
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    return run.stderr or run.stdout if run.returncode else ""


@claim(browser=False)
def every_recipe_can_be_parsed(_):
    kinds = {name: name.rpartition(".")[2] for name in RECIPES}
    assert len(RECIPES) >= 13 and set(BROKEN) < {*kinds.values()}, kinds
    with tempfile.TemporaryDirectory() as directory:
        folder = pathlib.Path(directory)
        for name, text in RECIPES.items():
            if kinds[name] in BROKEN:
                assert not (said := faults(name, text, folder)), f"{name}: {said}"
        for ending, text in BROKEN.items():
            assert faults(f"broken.{ending}", text, folder) != "", f"a broken recipe in {ending} is not noticed"
