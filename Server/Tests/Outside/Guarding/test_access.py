"""What the holders of tokens may do: each operation, for each kind of token."""

import concurrent.futures
import contextlib
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

from support import DEADLINE, USERSERVER, Server, TestCase, Writer, at, eventually, on_files

ISSUER, AUDIENCE = "https://issuer.example.com", "https://users.example.com"
# A stream that begins after the expiry, on a slow machine, ends when the tolerated difference of clocks is over.
LATE = 30 + DEADLINE
JSONL = {"Content-Type": "application/jsonl", "Accept": "application/jsonl"}
# Their parts that clients choose; everything else is that of the description.
PARTS = {"{id}": "1", "{revision}": "1"}
# What needs no token.
OPEN = {"GET /", "GET /screens", "GET /log", "GET /pulse", "GET /health", "GET /openapi.json"}
WRITES = {"POST /users": "add", "PUT /users/{id}": "write", "PATCH /users/{id}": "write", "DELETE /users/{id}": "write",
          "POST /changes/{revision}/undo": "write", "POST /events": "write", "POST /sync/push": "write"}

# What only the server's own token opens.
OPERATES = {"GET /consumers", "GET /metrics", "GET /replicas"}


class Issuer:
    """Keys in a folder, and tokens that they sign."""

    def __init__(self):
        self.folder = Path(tempfile.mkdtemp(prefix="userserver-keys-"))
        self.key("key")
        shutil.copy(self.folder / "key.pub", self.folder / "accepted")

    def key(self, name):
        self.run("key", str(self.folder / name))

    @staticmethod
    def run(*arguments):
        return subprocess.run([USERSERVER, "token", *arguments], check=True, capture_output=True, text=True, timeout=60).stdout.strip()

    def token(self, *rights, subject="ann", key="key", issuer=ISSUER, audience=AUDIENCE, lasts="1h"):
        return self.run("issue", "--key", str(self.folder / key), "--issuer", issuer, "--audience", audience, "--subject", subject,
                        "--for", lasts, *rights)

    @property
    def options(self):
        return ["--access-key", str(self.folder / "accepted"), "--access-issuer", ISSUER, "--access-audience", AUDIENCE]

    def withdraw(self, name="other"):
        """Lets the server accept another key only, in one step."""
        self.key(name)
        (self.folder / f"{name}.pub").rename(self.folder / "accepted")

    def remove(self):
        shutil.rmtree(self.folder, ignore_errors=True)


READER = ("--read", "all")
EDITOR = ("--write", "all")
OWNER = ("--write", "all", "--add")


class AccessCase(TestCase):
    OPTIONS = []

    def setUp(self):
        self.issuer = Issuer()
        self.addCleanup(self.issuer.remove)
        self.server = Server("--replicas", *self.OPTIONS, *self.issuer.options)
        self.server.__enter__()
        self.addCleanup(lambda: self.server.__exit__(None, None, None))

    def token(self, *rights, **settings):
        return self.issuer.token(*rights, **settings)


class Threats(TestCase):
    def test_each_test_that_the_page_names_is_there(self):
        outside = Path(__file__).parents[1]
        page = (outside.parents[1] / "Threats.md").read_text()
        tests = {path.name: path.read_text() for path in outside.rglob("test_*.py")}
        text = "".join(tests.values())
        for name in re.findall(r"`(test_[a-z0-9_]+)`", page):
            self.assertIn(f"def {name}(", text)
        for name in re.findall(r"`(test_[a-z0-9_]+[.]py)`", page):
            self.assertIn(name, tests)


