"""A proxy on this machine between one browser and Tender. It can be cut, held up, or made to lose an answer, while the
server runs on and the other browsers are not affected."""

import contextlib
import socket
import threading

STEP = 65536


class Proxy:
    """Accepts connections on a port of its own and carries them to the server's."""

    def __init__(self, port):
        self.target = ("127.0.0.1", port)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.is_cut = False
        self.flows = threading.Event()
        self.flows.set()
        self.losing = None  # how the request begins whose answer is to be lost
        self.unanswered = None  # the connection that waits for that answer
        self.lost = threading.Event()
        self.pairs = set()
        self.lock = threading.Lock()
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        self.listener.close()
        self.mend()

    # Faults

    def cut(self):
        """Breaks all connections, open ones and new ones."""
        self.is_cut = True
        self.hang_up()

    def hold(self):
        """From now on nothing moves, in either direction, and no connection is closed: a server that has stopped."""
        self.flows.clear()

    def mend(self):
        """Restores the connection; held data arrives."""
        self.is_cut = False
        self.losing = self.unanswered = None
        self.flows.set()

    def lose_answer(self, beginning):
        """The next request that begins so, `POST /applepay/payment `, arrives; its answer does not, and from then on
        the proxy is cut. `lost` is set when it happened."""
        self.lost.clear()
        self.losing = beginning.encode()

    @contextlib.contextmanager
    def gone(self, how="cut"):
        """While this lasts, the server is gone: `cut` or `hold`."""
        getattr(self, how)()
        try:
            yield self
        finally:
            self.mend()

    # Forwarding

    def accept(self):
        while True:
            try:
                browser, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.carry, args=(browser,), daemon=True).start()

    def carry(self, browser):
        if self.is_cut:
            return reset(browser)
        try:
            server = socket.create_connection(self.target)
        except OSError:
            return reset(browser)
        pair = (browser, server)
        with self.lock:
            self.pairs.add(pair)
        threading.Thread(target=self.pump, args=(browser, server, pair, True), daemon=True).start()
        self.pump(server, browser, pair, False)

    def pump(self, source, sink, pair, is_request):
        try:
            while data := source.recv(STEP):
                self.flows.wait()
                if is_request and self.losing and data.startswith(self.losing):
                    self.losing, self.unanswered = None, pair
                elif not is_request and self.unanswered is pair:
                    self.unanswered = None
                    self.cut()
                    self.lost.set()
                if self.is_cut:
                    break
                sink.sendall(data)
            self.end(pair, quietly=True)
        except OSError:
            self.end(pair)

    def hang_up(self):
        with self.lock:
            pairs = set(self.pairs)
        for pair in pairs:
            self.end(pair)

    def end(self, pair, quietly=False):
        with self.lock:
            if pair not in self.pairs:
                return
            self.pairs.discard(pair)
        for one in pair:
            close(one) if quietly else reset(one)


def close(one):
    with contextlib.suppress(OSError):
        one.shutdown(socket.SHUT_RDWR)
    one.close()


def reset(one):
    """The other side gets a reset, as of a machine that lost its memory."""
    with contextlib.suppress(OSError):
        one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        one.shutdown(socket.SHUT_RDWR)
    one.close()
