"""Pages of a test's own, on an origin of their own: a web server on a free port of this machine."""

import contextlib
import http.server
import mimetypes
import pathlib
import threading


@contextlib.contextmanager
def serve(pages, headers=None):
    """Serves `{path: text, bytes or file}` while the context lasts, and gives the origin: `http://localhost:…`.

    A path ends in the type's extension, `/page.html`; `headers` are sent with every answer.
    """

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            page = pages.get(self.path.split("?")[0])
            body = page.read_bytes() if isinstance(page, pathlib.Path) else page
            body = body.encode() if isinstance(body, str) else body
            self.send_response(404 if body is None else 200)
            self.send_header("Content-Type", mimetypes.guess_type(self.path.split("?")[0])[0] or "text/html")
            self.send_header("Cache-Control", "no-store")
            for name, value in (headers or {}).items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body or b"")

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://localhost:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
