"""HTTP over a raw socket, with a deadline for every read, so that what does not come fails instead of hanging."""

import json
import re
import socket
import time

# Seconds until a wait fails: a limit for a busy machine, not what is expected.
DEADLINE = 30


class Late(AssertionError):
    """Something did not arrive in time."""


class Response:
    """An answer: its status, its headers by lowercase name, all headers in order, and its body."""

    def __init__(self, status, fields, body=b""):
        self.status = status
        self.fields = fields
        self.headers = {}
        for name, value in fields:
            key = name.lower()
            self.headers[key] = self.headers[key] + ", " + value if key in self.headers else value
        self.body = body

    @property
    def text(self):
        return self.body.decode()

    def json(self):
        """The body as JSON: integers are int, reals are float, and a name that comes twice is an error."""
        return parse(self.body)

    def __repr__(self):
        return f"{self.status} {self.body[:400]!r}"


def parse(text):
    """JSON as Python values; 1 and 1.0 stay an int and a float."""
    return json.loads(text, object_pairs_hook=members)


def members(pairs):
    names = [name for name, _ in pairs]
    if len(set(names)) != len(names):
        raise AssertionError(f"a member comes twice: {names}")
    return dict(pairs)


class Raw:
    """A connection that sends any bytes."""

    def __init__(self, host, port, receive_buffer=None):
        family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.socket = socket.socket(family, socket.SOCK_STREAM)
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.socket.settimeout(DEADLINE)
        self.socket.connect((host, port))
        self.buffer = b""
        self.is_over = False
        self.was_reset = False
        # After this many bytes, the connection is as good as broken; None for no limit.
        self.budget = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.socket.close()

    def abort(self):
        """Closes with a reset, as a crash of the client's machine would."""
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.socket.close()

    def send(self, data, within=DEADLINE):
        self.socket.settimeout(within)
        self.socket.sendall(data)

    def fill(self, until, what):
        """Reads once more; returns false at the end of the connection."""
        if self.is_over or self.budget == 0:
            return False
        left = until - time.monotonic()
        if left <= 0:
            raise Late(f"{what} did not arrive in time; the last bytes are {self.buffer[-300:]!r}")
        self.socket.settimeout(left)
        try:
            data = self.socket.recv(1 << 18 if self.budget is None else min(self.budget, 1 << 18))
        except TimeoutError:
            raise Late(f"{what} did not arrive in time; the last bytes are {self.buffer[-300:]!r}") from None
        except ConnectionError:
            data = b""
            self.was_reset = True
        self.is_over = data == b""
        if self.budget is not None:
            self.budget -= len(data)
        self.buffer += data
        return not self.is_over

    def until(self, mark, deadline, what):
        """The bytes up to and with a mark; None if the connection ends before it."""
        searched = 0
        while (place := self.buffer.find(mark, searched)) < 0:
            searched = max(0, len(self.buffer) - len(mark) + 1)
            if not self.fill(deadline, what):
                return None
        found, self.buffer = self.buffer[:place + len(mark)], self.buffer[place + len(mark):]
        return found

    def exactly(self, count, deadline, what):
        """A number of bytes; None if the connection ends before them."""
        parts, have = [self.buffer], len(self.buffer)
        while have < count:
            self.buffer = b""
            if not self.fill(deadline, what):
                self.buffer = b"".join(parts)
                return None
            parts.append(self.buffer)
            have += len(self.buffer)
        data = b"".join(parts)
        self.buffer = data[count:]
        return data[:count]

    def head(self, within=DEADLINE):
        """The status and the headers of an answer; None if the connection ends before them."""
        block = self.until(b"\r\n\r\n", time.monotonic() + within, "the head of the answer")
        if block is None:
            return None
        lines = block.decode("latin-1").split("\r\n")
        match = re.fullmatch(r"HTTP/1\.[01] (\d{3}) .*", lines[0])
        if not match:
            raise AssertionError(f"this is no status line: {lines[0]!r}")
        fields = [tuple(part.strip() for part in line.split(":", 1)) for line in lines[1:] if line]
        return Response(int(match[1]), fields)

    def response(self, within=DEADLINE, to="GET"):
        """A whole answer, also one before the request is complete; None if the connection ends before it."""
        response = self.head(within)
        while response and response.status == 100:
            response = self.head(within)
        if response is None:
            return None
        deadline = time.monotonic() + within
        if to == "HEAD" or response.status in (204, 304):
            return response
        if response.headers.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while part := self.chunk(deadline):
                parts.append(part)
            response.body = b"".join(parts)
        elif "content-length" in response.headers:
            response.body = self.exactly(int(response.headers["content-length"]), deadline, "the body") or b""
        else:
            while self.fill(deadline, "the end of the body"):
                pass
            response.body, self.buffer = self.buffer, b""
        return response

    def chunk(self, deadline, what="the rest of the body"):
        """The next chunk; empty after the last one, None if the connection ends before."""
        line = self.until(b"\r\n", deadline, what)
        if line is None:
            return None
        size = int(line.split(b";")[0], 16)
        data = self.exactly(size + 2, deadline, what)
        return None if data is None else data[:-2]

    def rest(self, within=DEADLINE):
        """Everything until the server closes the connection."""
        deadline = time.monotonic() + within
        while self.fill(deadline, "the end of the connection"):
            pass
        return self.buffer


