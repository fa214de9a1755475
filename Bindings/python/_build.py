"""Builds the wheel and the source distribution of apple-pay-token, as PEP 517 asks; it needs nothing but Python.

The wheel holds the shared library `libapplepaytoken`, made by `make c-library`. It is found in the folder that
APPLE_PAY_TOKEN_LIBRARY names, in the repository's artifacts/c-library, or by pkg-config.
"""

import base64
import hashlib
import io
import os
import pathlib
import re
import stat
import struct
import subprocess
import sysconfig
import tarfile
import zipfile

HERE = pathlib.Path(__file__).resolve().parent
NAME, MODULE = "apple_pay_token", "src/apple_pay_token"
SONAME = "libapplepaytoken.so.1"
# The first moment that a zip file can hold: the same sources make the same wheel.
MOMENT = (1980, 1, 1, 0, 0, 0)
NEEDED = """apple-pay-token: the shared library libapplepaytoken was not found.
Install the wheel instead, which holds it. To build from source, make the library with `make c-library` in the repository of Tender
(that needs Swift 6.3), and name its folder: APPLE_PAY_TOKEN_LIBRARY=…/artifacts/c-library pip install …"""


def version():
    return re.search(r'^__version__ = "(.*)"', (HERE / MODULE / "__init__.py").read_text("utf-8"), re.M)[1]


def library():
    """The bytes of the shared library."""
    places = [os.environ.get("APPLE_PAY_TOKEN_LIBRARY"), HERE.parent.parent / "artifacts/c-library"]
    try:
        found = subprocess.run(["pkg-config", "--variable=libdir", "applepaytoken"], capture_output=True, text=True, check=True)
        places.append(pathlib.Path(found.stdout.strip()).parent)
    except (OSError, subprocess.CalledProcessError):
        pass
    for place in filter(None, places):
        file = pathlib.Path(place) / "lib" / SONAME
        if file.is_file():
            return file.read_bytes()
    raise SystemExit(NEEDED)


def glibc(data):
    """The newest version of glibc that a shared library names: (2, 34)."""
    return max(tuple(map(int, text.split(b".")))[:2] for text in re.findall(rb"GLIBC_(2\.[0-9]+)", data))


def tag(data):
    """py3, no interface of Python's, and the oldest machine of PEP 600 that the library runs on."""
    if data[:4] != b"\x7fELF":
        return f"py3-none-{sysconfig.get_platform().replace('-', '_').replace('.', '_')}"
    machine = {62: "x86_64", 183: "aarch64"}[struct.unpack_from("<H", data, 18)[0]]
    return "py3-none-manylinux_{}_{}_{}".format(*glibc(data), machine)


def metadata():
    readme = (HERE / "README.md").read_text("utf-8")
    summary = re.search(r'^description = "(.*)"', (HERE / "pyproject.toml").read_text("utf-8"), re.M)[1]
    return (f"Metadata-Version: 2.1\nName: apple-pay-token\nVersion: {version()}\nSummary: {summary}\n"
            "License: Apache-2.0\nRequires-Python: >=3.9\nKeywords: apple pay,payment token,PKPaymentToken,decrypt,verify\n"
            "Classifier: Operating System :: POSIX :: Linux\nClassifier: Programming Language :: Python :: 3\n"
            "Classifier: Typing :: Typed\nDescription-Content-Type: text/markdown\n\n" + readme).encode()


def sources():
    return sorted(path for path in (HERE / MODULE).iterdir() if path.suffix == ".py" or path.name == "py.typed")


def get_requires_for_build_wheel(config_settings=None):
    return []


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    data = library()
    info = f"{NAME}-{version()}.dist-info"
    wheel = f"Wheel-Version: 1.0\nGenerator: apple-pay-token\nRoot-Is-Purelib: false\nTag: {tag(data)}\n"
    files = {f"{NAME}/{path.name}": path.read_bytes() for path in sources()}
    files |= {f"{NAME}/{SONAME}": data, f"{info}/METADATA": metadata(), f"{info}/WHEEL": wheel.encode()}
    licence = next((place for place in (HERE / "LICENSE", HERE.parent.parent / "LICENSE") if place.is_file()), None)
    if licence:
        files[f"{info}/LICENSE"] = licence.read_bytes()
    lines = [f"{name},sha256={digest(content)},{len(content)}" for name, content in files.items()]
    files[f"{info}/RECORD"] = "\n".join([*lines, f"{info}/RECORD,,", ""]).encode()
    name = f"{NAME}-{version()}-{tag(data)}.whl"
    with zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, MOMENT)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (stat.S_IFREG | (0o755 if path.endswith(SONAME) else 0o644)) << 16
            archive.writestr(entry, content)
    return name


def digest(content):
    return base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()


def build_sdist(sdist_directory, config_settings=None):
    """Without the shared library: `README.md` says what it needs."""
    folder = f"{NAME}-{version()}"
    files = {f"{folder}/PKG-INFO": metadata()}
    tests = sorted((HERE / "tests").glob("*.py"))
    for path in [*sources(), *tests, HERE / "pyproject.toml", HERE / "_build.py", HERE / "README.md"]:
        files[f"{folder}/{path.relative_to(HERE)}"] = path.read_bytes()
    licence = HERE.parent.parent / "LICENSE"
    files[f"{folder}/LICENSE"] = (licence if licence.is_file() else HERE / "LICENSE").read_bytes()
    name = f"{folder}.tar.gz"
    with tarfile.open(pathlib.Path(sdist_directory) / name, "w:gz") as archive:
        for path, content in files.items():
            entry = tarfile.TarInfo(path)
            entry.size = len(content)
            archive.addfile(entry, io.BytesIO(content))
    return name


if __name__ == "__main__":
    import sys

    target = pathlib.Path(sys.argv[1])
    target.mkdir(parents=True, exist_ok=True)
    for name in (build_sdist(target), build_wheel(target)):
        print(target / name)
