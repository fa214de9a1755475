#!/usr/bin/env python3
"""An independent SMTP server and Python's own e-mail parser against `tender serve`: verify.py TENDER

aiosmtpd demands STARTTLS and AUTH under a certificate of its own authority. It takes what `tender mail` sends; the standard
library's parser reads it. Servers without TLS, with another user and with an unknown root get nothing, and
`tender doctor` says why.
"""
import datetime
import email
import email.policy
import json
import pathlib
import ssl
import subprocess
import sys
import tempfile
import time

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent.parent / "Support"))
import free_ports  # noqa: E402

USER, PASSWORD = b"tender", b"pw"


class Failed(Exception):
    pass


def check(claim, holds, detail=""):
    if not holds:
        raise Failed(f"{claim}: {detail}")
    print(f"  {claim}")


class Taken:
    """Keeps what arrives, as aiosmtpd hands it over."""

    def __init__(self):
        self.messages = []

    async def handle_DATA(self, server, session, envelope):
        self.messages.append((envelope.mail_from, envelope.rcpt_tos, envelope.content, session.ssl is not None))
        return "250 2.0.0 queued as 4711"


def certificates(place):
    """An authority, and a certificate of `localhost`."""
    def openssl(*words):
        subprocess.run(["openssl", *words], cwd=place, check=True, capture_output=True)
    openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "ca.key",
            "-out", "ca.pem", "-subj", "/CN=Judge", "-days", "2")
    openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-keyout", "leaf.key",
            "-out", "leaf.csr", "-subj", "/CN=localhost")
    (place / "extensions").write_text("subjectAltName=DNS:localhost\n")
    openssl("x509", "-req", "-in", "leaf.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial",
            "-out", "leaf.pem", "-days", "2", "-extfile", "extensions")


def mail_server(handler, port, place, secure=True):
    options = {}
    if secure:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(place / "leaf.pem", place / "leaf.key")
        options = {"tls_context": context, "require_starttls": True, "auth_required": True}

    def authenticate(server, session, envelope, mechanism, data):
        # Not handled: aiosmtpd answers 535 itself.
        return AuthResult(success=(data.login, data.password) == (USER, PASSWORD), handled=False)

    controller = Controller(
        handler, hostname="127.0.0.1", port=port, authenticator=authenticate, auth_require_tls=secure, ready_timeout=600, **options)
    controller.start()
    return controller


class Tender:
    """`tender-sandbox sandbox` and `tender serve` in a folder, and the commands beside them."""

    def __init__(self, program, place, ports):
        self.program, self.place, self.ports = program, place, ports
        self.started = []

    def configure(self, name, port, password=PASSWORD, roots=True):
        (self.place / "password").write_bytes(password)
        (self.place / "password").chmod(0o600)
        other = self.place / f"{name}.password"
        other.write_bytes(password)
        other.chmod(0o600)
        lines = [
            "environment: simulated", f"directory: {self.place}/data", f"port: {self.ports}",
            f"sandboxURL: http://127.0.0.1:{self.ports + 1}", "merchants:", f"  directory: {self.place}/merchants",
            "mail:", "  host: localhost", f"  port: {port}", f"  user: {USER.decode()}", f"  passwordFile: {other}",
            "  from: tender@pay.example", "  name: Kasse", "  locale: de", "  recipients: [operator@pay.example]",
        ] + ([f"  rootsFile: {self.place}/ca.pem"] if roots else [])
        file = self.place / f"{name}.yaml"
        file.write_text("\n".join(lines) + "\n")
        return file

    def start(self, program, *words):
        process = subprocess.Popen([program, *words], cwd=self.place, stdout=subprocess.PIPE,
                                   stderr=subprocess.DEVNULL)
        self.started.append(process)
        process.stdout.readline()

    def run(self, *words):
        return subprocess.run([self.program, *words], cwd=self.place, capture_output=True, text=True)

    def mail(self, *words):
        return self.run("mail", *words, "--store", "data/tender.db")

    def stop(self):
        for process in self.started:
            process.kill()
            process.wait()