class Operations(AccessCase):
    """The description of the API lists every operation, which other tests verify."""

    def operations(self):
        paths = self.server.request("GET", "/openapi.json").json()["paths"]
        for path, item in paths.items():
            for method in item:
                if method != "parameters":
                    yield method.upper(), path

    def ask(self, method, path, token):
        """The status and the code of an answer; of a stream, only its head is read."""
        address = path
        for part, value in PARTS.items():
            address = address.replace(part, value)
        body = {"POST": b"{}", "PUT": b"{}", "PATCH": b"{}"}.get(method)
        headers = {"Content-Type": "application/json"} if body else {}
        if path == "/sync/push":
            headers = JSONL
        if path == "/lists":
            address, headers = at("/lists", timeout=1), {"Accept": "text/event-stream"}
        if path == "/sync/users":
            address = at("/sync/users", **{"from": self.cursor})
        if path == "/sync/changes":
            address = at("/sync/changes", after=self.cursor)
        response = self.server.request(method, address, body, headers, token=token)
        code = response.json()["code"] if "problem" in (response.headers.get("content-type") or "") else None
        return response.status, code

    def test_each_operation_asks_what_the_token_allows(self):
        self.server.add()
        self.cursor = self.server.get("/about")["cursor"]
        refused = {
            "none": None, "of nobody": "wrong" * 8,
            "another issuer": self.token(*OWNER, issuer="https://evil.example.com"),
            "another audience": self.token(*OWNER, audience="https://evil.example.com")}
        self.issuer.key("foreign")
        refused["another key"] = self.token(*OWNER, key="foreign")
        allowed = {"nothing": set(), "read": {"read"}, "edit": {"read", "write"}, "own": {"read", "write", "add"}}
        tokens = {"nothing": self.token(), "read": self.token(*READER), "edit": self.token(*EDITOR), "own": self.token(*OWNER)}
        count = 0
        for method, path in self.operations():
            name = f"{method} {path}"
            if name in OPEN:
                continue
            count += 1
            need = "operate" if name in OPERATES else WRITES.get(name, "read")
            with self.subTest(name, token="the server's own"):
                self.assertNotIn(self.ask(method, path, True)[0], (401, 403))
            for kind, token in refused.items():
                with self.subTest(name, token=kind):
                    self.assertEqual(self.ask(method, path, token), (401, "badToken"))
            for kind, token in tokens.items():
                with self.subTest(name, token=kind):
                    status, code = self.ask(method, path, token)
                    if need in allowed[kind]:
                        self.assertNotIn(status, (401, 403), code)
                    else:
                        self.assertEqual((status, code), (403, "forbidden"))
        self.assertGreaterEqual(count, 19, "what is tested")

    def test_an_addition_by_PUT_needs_the_right_to_add(self):
        put = lambda token: self.server.request("PUT", "/users/77", {"name": "x"}, {"If-None-Match": "*"}, token=token).status
        self.assertEqual([put(self.token(*EDITOR)), put(self.token(*OWNER))], [403, 201])

    def test_a_token_in_an_address_has_no_effect_and_is_not_logged(self):
        token = self.token(*OWNER)
        for path in (at("/users", token=token), at("/users", access_token=token), f"/about?{token}", f"/{token}"):
            self.assertProblem(self.server.request("GET", path, token=False), 401, "badToken")
        forged = token[:-4] + "AAAA"
        for path, sent in ((at("/users", where=token), token), (f"/{token}", token), ("/users", forged)):
            self.server.request("GET", path, token=sent)
        self.assertEqual(self.server.stop(), 0)
        for part in (token, token.rpartition(".")[2], forged.rpartition(".")[2]):
            self.assertNotIn(part, self.server.log)

    def test_the_single_token_still_opens_everything(self):
        self.assertEqual(self.server.add()["user"]["name"], "NIX")


class Origins(AccessCase):
    def test_the_subject_is_the_origin_whatever_the_client_says(self):
        ann, bob = self.token(*OWNER), self.token(*OWNER, subject="bob")
        headers = {"Change-Origin": "somebody else"}
        user = self.server.request("POST", "/users", {"name": "x"}, headers, token=ann).json()["user"]["id"]
        self.server.request("PATCH", f"/users/{user}", {"set": {"age": 1}}, headers, token=bob)
        self.server.request("POST", "/events", {"event": "hello", "user": user}, headers, token=bob)
        self.server.request("PATCH", f"/users/{user}", {"set": {"age": 2}}, headers)
        with self.server.stream("/changes?after=oldest") as stream:
            origins = [stream.wait("changes").data["origin"] for _ in range(4)]
        self.assertEqual(origins, ["ann", "bob", "bob", "somebody else"])

    def test_a_set_of_a_replica_is_written_for_its_subject_and_in_its_name(self):
        ann, bob, editor = self.token(*OWNER), self.token(*OWNER, subject="bob"), self.token(*EDITOR)
        state = self.server.request("GET", "/sync", token=ann).json()
        self.assertEqual(state["subject"], "ann")

        def push(subject, token, number, *rows):
            lines = [{"op": "push", "identity": state["identity"], "subject": subject, "producer": "7", "cursor": state["cursor"],
                      "decided": 0}, *rows, {"op": "end", "number": number, "nonce": str(10_000 + number), "origin": "own"}]
            body = "".join(json.dumps(line) + "\n" for line in lines).encode()
            return self.server.request("POST", "/sync/push", body, JSONL, token=token)

        added = {"op": "add", "user": -5, "name": "x"}
        self.assertProblem(push("ann", bob, 1, added), 403, "wrongSubject")
        self.assertEqual(json.loads(push("ann", editor, 1, added).text.splitlines()[0])["result"], "forbidden")
        self.assertEqual(json.loads(push("ann", ann, 2, added).text.splitlines()[0])["result"], "accepted")
        with self.server.stream("/changes?after=oldest") as stream:
            self.assertEqual(stream.wait("changes").data["origin"], "ann")


