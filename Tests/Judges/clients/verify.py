#!/usr/bin/env python3
"""The clients of Examples/back-end, in six languages, by one table: verify.py TENDER [--at-hand | LANGUAGE…]

cases.json has signed examples, webhooks, calls to a server with their answers and refusals, and answers that are lost or
late. Each client's driver reads the calls; the server is `tender-sandbox demo`, and for lost answers a server of this judge.
A wrong client of each kind must fail. `--at-hand` leaves out the languages that are not installed, and names them.
"""
import concurrent.futures
import contextlib
import datetime
import json
import os
import pathlib
import queue
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import http.server

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path[:0] = [str(ROOT / "Tests/Support"), str(ROOT / "Examples/platform-python")]
import demo_server  # noqa: E402
import shopper  # noqa: E402

TABLE = json.loads((HERE / "cases.json").read_text(encoding="utf-8"))
DRIVERS, CLIENTS = HERE / "drivers", ROOT / "Examples/back-end"
STILL = demo_server.STILL


class Failed(Exception):
    pass


# Each makes the driver ready in a folder and gives its command.
def python(_):
    return [sys.executable, DRIVERS / "driver.py"]


def node(_):
    return ["node", DRIVERS / "driver.mjs"]


def php(_):
    return ["php", "-d", "error_reporting=-1", "-d", "display_errors=stderr", DRIVERS / "driver.php"]


def ruby(_):
    return ["ruby", "-w", DRIVERS / "driver.rb"]


def java(folder):
    made(["javac", "-Xlint:all", "-Werror", "--release", "17", "-d", folder, CLIENTS / "TenderClient.java", DRIVERS / "Driver.java"])
    return ["java", "-cp", folder, "Driver"]


def go(folder):
    (folder / "tender").mkdir()
    (folder / "go.mod").write_text("module shop\n\ngo 1.19\n", encoding="utf-8")
    shutil.copy(CLIENTS / "tender_client.go", folder / "tender")
    shutil.copy(DRIVERS / "driver.go", folder)
    environment = {**os.environ, "GOCACHE": str(ROOT / ".build/go-cache"), "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    made(["go", "vet", "./..."], folder, environment)
    made(["go", "build", "-o", "driver", "."], folder, environment)
    return [folder / "driver"]


LANGUAGES = {"python": (python, "python3"), "node": (node, "node"), "php": (php, "php"), "ruby": (ruby, "ruby"),
             "java": (java, "javac"), "go": (go, "go")}


def made(command, folder=None, environment=None):
    run = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=STILL, check=False)
    if run.returncode:
        raise Failed(f"{command[0]}: {run.stdout}{run.stderr}")


