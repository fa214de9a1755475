"""What the judges of providers' libraries share: a running sandbox, a server that records, and claims."""
import contextlib
import http.server
import os
import pathlib
import queue
import subprocess
import sys
import tempfile
import threading
import time
import urllib.request

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "Support"))
import free_ports  # noqa: E402

# What every HTTP client sends.
TRANSPORT = {"host", "content-length"}
# What takes longer than so many seconds hangs, also on a machine that is slow.
STILL = 600


class Failed(Exception):
    pass


def check(claim, holds, detail=""):
    if not holds:
        raise Failed(f"{claim}: {detail}")
    print(f"  {claim}")


class Server:
    """Records what arrives, as method, path, headers and bytes, and answers it."""

    def __init__(self, answer=b"{}", status=200):
        self.arrived, self.answer = queue.Queue(), answer
        recorder = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def respond(self):
                body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
                headers = {name.lower(): value for name, value in self.headers.items()}
                answer = recorder.receive(self.command, self.path, headers, body)
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(answer)))
                self.end_headers()
                self.wfile.write(answer)

            do_GET = do_POST = respond

            def log_message(self, *words):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"

    def receive(self, method, path, headers, body):
        """The body of the answer: the same for every call."""
        self.arrived.put((method, path, headers, body))
        return self.answer


def wait_until_up(origin, process):
    end = time.monotonic() + STILL
    while True:
        if process.poll() is not None:
            raise Failed("tender-sandbox sandbox ended")
        try:
            return urllib.request.urlopen(origin + "/sandbox/ca.json", timeout=STILL).close()
        except OSError as trouble:
            if time.monotonic() > end:
                raise Failed(f"tender-sandbox sandbox does not answer: {trouble}") from None
            time.sleep(0.1)


@contextlib.contextmanager
def sandbox():
    """A sandbox with an empty folder: its origin, the program TENDER, and a folder for the judge."""
    tender = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as directory:
        port = free_ports.row(2)
        origin = f"http://127.0.0.1:{port}"
        process = subprocess.Popen(
            [f"{tender}-sandbox", "sandbox", "--port", str(port), "--directory", f"{directory}/sandbox"],
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            wait_until_up(origin, process)
            yield origin, tender, directory
        finally:
            process.terminate()
            process.wait()


def run(name, main):
    """Runs the judge, and ends with what did not hold."""
    try:
        main()
    except Failed as failure:
        sys.exit(f"{name}: {failure}")
