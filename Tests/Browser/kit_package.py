"""The kit as a package for npm: what is in it, and a page that uses it."""

import json
import pathlib
import re
import subprocess
import tarfile
import tempfile

from claims import claim
from fakeserver import ROOT, fake_server
from kit_availability import wait_for_state


def installed(directory):
    """The package's folder, as npm unpacks it."""
    made = subprocess.run([ROOT / "scripts/npm-package", directory], capture_output=True, text=True, check=True)
    with tarfile.open(made.stdout.strip()) as archive:
        archive.extractall(directory)
    return pathlib.Path(directory) / "package"


def targets(exported):
    """The files that `exports` names; a pattern names a folder."""
    if isinstance(exported, dict):
        return [path for value in exported.values() for path in targets(value)]
    return [exported.split("*")[0]]


@claim(page=None)
def the_npm_package_loads_the_kit_that_the_server_serves(shopper):
    with tempfile.TemporaryDirectory() as directory, fake_server(body='<p id="place"></p>') as shop:
        package = installed(directory)
        manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
        imports = json.dumps({"imports": {manifest["name"]: "/package/index.js"}})
        shop.files["/package/index.js"] = package / manifest["exports"]["."]["default"]
        shop.files["/shop.html"] = f"""{shop.files["/"].replace('<script type="module" src="/applepay/tender.js"></script>', "")}
            <script type="importmap">{imports}</script><script type="module">
              import {{ loadTender }} from "{manifest["name"]}";
              window.kit = await loadTender(location.origin);
              place.innerHTML = '<tender-apple-pay basket="B"></tender-apple-pay>';
            </script>"""
        shopper.browser.get(f"{shop.origin}/shop.html")
        wait_for_state(shopper, "buy")
        assert shopper.script("return kit === await (await import('tender-web-kit')).loadTender(location.origin)")
        exported = set(shopper.script("return Object.keys(kit)"))
        declared = set(re.findall(r"export (?:class|function) (\w+)", (package / "kit/tender.d.ts").read_text("utf-8")))
        assert exported == declared, f"the server's kit has {exported}, and the package declares {declared}"


@claim(browser=False)
def the_npm_package_is_whole_and_its_bytes_repeat(_):
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        package = installed(one)
        installed(other)
        manifest = json.loads((package / "package.json").read_text(encoding="utf-8"))
        names = {str(path.relative_to(package)) for path in package.rglob("*") if path.is_file()}
        assert {"README.md", "LICENSE", "index.js", "index.d.ts"} <= names, names
        missing = [path for path in targets(manifest["exports"]) if not (package / path).exists()]
        assert not missing, f"exports names {missing}"
        assert manifest["version"][0].isdigit() and manifest["type"] == "module", manifest
        types = (package / "index.d.ts").read_text(encoding="utf-8")
        listed = set(re.findall(r"^  (\w+),$", types, re.MULTILINE))
        kit = (package / "kit/tender.d.ts").read_text(encoding="utf-8")
        declared = set(re.findall(r"^export (?:interface|type|class) (\w+)", kit, re.MULTILINE))
        assert listed == declared, f"the types differ: {listed ^ declared}"
        same = [next(pathlib.Path(folder).glob("*.tgz")).read_bytes() for folder in (one, other)]
        assert same[0] == same[1], "two packages of the same sources differ"
