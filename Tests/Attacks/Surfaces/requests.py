"""A request to a surface: its parts, how they become hostile, and the bytes that are sent."""
import base64, copy, hashlib, hmac, time, urllib.parse
from email.utils import formatdate
import hostile

BOUNDARY = "mark"


def encoded(text):
    return text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")


def multipart(fields):
    """A field whose value is a pair is a file: its name and its bytes."""
    parts = []
    for name, value in fields:
        head = b"--" + BOUNDARY.encode() + b"\r\nContent-Disposition: form-data; name=\"" + encoded(name) + b"\""
        if isinstance(value, tuple):
            head, value = head + b"; filename=\"" + encoded(value[0]) + b"\"", value[1]
        parts.append(head + b"\r\n\r\n" + encoded(value) + b"\r\n")
    return b"".join(parts) + b"--" + BOUNDARY.encode() + b"--\r\n"


class Request:
    """What is sent, in parts that can be changed and left out."""

    # What was sent before it.
    before = b""

    def __init__(self, method, target, headers=(), json=None, fields=None, file=None, raw=None, ready=None, sign=None, allowed=0):
        """file: (name of its field, name, bytes or JSON) of a form with a file. ready: called with the hostile parts, before they become bytes.
        sign: makes the headers that sign the bytes. allowed: seconds of processor time that a good request of the kind takes by design."""
        self.method, self.target, self.headers = method, target, list(headers)
        self.json, self.fields, self.file, self.raw, self.ready, self.sign = json, fields, file, raw, ready, sign
        self.allowed, self.chunk, self.attacks, self.body = allowed, None, [], b""

    @property
    def name(self):
        return f"{self.method} {self.target.split('?')[0][:80]}: {', '.join(self.attacks)}"

    def made(self, dice=None):
        """A copy that can be sent: with one change or more by the dice, or good as it is without."""
        request = copy.copy(self)
        for part in ("headers", "json", "fields", "file", "attacks"):
            setattr(request, part, copy.deepcopy(getattr(self, part)))
        for _ in range(dice.choice([1, 1, 1, 2, 3]) if dice else 0):
            request.change(dice)
        request.finish()
        if dice and dice.random() < 0.08:
            request.note("bytes of the body")
            request.body = hostile.change_bytes(request.body, dice)
        return request

    def note(self, attack):
        self.attacks.append(attack)

    def change(self, dice):
        inner = [kind for kind in ("json", "fields", "file", "raw") if getattr(self, kind) is not None]
        kind = dice.choice(inner * 4 + ["target", "headers", "chunks"])
        self.note(kind)
        if kind == "json":
            self.json = hostile.change_json(self.json, dice)
        elif kind == "fields":
            self.fields = hostile.change_fields(self.fields, dice)
        elif kind == "file":
            field, name, data = self.file
            if isinstance(data, (dict, list)):
                data = hostile.change_json(data, dice)
            else:
                data = hostile.change_bytes(hostile.json_bytes(data) if isinstance(data, hostile.Raw) else data, dice)
            self.file = (field, name if dice.random() < 0.9 else hostile.text(dice), data)
        elif kind == "raw":
            self.raw = hostile.change_bytes(self.raw, dice)
        elif kind == "target":
            self.target = hostile.change_target(self.target, dice)
        elif kind == "headers":
            self.headers = hostile.change_headers(self.headers, dice)
        else:
            self.chunk = dice.choice([1, 2, 100, "malformed", "longer", "shorter"])

    def finish(self):
        """Turns the parts of the body into its bytes."""
        if self.ready:
            self.ready(self)
        self.body, kind = self.raw or b"", None
        if self.json is not None:
            self.body, kind = hostile.json_bytes(self.json), "application/json"
        elif self.fields is not None or self.file is not None:
            fields = self.fields or []
            if self.file:
                field, name, data = self.file
                fields = fields + [(field, (name, hostile.json_bytes(data) if isinstance(data, (dict, list, hostile.Raw)) else data))]
                self.body, kind = multipart(fields), f"multipart/form-data; boundary={BOUNDARY}"
            else:
                pairs = [(encoded(name), encoded(value)) for name, value in fields]
                self.body, kind = urllib.parse.urlencode(pairs).encode(), "application/x-www-form-urlencoded"
        if kind and not any(name.lower() == "content-type" for name, _ in self.headers):
            self.headers.append(("Content-Type", kind))
        self.json = self.fields = self.file = self.raw = None

    def bytes(self):
        """As it is sent, signed now. The connection closes after the answer, so that its end is seen."""
        lines = [*self.headers, *(self.sign(self) if self.sign else [])]
        names = {name.lower() for name, _ in lines}
        for name, value in [("Host", "localhost"), ("Connection", "close")]:
            if name.lower() not in names:
                lines.insert(0, (name, value))
        content = self.body
        if self.chunk is None:
            if content or self.method in ("POST", "PUT"):
                lines.append(("Content-Length", str(len(content))))
        elif self.chunk in ("longer", "shorter"):
            lines.append(("Content-Length", str(max(0, len(content) + (1 if self.chunk == "longer" else -1)))))
        else:
            lines.append(("Transfer-Encoding", "chunked"))
            content = b"zz\r\n" + content if self.chunk == "malformed" else chunked(content, self.chunk)
        head = b"".join(encoded(name) + b": " + encoded(value) + b"\r\n" for name, value in lines)
        return encoded(f"{self.method} {self.target} HTTP/1.1\r\n") + head + b"\r\n" + content