class Shares(AccessCase):
    OPTIONS = ["--max-streams", "8"]

    def test_a_person_has_a_quarter_of_the_streams(self):
        ann, bob = self.token("--read", "all"), self.token("--read", "all", subject="bob")
        with contextlib.ExitStack() as streams:
            for token in (ann, ann, bob):
                stream = streams.enter_context(self.server.stream("/changes", token=token))
                self.assertEqual(stream.status, 200)
            self.assertProblem(self.server.request("GET", "/changes", None, {"Accept": "text/event-stream"}, token=ann), 503, "tooManyStreams")
            for _ in range(4):
                self.assertEqual(streams.enter_context(self.server.stream("/changes")).status, 200)
            self.assertEqual(streams.enter_context(self.server.stream("/changes", token=bob)).status, 200)
        eventually(lambda: self.server.get("/about")["streams"] == 0, "streams stay counted")
        with self.server.stream("/changes", token=ann) as stream:
            self.assertEqual(stream.status, 200)


class Rates(AccessCase):
    OPTIONS = ["--requests-per-minute", "60"]

    def test_each_person_may_send_so_many_requests_in_a_minute(self):
        ann, bob = self.token(*READER), self.token(*READER, subject="bob")
        ask = lambda token, path="/about": self.server.request("GET", path, token=token)
        # Another token of the same person has the same limit, and so have all addresses. One more is accepted each second.
        for token, path in ((ann, "/about"), (self.token(*OWNER), "/users"), (ann, "/nowhere")):
            answers = (ask(token, path) for _ in range(600))
            limited = next(answer for answer in answers if answer.status not in (200, 404))
            self.assertProblem(limited, 429, "tooManyRequests")
            self.assertEqual(limited.headers["retry-after"], "1")
        self.assertEqual(ask(bob).status, 200)
        for _ in range(61):
            self.assertEqual(self.server.request("GET", "/about").status, 200)
        eventually(lambda: ask(ann).status == 200, "another request is accepted")


class Ends(AccessCase):
    def last_event(self, stream):
        """The reason of the end of an event stream."""
        return stream.wait("closing", within=LATE).data["reason"]

    def test_a_stream_ends_when_its_token_expires_or_its_key_is_withdrawn(self):
        self.server.add()
        short = self.token(*READER, lasts="3s")
        long = self.token(*READER)
        for path in ("/lists", "/changes?after=oldest"):
            with self.server.stream(path, token=short) as stream:
                self.assertEqual(self.last_event(stream), "token", path)
            short = self.token(*READER, lasts="3s")
        with self.server.stream("/changes?after=oldest", accept="application/jsonl", token=self.token(*READER, lasts="2s")) as stream:
            while stream.line(within=LATE) is not None:
                pass
            self.assertEqual(stream.ending, "whole")
        with self.server.stream("/lists", token=long) as stream:
            self.issuer.withdraw()
            self.assertEqual(self.last_event(stream), "token")
        self.assertEqual(self.server.request("GET", "/users", token=long).status, 401)
        self.assertEqual(self.server.request("GET", "/users", token=self.token(*READER, key="other")).status, 200)

    def test_nothing_is_written_after_the_key_of_a_request_was_withdrawn(self):
        token, body = self.token("--add"), json.dumps({"name": "late"}).encode()
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body)), "Expect": "100-continue"}
        with self.server.connect() as slow:
            slow.send(self.server.head("POST", "/users", headers, token))
            self.assertEqual(slow.head().status, 100)
            self.issuer.withdraw()
            eventually(lambda: self.server.request("GET", "/users", token=token).status == 401, "the key is refused")
            slow.send(body)
            self.assertEqual(slow.head().status, 401)
        self.assertEqual(self.server.get("/users", token=True)["users"], [])

    @on_files
    def test_a_set_of_a_replica_is_not_written_after_the_key_was_withdrawn(self):
        token = self.token("--add", subject="ann")
        state = self.server.request("GET", "/sync", token=token).json()
        lines = [{"op": "push", "identity": state["identity"], "subject": "ann", "producer": "7", "cursor": state["cursor"], "decided": 0},
                 {"op": "add", "user": -5, "name": "late"}, {"op": "end", "number": 1, "nonce": "10001", "origin": None}]
        body = "".join(json.dumps(line) + "\n" for line in lines).encode()
        with concurrent.futures.ThreadPoolExecutor() as threads, Writer(self.server.database) as other:
            # The push waits for the other program, or comes later.
            other.run("BEGIN IMMEDIATE")
            push = threads.submit(self.server.request, "POST", "/sync/push", body, JSONL, token=token)
            self.issuer.withdraw()
            eventually(lambda: self.server.request("GET", "/users", token=token).status == 401, "the key is refused")
            other.run("COMMIT")
            self.assertProblem(push.result(), 401, "badToken")
        self.assertEqual(self.server.get("/users", token=True)["users"], [])

    def test_a_replica_that_waits_is_answered_when_its_token_ends(self):
        self.server.add()
        token = self.token(*READER)
        state = self.server.request("GET", "/sync", token=token).json()
        with concurrent.futures.ThreadPoolExecutor() as threads:
            waiting = threads.submit(
                self.server.request, "GET", at("/sync/changes", after=state["cursor"], wait=25), headers={"Accept": "application/jsonl"}, token=token)
            # Also before the request arrives.
            self.issuer.withdraw()
            self.assertProblem(waiting.result(), 401, "badToken")
