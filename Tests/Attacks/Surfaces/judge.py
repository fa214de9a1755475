"""Sends requests and judges what they do to a process: whether it ends, what each costs it, and whether an answer comes."""
import copy, os, re, select, socket, time

# Seconds of processor time that a request of at most 1 MiB may cost, as Tests/Attacks/CostFuzzer has it; ten times as much in a debug build.
BAR = 0.05 if os.environ.get("CONFIGURATION") == "release" else 0.5
# What is not answered for so many seconds of the server's processor time, or at all for so many of the wall's, is not answered.
SILENCE = 60


class Finding:
    def __init__(self, kind, request, detail):
        self.kind, self.request, self.detail = kind, request, detail

    def __str__(self):
        return f"{self.kind}: {self.request.name}: {self.detail}"


class Judge:
    """Of one process, which it starts again when it has ended."""

    def __init__(self, process, restart, address):
        """process: gives the process that runs now. address: a port, or the path of a socket."""
        self.process, self.restart, self.address = process, restart, address
        self.runs = self.answered = 0
        self.statuses = {}

    # Sending.
    def send(self, data):
        """The status of the answer: 0 for none, -1 when the time is over, for a key agent 1 for any answer."""
        family = socket.AF_INET if isinstance(self.address, int) else socket.AF_UNIX
        with socket.socket(family) as connection:
            try:
                connection.connect(("127.0.0.1", self.address) if family == socket.AF_INET else self.address)
                answer = exchanged(connection, memoryview(data))
            except OSError:
                answer = b""
        if answer is None:
            return -1
        # What asks for the body is no answer yet.
        while answer.startswith(b"HTTP/1.1 1"):
            answer = answer.partition(b"\r\n\r\n")[2]
        if not answer.startswith(b"HTTP/"):
            return 1 if answer else 0
        return int(answer[9:12])

    # Judging.
    @property
    def used(self):
        """Nanoseconds of processor time."""
        return time.clock_gettime_ns(~self.process().pid << 3 | 2)

    def until_idle(self):
        last, calm, begin = self.used, 0, time.monotonic()
        while calm < 2 and time.monotonic() - begin < SILENCE:
            time.sleep(0.0005)
            now = self.used
            calm, last = calm + 1 if now - last < 100_000 else 0, now

    def has_ended(self, patience=0.0):
        end = time.monotonic() + patience
        while self.process().poll() is None:
            if time.monotonic() >= end:
                return False
            time.sleep(0.005)
        return True

    def once(self, request):
        """What the request does, and its cost in seconds."""
        data = request.bytes()
        before = self.used
        status = self.send(data)
        self.runs += 1
        self.statuses[status] = self.statuses.get(status, 0) + 1
        if self.has_ended(0 if status > 0 else 0.05):
            return Finding("crash", request, f"the process ended with {self.process().returncode}"), 0
        try:
            self.until_idle()
            cost = (self.used - before) / 1e9
        except OSError:
            self.has_ended(5)
            return Finding("crash", request, f"the process ended with {self.process().returncode} after its answer"), 0
        if status == -1:
            return Finding("silence", request, f"no answer in {SILENCE} s, {cost:.1f} s of processor time"), cost
        if status == 500:
            return Finding("error", request, "500"), cost
        return None, cost

    def judge(self, request):
        """A finding, or None. What is over the bar is sent again, and its cheapest run counts: the server also does other things."""
        finding, cost = self.once(request)
        bar = BAR + request.allowed
        for _ in range(2):
            if finding or cost <= bar:
                return finding
            finding, again = self.once(request)
            cost = min(cost, again)
        return finding or (Finding("cost", request, f"{cost * 1000:.0f} ms of processor time for {len(request.bytes())} bytes")
                           if cost > bar else None)

    # Shrinking.
    def shrunk(self, finding, most=60):
        """The finding with a request that is as small as so many tries make it."""
        tries = 0
        for change in (without_header, without_part):
            step = 0
            while tries < most:
                smaller = change(finding.request, step)
                if smaller is None:
                    break
                tries += 1
                if self.has_ended():
                    self.restart()
                found = self.judge(smaller)
                if found and found.kind == finding.kind:
                    finding, step = found, max(0, step - 1)
                else:
                    step += 1
        return finding


def exchanged(connection, rest):
    """The answer; None when the time is over. It may refuse a request before it has all of it, and stop to read."""
    answer, end = b"", time.monotonic() + SILENCE
    connection.setblocking(False)
    while not is_whole(answer):
        left = end - time.monotonic()
        readable, writable, _ = select.select([connection], [connection] if rest is not None else [], [], max(0, left))
        if left <= 0:
            return None
        if readable:
            block = connection.recv(65_536)
            if not block:
                break
            answer += block
        elif writable and len(rest):
            rest = rest[connection.send(rest[:65_536]):]
        elif writable:
            connection.shutdown(socket.SHUT_WR)
            rest = None
    return answer


def is_whole(answer):
    """Whether all of an answer with a known length is there: a server may keep the connection of a request that it has not read to its end."""
    head, end, body = answer.partition(b"\r\n\r\n")
    length = re.search(rb"\r\ncontent-length: *(\d+)", head, re.I)
    return bool(end and length and len(body) >= int(length[1]))


def without_header(request, step):
    if step >= len(request.headers):
        return None
    smaller = copy.copy(request)
    smaller.headers = request.headers[:step] + request.headers[step + 1:]
    return smaller


def without_part(request, step):
    """The body without one of its parts: halves first, then quarters, and so on to bytes."""
    size, count = len(request.body), 2
    while step >= count:
        step, count = step - count, count * 2
    if not size or size // count == 0:
        return None
    smaller = copy.copy(request)
    begin, end = size * step // count, size * (step + 1) // count
    smaller.body = request.body[:begin] + request.body[end:]
    return smaller
