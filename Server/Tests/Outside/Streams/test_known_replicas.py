"""What the server knows of its replicas: who they are, how far behind, and what they were refused."""

import contextlib
import json
import sqlite3

from support import TestCase, at, eventually, served, sql, usertool
from test_replicas import LINES, STRANGE, Follower

HEADER = "Userstore-Replica"
MEMBERS = ["producer", "subject", "state", "behind", "at", "refusals", "users", "cursor"]


class KnownTestCase(TestCase):
    def known(self, server):
        replicas = server.get("/replicas")
        self.assertEqual(list(replicas), ["replicas"])
        for replica in replicas["replicas"]:
            self.assertEqual(list(replica), MEMBERS)
            self.assertRegex(replica["at"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        return replicas["replicas"]

    def ask(self, server, path, producer, **settings):
        return server.request("GET", path, headers={HEADER: str(producer)}, **settings)


class Known(KnownTestCase):
    @served("--replicas")
    def test_a_replica_is_shown_as_its_last_request_was(self, server):
        self.assertEqual(self.known(server), [])
        start = server.add()["cursor"]
        server.patch(1, n=1)
        end = server.patch(1, n=2)["cursor"]
        largest = str(2**63 - 1)
        steps = [("/sync", "copying", None), (at("/sync/users", **{"from": start}), "copying", start),
                 (at("/sync/changes", after=start, also=end), "copying", start), (at("/sync/changes", after=start), "following", start),
                 (at("/sync/changes", after=end), "following", end)]
        for path, state, cursor in steps:
            self.assertEqual(self.ask(server, path, largest).status, 200)
            behind = cursor and Follower.revision(end) - Follower.revision(cursor)
            [replica] = self.known(server)
            self.assertSame({**replica, "at": ""}, {"producer": largest, "subject": "", "state": state, "behind": behind, "at": "",
                                                     "refusals": 0, "users": None, "cursor": cursor})
        # Who asks without the header is no replica, and who sends other ids has a subset.
        Follower(server, [1, 7]).copy()
        self.assertEqual(len(self.known(server)), 1)
        server.request("POST", at("/sync/changes", after=end), {"users": [1, 7]}, {HEADER: "5"})
        self.assertEqual([(replica["producer"], replica["users"]) for replica in self.known(server)], [("5", 2), (largest, None)])
        newest = server.patch(1, n=3)["cursor"]
        distance = Follower.revision(newest) - Follower.revision(end)
        self.assertEqual([replica["behind"] for replica in self.known(server)], [distance, distance])

    @served("--replicas")
    def test_one_that_waits_is_listening(self, server):
        cursor = server.add()["cursor"]
        with server.connect() as raw:
            raw.send(server.head("GET", at("/sync/changes", after=cursor, wait=25), {**LINES, HEADER: "7"}))
            eventually(lambda: [replica["state"] for replica in self.known(server)] == ["listening"], "it waits")
            server.patch(1, n=1)
            self.assertEqual(raw.response(within=15).status, 200)
        self.assertEqual([replica["state"] for replica in self.known(server)], ["following"])
        with server.connect() as raw:
            raw.send(server.head("GET", at("/sync/changes", after=server.get("/about")["cursor"], wait=25), {**LINES, HEADER: "7"}))
            eventually(lambda: [replica["state"] for replica in self.known(server)] == ["listening"], "it waits")
        eventually(lambda: [replica["state"] for replica in self.known(server)] == ["following"], "it has gone")

    @served("--replicas")
    def test_refusals_count_and_nobody_is_added_without_the_token(self, server):
        cursor = server.add()["cursor"]
        self.ask(server, at("/sync/changes", after=cursor), 7)
        for path in (at("/sync/changes", after=STRANGE), at("/sync/users", **{"from": STRANGE})):
            self.assertProblem(self.ask(server, path, 7), 409, "diverged")
        self.assertEqual([(replica["refusals"], replica["behind"]) for replica in self.known(server)], [(2, None)])
        for producer in (7, 8):
            self.assertProblem(self.ask(server, "/sync", producer, token=False), 401, "badToken")
            self.assertProblem(self.ask(server, "/sync", producer, token="wrong"), 401, "badToken")
        # Not a request of a replica.
        self.assertProblem(self.ask(server, "/users", 7, token=False), 401, "badToken")
        self.assertEqual([(replica["producer"], replica["refusals"]) for replica in self.known(server)], [("7", 4)])

    @served("--replicas")
    def test_a_number_that_is_none_is_400(self, server):
        cursor = server.get("/sync")["cursor"]
        for path in ("/sync", at("/sync/users", **{"from": cursor}), at("/sync/changes", after=cursor), at("/sync/changes", after=cursor, wait=25)):
            for text in ("", "0", "-1", "+1", "01", "1.0", "0x1", "x", str(2**63), "1, 2", "1" * 200):
                with self.subTest(path=path, text=text[:30]):
                    self.assertProblem(self.ask(server, path, text), 400)
            with server.connect() as raw:
                raw.send(server.head("GET", path, {HEADER: "1\r\n" + HEADER + ": 2"}))
                self.assertProblem(raw.response(), 400)
        self.assertEqual(self.known(server), [])

    @served("--replicas")
    def test_a_cache_need_not_know_who_asks(self, server):
        start = server.get("/sync")["cursor"]
        for _ in range(3):
            sql(server.database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 600) "
                "INSERT INTO users (name) SELECT 'user' FROM n",
                postgres="INSERT INTO users (name) SELECT 'user' FROM generate_series(1, 600)")
        path = at("/sync/changes", after=start)
        answers = [self.ask(server, path, producer) for producer in (7, 8)] + [server.request("GET", path)]
        tag = answers[0].headers["etag"]
        for answer in answers:
            headers = {name: value for name, value in answer.headers.items() if name != "date"}
            self.assertEqual((answer.status, answer.body, headers),
                             (200, answers[0].body, {name: value for name, value in answers[0].headers.items() if name != "date"}))
            self.assertNotIn("vary", answer.headers)
        # A page that a cache passes on is asked for too: the cache asks the server whether it may.
        kept = server.request("GET", path, headers={"If-None-Match": tag, HEADER: "9"})
        self.assertEqual((kept.status, kept.body), (304, b""))
        self.assertEqual([replica["producer"] for replica in self.known(server)], ["9", "8", "7"])

    @served("--replicas")
    def test_the_guard_is_that_of_every_resource(self, server):
        self.assertProblem(server.request("GET", "/replicas", token=False), 401, "badToken")
        self.assertProblem(server.request("GET", "/replicas", headers={"Host": "evil.test"}), 421)
        self.assertProblem(server.request("GET", "/replicas", headers={"Origin": "https://evil.test"}), 403)
        self.assertProblem(server.request("GET", "/replicas", headers={"Accept": "text/html"}), 406)
        self.assertProblem(server.request("GET", "/replicas?x=1"), 400)
        self.assertProblem(server.request("GET", "/replicas", {"users": [1]}), 400)
        self.assertProblem(server.request("POST", "/replicas", {}), 405, "methodNotAllowed")
        self.assertProblem(server.request("GET", "/replicas/"), 404)
        response = server.request("GET", "/replicas")
        self.assertEqual((response.headers["content-type"], response.headers["cache-control"]), ("application/json", "no-store"))

    @served()
    def test_without_the_option_there_is_nothing(self, server):
        self.assertProblem(server.request("GET", "/replicas"), 404, "notFound")


class Tool(KnownTestCase):
    @served("--replicas")
    def test_usertool_follows_and_lists(self, server):
        token = server.folder / "token"
        token.write_text(server.token + "\n")
        server.add()
        copies = [str(server.folder / f"{name}.db") for name in ("one", "two")]
        for copy in copies:
            usertool("follow", server.url, "--once", "--token-file", str(token), database=copy)

        def listed(*options, status=0):
            return usertool("replicas", server.url, "--token-file", str(token), *options, database="unused", status=status)

        known = self.known(server)
        self.assertEqual([json.loads(line) for line in listed().splitlines()], known)
        with contextlib.ExitStack() as stack:
            files = [stack.enter_context(contextlib.closing(sqlite3.connect(copy))) for copy in copies]
            numbers = [str(file.execute("SELECT producer FROM userstore_replica").fetchone()[0]) for file in files]
        self.assertEqual([(replica["producer"], replica["behind"], replica["state"]) for replica in known],
                         [(number, 0, "following") for number in numbers[::-1]])
        self.assertEqual(listed("--format", "csv").splitlines()[0], ",".join(MEMBERS))
        token.write_text("wrong")
        listed(status=1)
        self.assertEqual(self.known(server), known)