class Client:
    """A driver that runs: one line for each call, one for each answer."""

    def __init__(self, command, server, merchant, key_id, secret):
        self.environment = {**os.environ, "SHOP_TENDER_URL": server + "/", "SHOP_MERCHANT": merchant,
                            "SHOP_KEY_ID": key_id, "SHOP_SECRET": secret, "PYTHONDONTWRITEBYTECODE": "1"}
        self.process = subprocess.Popen(command, env=self.environment, text=True, encoding="utf-8", stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def call(self, name, *arguments):
        self.process.stdin.write(json.dumps({"call": name, "arguments": arguments}) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise Failed(f"{name}: the driver ended: {self.process.stderr.read()}")
        return json.loads(line)

    def close(self):
        self.process.stdin.close()
        words = self.process.stderr.read()
        if self.process.wait(STILL) or words:
            raise Failed(f"the driver warns: {words}")


@contextlib.contextmanager
def running(command, *place):
    client = Client(command, *place)
    try:
        yield client
        client.close()
    finally:
        client.process.kill()
        client.process.wait()


def differences(wanted, found, path="answer"):
    """What of the wanted members is not as wanted. A wanted list has at least these elements."""
    if isinstance(wanted, dict) and isinstance(found, dict):
        return [line for name, value in wanted.items() for line in differences(value, found.get(name), f"{path}.{name}")]
    if isinstance(wanted, list) and isinstance(found, list):
        return [line for place, value in enumerate(wanted)
                for line in differences(value, found[place] if place < len(found) else None, f"{path}.{place}")]
    return [] if wanted == found and isinstance(wanted, bool) == isinstance(found, bool) else [f"{path} is {found!r}, not {wanted!r}"]


def judge(case, result):
    kind = next(kind for kind in ("answer", "refusal", "lost") if kind in case)
    if kind not in result:
        raise Failed(f"{case['says']}: {result}")
    found = [] if kind == "lost" else differences(case[kind], result[kind], kind)
    if found:
        raise Failed(f"{case['says']}: {'; '.join(found)}: {result}")


def lowered(headers):
    return {name.lower(): value for name, value in headers.items()}


def verify_signatures(client, table=TABLE):
    for case in table["signatures"]:
        headers = lowered(client.call("signed", *(case[name] for name in ("method", "path", "body", "key", "date")))["answer"])
        if headers["authorization"] != case["authorization"]:
            raise Failed(f"the signature of {case['method']} {case['path']} is {headers['authorization']}")
    for case in table["webhooks"]:
        result = client.call("isFromTender", *(case[name] for name in ("signature", "body", "secret")))
        if result.get("answer") is not case["isGenuine"]:
            raise Failed(f"{case['says']} is taken as {result}")
    return len(table["signatures"]) + len(table["webhooks"])


class Values:
    """What `$name` in the table stands for; `$token:2500:visa-debit` is a payment token."""

    def __init__(self, demo):
        self.demo = demo
        self.known = {"basket": secrets.token_hex(16), "other": secrets.token_hex(16), "reference": f"HK-{secrets.token_hex(4)}",
                      "since": (datetime.datetime.now(datetime.timezone.utc) - datetime.timedelta(minutes=1)).strftime("%FT%TZ")}

    def of(self, value):
        if isinstance(value, dict):
            return {name: self.of(member) for name, member in value.items()}
        if isinstance(value, list):
            return [self.of(element) for element in value]
        if not isinstance(value, str) or "$" not in value:
            return value
        if value.startswith("$token:"):
            amount, *card = value.removeprefix("$token:").split(":")
            port = int(self.demo.server.rpartition(":")[2])
            return json.dumps(shopper.token(port, f"{int(amount) / 100:.2f}", *card))
        if value[1:] in self.known:
            return self.known[value[1:]]
        for name in sorted(self.known, key=len, reverse=True):
            if isinstance(self.known[name], str):
                value = value.replace("$" + name, self.known[name])
        return value

    def keep(self, wanted, arguments, answer):
        for name, path in wanted.items():
            found = {"$arguments": arguments[0]} if path == "$arguments" else answer
            for step in [path] if path == "$arguments" else path.split("."):
                found = found[int(step)] if isinstance(found, list) else found[step]
            self.known[name] = found


def verify_calls(client, demo):
    values = Values(demo)
    for case in TABLE["calls"]:
        if "shopper" in case:
            shopper.pays_basket(demo.server, int(demo.server.rpartition(":")[2]), values.of(case["shopper"]))
        arguments = values.of(case["arguments"])
        result = client.call(case["call"], *arguments)
        wanted = {name: values.of(case[name]) for name in ("says", "answer", "refusal") if name in case}
        end = datetime.datetime.now() + datetime.timedelta(seconds=STILL)
        while case.get("waits") and not result.get("answer", {}).get("events") and datetime.datetime.now() < end:
            result = client.call(case["call"], *arguments)
        judge(wanted, result)
        values.keep(case.get("keep", {}), arguments, result.get("answer"))
    return len(TABLE["calls"])


class Script(http.server.ThreadingHTTPServer):
    """Answers each call as the case says: an answer, or a connection that ends without one, or after so many bytes of its body."""

    daemon_threads = True

    def __init__(self):
        self.arrived, self.answers = queue.Queue(), queue.Queue()
        super().__init__(("127.0.0.1", 0), Answering)
        threading.Thread(target=self.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server_port}"


class Answering(http.server.BaseHTTPRequestHandler):
    def answer(self):
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        self.server.arrived.put((self.command, self.path, lowered(self.headers), body))
        self.close_connection = True
        answer = "lost" if self.server.answers.empty() else self.server.answers.get()
        if answer == "lost":
            return self.connection.shutdown(socket.SHUT_RDWR)
        text = (answer["text"] if "text" in answer else json.dumps(answer["body"])).encode()
        self.send_response(answer["status"])
        for name, value in {**answer.get("headers", {}), "Content-Length": str(len(text)), "Connection": "close"}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(text[:answer.get("cut", len(text))])

    do_GET = do_PUT = do_POST = do_DELETE = answer

    def log_message(self, *words):
        pass


def verify_attempts(client, script):
    keys = set()
    for case in TABLE["attempts"]:
        for answer in case["answers"]:
            script.answers.put(answer)
        judge(case, client.call(case["call"], *case["arguments"]))
        calls = [script.arrived.get() for _ in range(script.arrived.qsize())]
        if len(calls) != len(case["answers"]):
            raise Failed(f"{case['says']}: {len(calls)} calls arrived")
        own = {headers.get("x-gcs-idempotence-key") for _, _, headers, _ in calls}
        is_question = {method for method, _, _, _ in calls} == {"GET"}
        if own != {None} if is_question else len(own) != 1 or own & {None, ""} or ("key" in case and own != {case["key"]}) or own & keys:
            raise Failed(f"{case['says']}: the keys are {own}")
        if len({(method, path, body) for method, path, _, body in calls}) != 1:
            raise Failed(f"{case['says']}: the repeats differ: {calls}")
        keys |= own - {None}
    return len(TABLE["attempts"])


def verify_mutants(client):
    """A table with a wrong signature, and one with a forged webhook that should be genuine, fail."""
    wrong = [{"signatures": [{**TABLE["signatures"][0], "body": "{}"}], "webhooks": []},
             {"signatures": [], "webhooks": [{**TABLE["webhooks"][2], "isGenuine": True}]}]
    for table in wrong:
        try:
            verify_signatures(client, table)
        except Failed:
            continue
        raise Failed("a wrong table passes")


def verify(language, demo):
    prepare, _ = LANGUAGES[language]
    with tempfile.TemporaryDirectory() as folder:
        command = prepare(pathlib.Path(folder))
        key, script = TABLE["key"], Script()
        with running(command, script.url, "harbour", key["id"], key["secret"]) as client:
            count = verify_signatures(client) + verify_attempts(client, script)
            verify_mutants(client)
        with running(command, demo.server, demo.merchant, demo.key_id, demo.secret) as client:
            count += verify_calls(client, demo)
        with running(command, demo.server, demo.merchant, demo.key_id, "another secret") as client:
            judge({"says": "is told that its key is wrong", "refusal": {"status": 403, "code": "ACCESS_TO_MERCHANT_NOT_ALLOWED"}},
                  client.call("basket", "0" * 32))
        environment = {**client.environment}
        del environment["SHOP_KEY_ID"]
        run = subprocess.run(command, env=environment, input="", capture_output=True, text=True, timeout=STILL, check=False)
        if run.returncode == 0 or "SHOP_KEY_ID" not in run.stdout + run.stderr:
            raise Failed(f"does not name a variable that is missing: {run}")
    print(f"  {language}: {count + 2} cases", flush=True)


def main():
    tender, *words = sys.argv[1:]
    names = [word for word in words if word != "--at-hand"] or list(LANGUAGES)
    if unknown := set(names) - set(LANGUAGES):
        sys.exit(f"clients: there is no {', '.join(sorted(unknown))}; there are {', '.join(LANGUAGES)}")
    missing = [name for name in names if not shutil.which(LANGUAGES[name][1])]
    if missing and "--at-hand" not in words:
        sys.exit(f"clients: {', '.join(missing)} not installed: scripts/install-prerequisites clients")
    if missing:
        print(f"clients: left out, because not installed: {', '.join(missing)}")
    names = [name for name in names if name not in missing]
    failures = []
    with demo_server.running(tender) as demo, concurrent.futures.ThreadPoolExecutor(2) as pool:
        for name, outcome in [(name, pool.submit(verify, name, demo)) for name in names]:
            try:
                outcome.result()
            except (Failed, OSError, KeyError) as error:
                failures.append(f"{name}: {error!r}")
    if failures:
        sys.exit("clients: " + "\n".join(failures))
    print(f"clients: {len(names)} languages agree")


if __name__ == "__main__":
    main()