def findings(tender, file):
    report = json.loads(tender.run("doctor", "--config", str(file), "--json").stdout)
    return {row["code"]: row for row in report["checks"] if row["code"].startswith("mail_")}


def read(content):
    message = email.message_from_bytes(content, policy=email.policy.SMTP)
    check("the parser finds no defect", not message.defects and all(not p.defects for p in message.iter_parts()))
    check("a text and an HTML part", [p.get_content_type() for p in message.iter_parts()] == ["text/plain", "text/html"])
    return message


def sends(tender, taken):
    answer = tender.mail("test", "--to", "ada@example.com", "--json")
    row = json.loads(answer.stdout)
    check("the command shows the server's answer", row["result"] == "250 2.0.0 queued as 4711", answer)
    sender, recipients, content, over_tls = taken.messages.pop()
    check("it came over TLS, from and to the right", over_tls and sender == "tender@pay.example"
          and recipients == ["ada@example.com"])
    message = read(content)
    check("the subject is in the operator's language", message["subject"] == "Testnachricht", message["subject"])
    check("the sender has a name", message["from"].addresses[0].display_name == "Kasse")


def warns(tender, taken):
    day = (datetime.date.today() + datetime.timedelta(days=740)).isoformat()
    first = json.loads(tender.mail("warn", "--at", day, "--json").stdout)
    check("each certificate is warned of", first["queued"] == 2, first)
    subjects = sorted(str(read(content)["subject"]) for _, _, content, _ in taken.messages)
    check("in the right words", len(subjects) == 2 and all(" läuft in " in subject for subject in subjects), subjects)
    again = json.loads(tender.mail("warn", "--at", day, "--json").stdout)
    check("once each", again["queued"] == 0 and len(taken.messages) == 2, again)


def refuses(tender, taken, good, port, plain):
    well = findings(tender, good)
    check("the doctor finds nothing wrong", all(row["status"] == "ok" for row in well.values()), well)
    count = len(taken.messages)
    cases = [
        ("wrong-user", {"port": port, "password": b"other"}, "mail_authentication"),
        ("no-root", {"port": port, "roots": False}, "mail_tls"),
        ("no-tls", {"port": plain}, "mail_tls"),
    ]
    for name, settings, code in cases:
        found = findings(tender, tender.configure(name, **settings))
        check(f"the doctor names {code} ({name})", found.get(code, {}).get("status") == "failed", found)
    check("and nothing was sent", len(taken.messages) == count)


def main(program):
    program = str(pathlib.Path(program).resolve())
    with tempfile.TemporaryDirectory(prefix="tender-smtp-") as folder:
        place = pathlib.Path(folder)
        certificates(place)
        ports = free_ports.row(5)
        taken, other = Taken(), Taken()
        servers = [mail_server(taken, ports + 3, place), mail_server(other, ports + 4, place, secure=False)]
        tender = Tender(program, place, ports)
        try:
            good = tender.configure("good", ports + 3)
            sandbox = f"http://127.0.0.1:{ports + 1}"
            tender.start(f"{tender.program}-sandbox", "sandbox", "--port", str(ports + 1), "--json")
            added = tender.run("merchant", "add", "--sandbox", sandbox, "--directory", "merchants", "--domain",
                               f"localhost:{ports}")
            check("a merchant is made", added.returncode == 0, added)
            tender.start(tender.program, "serve", "--config", str(good), "--json")
            sends(tender, taken)
            warns(tender, taken)
            refuses(tender, taken, good, ports + 3, ports + 4)
            check("the server without TLS got nothing", not other.messages)
        finally:
            tender.stop()
            for server in servers:
                server.stop()
    print("smtp: aiosmtpd takes and Python reads what Tender sends")


if __name__ == "__main__":
    try:
        main(sys.argv[1])
    except Failed as failure:
        print(f"smtp: FAILED {failure}")
        sys.exit(1)
