#!/usr/bin/env python3
"""The library of Standard Webhooks against the webhooks of `tender-sandbox demo`: verify.py TENDER

The library is unmodified, and gets the secret as Tender wrote it. It verifies the events of a payment, also one whose first
try failed, and what `tender webhooks listen --standard` forwards; it refuses what was changed on the way. An endpoint that asks
for nothing stays as it was. Tender refuses an endpoint that there is not, and a secret that the library could not read.
"""
import contextlib
import http.server
import pathlib
import queue
import subprocess
import sys
import threading

from standardwebhooks import Webhook, WebhookVerificationError

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Support"))
import demo_server  # noqa: E402

STILL = demo_server.STILL


class Failed(Exception):
    pass


def check(claim, holds, detail=""):
    if not holds:
        raise Failed(f"{claim}: {detail}")
    print(f"  {claim}")


class Receiver(http.server.ThreadingHTTPServer):
    """A shop's endpoints, by path. `failing` has the paths whose next call is answered with 500."""

    def __init__(self):
        self.arrived, self.failing = {path: queue.Queue() for path in ("/books", "/plain", "/listened")}, set()
        super().__init__(("127.0.0.1", 0), Endpoint)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"

    def next(self, path):
        try:
            return self.arrived[path].get(timeout=STILL)
        except queue.Empty:
            raise Failed(f"nothing arrives at {path}") from None


class Endpoint(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        status = 500 if self.path in self.server.failing else 204
        self.server.failing.discard(self.path)
        self.send_response(status)
        self.end_headers()
        self.server.arrived[self.path].put(({name.lower(): value for name, value in self.headers.items()}, body))

    def log_message(self, *words):
        pass


class Merchant:
    """Harbour of the demo, whose folder its engineer edits."""

    def __init__(self, tender, demo):
        self.tender, self.demo = tender, demo
        self.port = demo.server.rpartition(":")[2]
        self.state = demo.home / f".tender/demo-{self.port}"
        self.folder = self.state / "merchants/harbour"
        file = sorted((self.folder / "webhook-keys").glob("*.secret"))[-1]
        self.secret = file.read_text(encoding="utf-8").strip()

    def configure(self, *lines):
        """What `tender reload` says to it: nothing when it is taken."""
        yaml = self.folder / "merchant.yaml"
        kept = [line for line in yaml.read_text(encoding="utf-8").splitlines() if "ebhooks" not in line.partition(":")[0]]
        yaml.write_text("\n".join([*kept, *lines, ""]), encoding="utf-8")
        run = subprocess.run([self.tender, "reload", "--store", self.state / "tender.db"], capture_output=True, text=True,
                             timeout=STILL, check=False)
        return "" if run.returncode == 0 else run.stdout + run.stderr

    def pay(self):
        run = subprocess.run([f"{self.tender}-sandbox", "pay", "--platform", "--port", self.port], cwd=self.demo.home,
                             capture_output=True, text=True, timeout=STILL, check=False)
        if run.returncode:
            raise Failed(f"tender-sandbox pay: {run.stdout}{run.stderr}")


def refuses(secret, body, headers):
    try:
        Webhook(secret).verify(body, headers)
    except WebhookVerificationError:
        return True
    return False


def verify_events(merchant, receiver):
    merchant.pay()
    first, again = receiver.next("/books"), receiver.next("/books")
    library = Webhook(merchant.secret)
    check("an event whose try failed comes again with its id, and both signatures are good",
          library.verify(first[1], first[0]) == library.verify(again[1], again[0])
          and first[0]["webhook-id"] == again[0]["webhook-id"], (first, again))
    headers, body = again
    types = [library.verify(body, headers)["type"]]
    while types[-1] != "payment.captured":
        headers, body = receiver.next("/books")
        event = library.verify(body, headers)
        types.append(event["type"])
        if event["id"] != headers["webhook-id"]:
            raise Failed(f"webhook-id is not the event's: {headers}")
    check("the library verifies every event of a payment, in order", types == [
        "payment.created", "payment.pending_capture", "payment.captured"], types)
    check("the endpoint gets no other signature", not [name for name in headers if name.startswith("x-gcs")], headers)
    check("the library refuses another body", refuses(merchant.secret, body.replace(b"captured", b"refunded"), headers))
    check("the library refuses another id", refuses(merchant.secret, body, {**headers, "webhook-id": "another"}))
    check("the library refuses another time", refuses(
        merchant.secret, body, {**headers, "webhook-timestamp": str(int(headers["webhook-timestamp"]) - 1)}))
    check("the library refuses another secret", refuses("A" * 64, body, headers))
    plain, _ = receiver.next("/plain")
    check("an endpoint that asks for nothing gets Worldline's signature alone",
          {"x-gcs-keyid", "x-gcs-signature"} <= set(plain) and not [name for name in plain if name.startswith("webhook-")], plain)


def verify_forwarded(merchant, receiver):
    command = [merchant.tender, "webhooks", "listen", "--standard", "--forward-to", f"{receiver.url}/listened", "--merchant",
               merchant.folder, "--store", merchant.state / "tender.db"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as listening:
        try:
            said = listening.stderr.readline()
            if "forwarding" not in said:
                raise Failed(f"tender webhooks listen: {said}{listening.stderr.read()}")
            # It begins with the events that come once it has asked for the first time.
            with contextlib.suppress(queue.Empty):
                while receiver.arrived["/listened"].empty():
                    merchant.pay()
            headers, body = receiver.next("/listened")
        finally:
            listening.terminate()
    check("the library verifies what `tender webhooks listen --standard` forwards",
          Webhook(merchant.secret).verify(body, headers)["merchantId"] == "harbour", headers)


def main():
    tender, receiver = str(pathlib.Path(sys.argv[1]).resolve()), Receiver()
    with demo_server.running(tender) as demo:
        merchant = Merchant(tender, demo)
        endpoints = f'webhooks: ["plain={receiver.url}/plain", "books={receiver.url}/books"]'
        said = merchant.configure(endpoints, "standardWebhooks: [kitchen]")
        check("an endpoint that there is not is refused", "standardWebhooks: webhooks has no endpoint “kitchen”" in said, said)
        weak = merchant.folder / "webhook-keys/zz.secret"
        weak.touch(mode=0o600)
        weak.write_text("a secret of words, not of base64", encoding="utf-8")
        said = merchant.configure(endpoints, "standardWebhooks: [books]")
        check("a secret that is no base64 is refused", "base64 of 24 to 64 bytes" in said, said)
        weak.unlink()
        said = merchant.configure(endpoints, "standardWebhooks: [books]")
        check("an endpoint of Standard Webhooks is taken", said == "", said)
        receiver.failing.add("/books")
        verify_events(merchant, receiver)
        verify_forwarded(merchant, receiver)
    print("standard-webhooks: the library 1.1.0 agrees")


if __name__ == "__main__":
    try:
        main()
    except Failed as failure:
        sys.exit(f"standard-webhooks: {failure}")