def chunked(content, size):
    size = max(size, len(content) // 20_000)
    pieces = [content[place:place + size] for place in range(0, len(content), size)]
    return b"".join(b"%x\r\n%s\r\n" % (len(piece), piece) for piece in pieces) + b"0\r\n\r\n"


class Framed:
    """A message to the key agent: its length in four bytes, and the message."""

    allowed, before = 0, b""

    def __init__(self, message, length=None, attacks=()):
        self.body, self.length, self.attacks = message, length, list(attacks)
        self.headers = []

    @property
    def name(self):
        return f"a message of {len(self.body)} bytes: {', '.join(self.attacks)}"

    def made(self, dice=None):
        if not dice:
            return self
        body = hostile.change_bytes(self.body, dice) if dice.random() < 0.9 else bytes(dice.randrange(256) for _ in range(dice.randrange(200)))
        length = None if dice.random() < 0.85 else dice.choice([0, 1, len(body) + 1, 2**31, 2**32 - 1, 2**20, 1_024])
        return Framed(body, length, ["bytes", *(["length"] if length is not None else [])])

    def bytes(self):
        return (len(self.body) if self.length is None else self.length).to_bytes(4, "big") + self.body


# How the senders of events and calls sign.

def header(request, name):
    return next((value for known, value in request.headers if known.lower() == name.lower()), "")


def platform(key, secret):
    """Worldline Direct's v1HMAC."""
    def sign(request):
        date = formatdate(usegmt=True)
        gcs = sorted((name.lower(), value) for name, value in request.headers if name.lower().startswith("x-gcs"))
        lines = [request.method, header(request, "Content-Type"), date, *(f"{name}:{' '.join(value.split())}" for name, value in gcs), request.target]
        code = hmac.digest(secret.encode(), encoded("\n".join(lines) + "\n"), "sha256")
        return [("Date", date), ("Authorization", f"GCS v1HMAC:{key}:{base64.b64encode(code).decode()}")]
    return sign


def timed(name, secret):
    """The header of Stripe, and of the sandbox's provider."""
    def sign(request):
        now = str(int(time.time()))
        return [(name, f"t={now},v1={hmac.digest(secret.encode(), now.encode() + b'.' + request.body, 'sha256').hex()}")]
    return sign


def worldline_direct(key, secret):
    def sign(request):
        code = hmac.digest(secret.encode(), request.body, "sha256")
        return [("X-GCS-KeyId", key), ("X-GCS-Signature", base64.b64encode(code).decode())]
    return sign


def checkout_com(secret):
    return lambda request: [("Cko-Signature", hmac.digest(secret.encode(), request.body, "sha256").hex())]


def adyen(document, key):
    """Signs the items of a notification as they are now."""
    for item in document["notificationItems"]:
        fields = item["NotificationRequestItem"]
        amount = fields["amount"]
        text = ":".join(str(part) for part in [
            fields.get("pspReference", ""), fields.get("originalReference", ""), fields.get("merchantAccountCode", ""),
            fields.get("merchantReference", ""), amount.get("value", ""), amount.get("currency", ""), fields.get("eventCode", ""),
            fields.get("success", "")])
        code = hmac.digest(bytes.fromhex(key), encoded(text), "sha256")
        fields["additionalData"]["hmacSignature"] = base64.b64encode(code).decode()
    return document


def braintree(xml, public, private):
    payload = base64.encodebytes(encoded(xml)).decode()
    code = hmac.digest(hashlib.sha1(private.encode()).digest(), payload.encode(), "sha1").hex()
    return [("bt_signature", f"{public}|{code}"), ("bt_payload", payload)]
