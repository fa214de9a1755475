"""A `tender-sandbox demo` on free ports in a directory of its own, and calls of its merchant's server, for judges in Python."""
import base64
import contextlib
import copy
import email.utils
import hashlib
import hmac
import json
import pathlib
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
import free_ports  # noqa: E402

# What takes longer than so many seconds hangs, also on a machine that is slow.
STILL = 600


class Demo:
    def __init__(self, base, home):
        self.port = base
        self.server, self.shop, self.sandbox = (f"http://localhost:{base + place}" for place in range(3))
        self.home = pathlib.Path(home)

    def of(self, merchant):
        """The same demo, for the server of a merchant, whose key it has written."""
        other = copy.copy(self)
        other.merchant = merchant
        for secret in self.home.rglob(f"merchants/{merchant}/api-keys/*.secret"):
            other.key_id, other.secret = secret.stem, secret.read_text().strip()
        return other

    def signature(self, method, target, body=b"", content_type="", headers=()):
        """The headers that sign a call, the body included. `headers` are X-GCS headers that are signed too."""
        date = email.utils.formatdate(usegmt=True)
        digest = base64.b64encode(hashlib.sha256(body).digest()).decode()
        signed = {"x-gcs-content-sha256": digest, **{name.lower(): " ".join(value.split()) for name, value in headers}}
        lines = [method, content_type, date, *(f"{name}:{signed[name]}" for name in sorted(signed)), target]
        code = hmac.digest(self.secret.encode(), ("\n".join(lines) + "\n").encode(), "sha256")
        return {"Date": date, "X-GCS-Content-SHA256": digest,
                "Authorization": f"GCS v1HMAC:{self.key_id}:{base64.b64encode(code).decode()}"}

    def signed(self, method, path, body=None):
        """A call of the merchant's server: status and JSON."""
        target = f"/v2/{self.merchant}/{path}"
        data = b"" if body is None else json.dumps(body).encode()
        kind = "" if body is None else "application/json"
        headers = self.signature(method, target, data, kind)
        if kind:
            headers["Content-Type"] = kind
        return call(method, self.server + target, data or None, headers)


def call(method, url, data=None, headers=None):
    request = urllib.request.Request(url, data, headers or {}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=STILL) as answer:
            return answer.status, json.loads(answer.read() or b"null")
    except urllib.error.HTTPError as error:
        return error.code, json.loads(error.read() or b"null")


@contextlib.contextmanager
def running(tender, *words):
    """A demo that serves harbour and kitsune, in a directory that is removed with it; what is given is Harbour's server.
    `words` are more of its options."""
    base = free_ports.row(6)
    with tempfile.TemporaryDirectory() as home:
        log = open(f"{home}/log", "w+", encoding="utf-8")
        process = subprocess.Popen([f"{pathlib.Path(tender).resolve()}-sandbox", "demo", "--port", str(base), *words], cwd=home,
                                   stdout=log, stderr=subprocess.STDOUT)
        try:
            demo, end, said = Demo(base, home), time.monotonic() + STILL, ""
            while f"Open {demo.shop} " not in said:
                if process.poll() is not None or time.monotonic() > end:
                    raise RuntimeError(f"the demo's shop does not open: {said}")
                time.sleep(0.1)
                said = pathlib.Path(log.name).read_text(encoding="utf-8")
            yield demo.of("harbour")
        finally:
            process.terminate()
            process.wait(STILL)
            log.close()
