"""Whatever clients ask for counts towards `--max-memory`: every operation of the description, many times at once."""

import json
import select

from support import LONG, Server, TestCase, at, eventually, long, served, sql

MIB = 1 << 20
# How many clients read or write at the same time, and how large a value is: together more than the limit, and without a limit
# more than the test lets pass.
READERS = 24
WRITERS = 40
SIZE = 4 * MIB
JSON = {"Content-Type": "application/json"}
JSONL = {"Content-Type": "application/jsonl"}
EVENTS = {"Accept": "text/event-stream"}


def small(method, path, body=None, **headers):
    """The same request for every client."""
    return lambda number: (method, path, body, headers)


def pushed(number):
    """A set of a replica with a large value."""
    lines = [{"op": "push", "identity": "IDENTITY", "subject": "", "producer": f"{number + 1}", "cursor": "OLDEST", "decided": 0},
             {"op": "set", "user": 1, "attribute": "text", "value": "x" * SIZE}, {"op": "end", "number": 1, "nonce": f"{number}", "origin": None}]
    return "".join(json.dumps(line) + "\n" for line in lines).encode()


# What a client asks for in each operation of the description, by the number of the client. OLDEST is the start of the log.
OPERATIONS = {
    "GET /": [small("GET", "/")],
    "GET /screens": [small("GET", "/screens")],
    "GET /log": [small("GET", "/log")],
    "GET /pulse": [small("GET", "/pulse")],
    "GET /health": [small("GET", "/health")],
    "GET /openapi.json": [small("GET", "/openapi.json")],
    "GET /about": [small("GET", "/about")],
    "GET /consumers": [small("GET", "/consumers")],
    "GET /users": [lambda number: ("GET", at("/users", where=f"n>{-number}", count="true"), None, {})],
    "GET /users/{id}": [small("GET", "/users/1")],
    "GET /lists": [
        # Each list is another one, and so is what it keeps beyond its limit.
        lambda number: ("GET", at("/lists", where=f"n>{-number}"), None, EVENTS),
        lambda number: ("GET", at("/lists", where=f"n>{-number}", limit=1), None, EVENTS),
    ],
    "GET /changes": [
        small("GET", "/changes?after=oldest", Accept="text/event-stream"),
        small("GET", "/changes?after=oldest", Accept="application/jsonl"),
        small("GET", "/changes?after=oldest", Accept="application/json"),
        small("GET", "/changes?after=oldest&wait=25", Accept="application/json"),
    ],
    "GET /replicas": [small("GET", "/replicas")],
    "GET /metrics": [small("GET", "/metrics")],
    "GET /sync": [small("GET", "/sync")],
    "GET /sync/users": [small("GET", "/sync/users?from=OLDEST")],
    "POST /sync/users": [small("POST", "/sync/users?from=OLDEST", {"users": [1, 2, 3]}, **JSON)],
    "GET /sync/changes": [small("GET", "/sync/changes?after=OLDEST"), small("GET", "/sync/changes?after=OLDEST&wait=25")],
    "POST /sync/changes": [
        small("POST", "/sync/changes?after=OLDEST", {"users": [1, 2, 3]}, **JSON),
        # The body and its ids count while it waits.
        small("POST", "/sync/changes?after=OLDEST&wait=25", {"users": list(range(1, 10_001))}, **JSON),
    ],
    "POST /sync/push": [lambda number: ("POST", "/sync/push", pushed(number), JSONL)],
    "POST /users": [lambda number: ("POST", "/users", {"name": "x", "text": "x" * SIZE}, JSON)],
    "PUT /users/{id}": [lambda number: ("PUT", "/users/1", {"name": "x", "text": "x" * SIZE}, {**JSON, "If-Match": "*"})],
    "PATCH /users/{id}": [
        # The answer to a small body is large, and so is that to a conflict.
        lambda number: ("PATCH", "/users/1", {"set": {"small": number}}, JSON),
        small("PATCH", "/users/1", {"set": {"n": 1}, "expect": {"text": "other"}}, **JSON),
    ],
    "DELETE /users/{id}": [lambda number: ("DELETE", f"/users/{2 + number}", None, {"If-Match": "*"})],
    "POST /changes/{revision}/undo": [small("POST", "/changes/1/undo")],
    "POST /events": [lambda number: ("POST", "/events", {"event": "x", "payload": "x" * SIZE}, JSON)],
}