class Event:
    """A server-sent event; `id` is None if it has none."""

    def __init__(self, kind, identifier, text):
        self.event = kind
        self.id = identifier
        self.text = text
        self.data = parse(text)

    def __repr__(self):
        return f"{self.event} {self.id} {self.text[:300]}"


class Stream:
    """An answer that goes on: an iterator of events, or of lines.

    `ending` is None while it goes on, `whole` after its last byte, and `cut` if the connection broke.
    """

    def __init__(self, raw, path):
        self.raw = raw
        self.path = path
        response = raw.head()
        if response is None:
            raise AssertionError(f"{path}: no answer")
        self.status, self.headers, self.fields = response.status, response.headers, response.fields
        self.ending = None
        self.retry = None
        self.last_id = None
        self.comments = 0
        self.seen = []
        self.text = bytearray()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.raw.close()

    def __iter__(self):
        return self

    def __next__(self):
        event = self.next_event(DEADLINE)
        if event is None:
            raise StopIteration
        return event

    def line(self, within=DEADLINE):
        """The next line without its end; None at the end of the stream."""
        deadline = time.monotonic() + within
        searched = 0
        while (place := self.text.find(b"\n", searched)) < 0:
            searched = len(self.text)
            what = f"{self.path}: something after {[event.event for event in self.seen[-5:]]} {bytes(self.text[-200:])!r}"
            part = None if self.ending else self.raw.chunk(deadline, what)
            if not part:
                self.ending = self.ending or ("cut" if part is None else "whole")
                return None
            self.text += part
        found = bytes(self.text[:place])
        del self.text[:place + 1]
        return found.removesuffix(b"\r")

    def next_event(self, within):
        """The next event; None at the end of the stream. An event that is cut off does not count."""
        deadline = time.monotonic() + within
        kind, identifier, data = "message", None, []
        while (line := self.line(deadline - time.monotonic())) is not None:
            if line == b"":
                if identifier is not None:
                    self.last_id = identifier
                if data:
                    event = Event(kind, identifier, "\n".join(data))
                    self.seen.append(event)
                    return event
                kind, identifier, data = "message", None, []
                continue
            name, _, value = line.decode().partition(":")
            value = value.removeprefix(" ")
            match name:
                case "":
                    self.comments += 1
                case "event":
                    kind = value
                case "data":
                    data.append(value)
                case "id":
                    identifier = value
                case "retry":
                    self.retry = int(value)
                case _:
                    raise AssertionError(f"{self.path}: an event has no field {name!r}")
        return None

    def wait(self, *kinds, within=DEADLINE, until=lambda event: True):
        """The next event of some kinds for which the condition holds; others are passed over."""
        deadline = time.monotonic() + within
        while True:
            try:
                event = self.next_event(deadline - time.monotonic())
            except Late as late:
                raise Late(f"no event {kinds} within {within} s: {late}") from None
            if event is None:
                raise AssertionError(f"{self.path}: the stream ended ({self.ending}) before {kinds}: {self.seen[-3:]}")
            if event.event in kinds and until(event):
                return event

    def set(self, within=DEADLINE):
        """The next change set, whole: the last event of it, with the changes of all its parts."""
        parts = []
        deadline = time.monotonic() + within
        while True:
            event = self.wait("changes", within=deadline - time.monotonic())
            parts += event.data["changes"]
            if event.data.get("last"):
                event.data["changes"] = parts
                return event

    def sets_until(self, revision, within=DEADLINE):
        """The change sets through a revision."""
        sets = []
        deadline = time.monotonic() + within
        while not sets or sets[-1].data["revision"] < revision:
            sets.append(self.set(deadline - time.monotonic()))
        return sets

    def end(self, within=DEADLINE):
        """Reads to the end of the stream; returns the events that came."""
        deadline = time.monotonic() + within
        events = []
        while (event := self.next_event(deadline - time.monotonic())) is not None:
            events.append(event)
        return events

    def lines_to_end(self, within=DEADLINE):
        """All lines to the end of the stream."""
        deadline = time.monotonic() + within
        lines = []
        while (line := self.line(deadline - time.monotonic())) is not None:
            lines.append(line)
        return lines