class EveryOperation(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = cls.enterClassContext(Server("--replicas", "--max-memory", "64"))
        with cls.server.stream("/changes?after=oldest&limit=1", accept="application/jsonl") as stream:
            cls.oldest = stream.headers["change-cursor"]
        cls.identity = cls.server.get("/sync")["identity"]
        for number in range(16):
            cls.server.add(f"u{number}", n=number)
        sql(cls.server.database, "INSERT INTO attributes SELECT id, 'text', hex(zeroblob(?)) FROM users", (SIZE // 2,),
            postgres="INSERT INTO attributes (user_id, name, text) SELECT id, 'text', repeat('00', ?) FROM users")

    def test_all_are_here(self):
        description = self.server.request("GET", "/openapi.json").json()
        documented = {f"{method.upper()} {path}" for path, item in description["paths"].items()
                      for method in item if method != "parameters"}
        self.assertEqual(documented, set(OPERATIONS), "an operation is not tested")

    def test_a_page_of_users(self):
        self.ask(["GET /users"], READERS)

    def test_other_reading(self):
        self.ask([name for name in OPERATIONS if name.startswith("GET") and name != "GET /users"], READERS)

    def test_some_users_for_replicas(self):
        # What is refused needs no memory; all answers together would have more than the test lets pass.
        self.ask([name for name in OPERATIONS if name.startswith("POST /sync")], 3 * READERS)

    @long
    def test_writing(self):
        self.ask([name for name in OPERATIONS if not name.startswith(("GET", "POST /sync"))], WRITERS)

    def ask(self, names, count):
        for name in names:
            for request in OPERATIONS[name]:
                with self.subTest(operation=name, request=str(request(0))[:200]):
                    self.ask_at_once(request, count)

    def ask_at_once(self, request, count):
        """Sends a request from many clients that read nothing but the head of the answer."""
        server = self.server
        before = server.memory
        server.forget_peak_memory()
        raws = [server.connect(receive_buffer=4096) for _ in range(count)]
        try:
            for number, raw in enumerate(raws):
                method, path, body, headers = request(number)
                data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
                data = data.replace(b"OLDEST", self.oldest.encode(), 1).replace(b"IDENTITY", self.identity.encode(), 1)
                fields = {**headers, **({"Content-Length": len(data)} if data else {})}
                raw.socket.setblocking(False)
                raw.pending = server.head(method, path.replace("OLDEST", self.oldest), fields) + data
            self.send(raws)
            for raw in raws:
                raw.head(within=120)
            self.assertLess(server.peak_memory - before, 320 * MIB)
        finally:
            for raw in raws:
                raw.abort()
        eventually(lambda: server.get("/about", within=60)["streams"] == 0, "streams remain", within=60)

    def send(self, raws):
        """Sends what is pending in all connections, as far as the server takes it."""
        waiting = {raw.socket: raw for raw in raws}
        while waiting:
            _, writable, _ = select.select([], list(waiting), [], 20)
            if not writable:
                return
            for one in writable:
                raw = waiting[one]
                try:
                    raw.pending = raw.pending[one.send(raw.pending[:MIB]):]
                except OSError:
                    # It was refused before its end.
                    raw.pending = b""
                if not raw.pending:
                    del waiting[one]


class Memory(TestCase):
    def fill(self, server, count, size):
        """Adds users, each of whom has a text of a size in bytes."""
        for number in range(count):
            server.add(f"u{number}")
        self.set_texts(server, size)

    def set_texts(self, server, size):
        sql(server.database, f"INSERT INTO attributes SELECT id, 'text', hex(zeroblob({size // 2})) FROM users",
            postgres=f"INSERT INTO attributes (user_id, name, text) SELECT id, 'text', repeat('0', {size}) FROM users")

    @served("--max-memory", "64")
    def test_the_log_that_slow_clients_wait_for_counts(self, server):
        server.add()
        with server.connect() as raw:
            for number in range(600):
                body = json.dumps({"set": {"text": chr(97 + number % 26) * 4096}}).encode()
                raw.send(server.head("PATCH", "/users/1", {**JSON, "Content-Length": len(body)}) + body)
                self.assertEqual(raw.response().status, 200)
        before = server.memory
        streams = []
        try:
            for _ in range(128):
                streams.append(server.stream("/changes?after=oldest", receive_buffer=4096))
            # Each has a mebibyte of changes to send, or was closed because there is no room for it.
            for stream in streams:
                stream.wait("changes", "closing", within=60)
            self.assertLess(server.memory - before, 144 * MIB)
        finally:
            for stream in streams:
                stream.close()

    @served("--max-memory", "64")
    def test_many_streams_of_one_list_count_its_rows_once(self, server):
        self.fill(server, 3, 2 * MIB)
        streams = []
        try:
            # 6 MiB of rows, and for each stream the 2 MiB of text that it is sending.
            for _ in range(16):
                streams.append(server.stream("/lists?sort=id", receive_buffer=4096))
            self.assertEqual({stream.status for stream in streams}, {200})
        finally:
            for stream in streams:
                stream.close()
        eventually(lambda: server.get("/about")["streams"] == 0, "streams remain")
        # The rows of the last stream are released.
        with server.stream("/lists?sort=id") as stream:
            stream.wait("progress")

    @served("--max-memory", "64")
    def test_old_versions_that_slow_streams_hold_count(self, server):
        self.fill(server, 20, MIB)
        streams = []
        try:
            # Each stops to read in another version, of which every row of a MiB differs. Those that find no room are closed.
            for number in range(15 if LONG else 6):
                streams.append(server.stream("/lists?sort=id", receive_buffer=4096))
                # Without a limit, the peak of few versions is small, but no stream is closed.
                if streams[-1].wait("rows", "closing").event == "rows":
                    self.assertLessEqual(server.get("/about")["streams"], 3, "versions of 20 MiB")
                revision = server.get("/about")["revision"]
                sql(server.database, f"UPDATE attributes SET value = value || '{number % 10}'",
                    postgres=f"UPDATE attributes SET text = text || '{number % 10}'")
                eventually(lambda: server.get("/about")["revision"] > revision, "the server has the change")
            self.assertLess(server.peak_memory, 320 * MIB)
        finally:
            for stream in streams:
                stream.close()
        eventually(lambda: server.get("/about")["streams"] == 0, "streams remain")
        with server.stream("/lists?sort=id") as stream:
            stream.wait("progress")

    @served("--max-memory", "64")
    def test_a_list_that_grows_is_closed_and_its_memory_is_free(self, server):
        for number in range(20):
            server.add(f"u{number}")
        with server.stream("/lists?sort=id&heartbeat=1") as stream:
            stream.wait("progress")
            self.set_texts(server, 4 * MIB)
            self.assertEqual(stream.end(within=120)[-1].data, {"reason": "overloaded"})
        eventually(lambda: server.request("GET", "/users/1").status == 200, "the memory of the list is free")
