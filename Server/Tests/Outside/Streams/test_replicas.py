"""What replicas ask for: pages of users, and sets after a cursor, with which a copy is at every moment the state of one cursor."""

import json
import random
import signal

from support import POSTGRES, Server, TestCase, at, eventually, on_files, parse, served, sql, usertool

LINES = {"Accept": "application/jsonl"}
SYNC = ("/sync", "/sync/users", "/sync/changes", "/sync/push")
# A cursor of another database.
STRANGE = "v1-1234-3-5678"


def records(server):
    """All users as the API shows them, by id."""
    found, place = {}, None
    while True:
        page = server.get(at("/users", limit=1000, **({"after": place} if place else {})))
        found.update({user["id"]: user for user in page["users"]})
        place = page["next"]
        if place is None:
            return found


def add_many(server, count):
    """Adds users in one set of another program."""
    sql(server.database, "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ?) "
        "INSERT INTO users (name) SELECT 'user ' || i FROM n", (count,),
        postgres="INSERT INTO users (name) SELECT 'user ' || i FROM generate_series(1, ?) i")


class Follower:
    """A replica in a few lines: it keeps users, and applies pages and sets to them by value."""

    def __init__(self, server, users=None, between=lambda: None):
        self.server, self.users, self.between = server, users, between
        self.records, self.cursor, self.last, self.sets, self.events, self.purged = {}, None, None, [], [], []

    def send(self, path, within=60, headers={}, **query):
        method, body = ("GET", None) if self.users is None else ("POST", {"users": self.users})
        return self.server.request(method, at(path, **query), body, headers, within=within)

    def lines(self, path, within=60, **query):
        """The objects in the lines of a successful answer, whose end is there."""
        response = self.send(path, within, **{name: value for name, value in query.items() if value is not None})
        if response.status != 200:
            raise AssertionError(f"{path} {query}: {response}")
        *lines, rest = response.text.split("\n")
        found = [parse(line) for line in lines]
        if (rest, found[-1]["op"], response.headers["content-type"]) != ("", "end", "application/jsonl"):
            raise AssertionError(f"{path} {query}: {response}")
        return found

    def copy(self):
        """Copies the users, and follows to the state of the last page."""
        self.cursor, self.records, self.last = self.server.get("/sync")["cursor"], {}, None
        pages = 0
        while True:
            self.between()
            first, *users, end = self.lines("/sync/users", **{"from": self.cursor}, after=self.last)
            self.records.update({user["id"]: user for user in users})
            self.last = end["last"] if end["more"] else None
            pages += 1
            while self.revision(self.cursor) < self.revision(first["cursor"]):
                self.between()
                self.pull(also=first["cursor"])
            if not end["more"]:
                return pages

    def catch_up(self):
        while self.pull()["more"]:
            pass

    def pull(self, **query):
        """Applies the next page of sets; returns its end."""
        part = None
        while True:
            first, *entries, end = self.lines("/sync/changes", after=self.cursor, part=part, **query)
            assert (first["after"], first["part"], first["also"]) == (self.cursor, part, query.get("also")), first
            for entry in entries:
                self.apply(entry)
            part = end["part"]
            if part is None:
                self.cursor = end["cursor"]
                return end
            assert end["cursor"] == self.cursor, end
            query = {}

    def apply(self, entry):
        user = entry.get("user")
        match entry["op"]:
            case "set":
                self.sets.append(entry)
            case "event":
                self.events.append(entry)
            case "purged":
                self.purged.append(user)
            case _ if self.last is not None and user > self.last:
                # Its page will come.
                pass
            case "insert" if entry["attribute"] == "name":
                self.records[user] = {"id": user, "name": entry["new"], "hair_color": None}
            case "delete" if entry["attribute"] == "name":
                self.records.pop(user, None)
            case "insert" | "update" | "delete" if user in self.records:
                self.records[user][entry["attribute"]] = entry["new"]
                if entry["new"] is None and entry["attribute"] != "hair_color":
                    del self.records[user][entry["attribute"]]

    @staticmethod
    def revision(cursor):
        return int(cursor.split("-")[2], 16)


class ReplicasTestCase(TestCase):
    def assertCopied(self, follower, server):
        expected = {id: user for id, user in records(server).items() if follower.users is None or id in follower.users}
        self.assertEqual(list(sorted(follower.records)), sorted(expected))
        for id, user in expected.items():
            self.assertSame(sorted(follower.records[id].items()), sorted(user.items()))


class Copying(ReplicasTestCase):
    @served("--replicas")
    def test_an_empty_database(self, server):
        state = server.get("/sync")
        self.assertEqual(list(state), ["version", "identity", "cursor", "subject", "grant", "count", "limits", "purged"])
        self.assertRegex(state["identity"], "^[0-9a-f]{16}$")
        self.assertSame({**state, "identity": "", "cursor": ""},
                        {"version": 1, "identity": "", "cursor": "", "subject": "", "grant": "all", "count": 0,
                         "limits": {"users": 10000, "wait": 25}, "purged": []})
        self.assertEqual(state["cursor"], server.get("/about")["cursor"])
        follower = Follower(server)
        self.assertEqual(follower.copy(), 1)
        self.assertEqual((follower.records, follower.pull()["more"]), ({}, False))

    @served("--replicas")
    def test_values_are_exact(self, server):
        copied, followed = Follower(server), Follower(server)
        followed.copy()
        server.add("a\"\\\u2028 \u202e😀", hair_color="red", one=1, real=1.0, big=2**63 - 1, small=-2**63, inf=1e999,
                   data={"base64": "AP8="})
        if not POSTGRES:
            # Text that is not UTF-8.
            sql(server.database, "UPDATE users SET hair_color = CAST(x'4EFF' AS TEXT)")
            server.patch(1, zero="a\0b")
        copied.copy()
        for follower in (copied, followed):
            follower.catch_up()
            self.assertCopied(follower, server)
        server.patch(1, one=1.0, real=1, big=None, text="1", inf=-1e999, small=0.1)
        for follower in (copied, followed):
            follower.catch_up()
            self.assertCopied(follower, server)

    def write(self, server, numbers):
        """Writes something to one of the users, or adds or removes one."""
        user = numbers.choice([id for id, in sql(server.database, "SELECT id FROM users ORDER BY id")])
        match numbers.randrange(6):
            case 0:
                server.add("new", n=numbers.randrange(100))
            case 1:
                server.write("DELETE", f"/users/{user}", headers={"If-Match": "*"})
            case 2:
                # The same user again, with other attributes.
                server.write("DELETE", f"/users/{user}", headers={"If-Match": "*"})
                again = {"name": "again", "hair_color": None, "m": numbers.randrange(100)}
                server.write("PUT", f"/users/{user}", again, {"If-None-Match": "*"})
            case 3:
                server.patch(user, name=f"name {numbers.randrange(100)}", n=None)
            case _:
                server.patch(user, n=numbers.randrange(100), x=numbers.choice([1, 1.0, "1", None]))

    def copy_while_others_write(self, server, users):
        seed = random.randrange(1 << 30)
        numbers = random.Random(seed)
        with self.subTest(seed=seed, users=users and len(users)):
            follower = Follower(server, users, lambda: [self.write(server, numbers) for _ in range(3)])
            pages = follower.copy()
            for _ in range(20):
                self.write(server, numbers)
            follower.catch_up()
            self.assertEqual(follower.cursor, server.get("/about")["cursor"])
            self.assertCopied(follower, server)
            return pages

    @served("--replicas")
    def test_a_copy_while_others_write_is_the_state_of_its_last_cursor(self, server):
        for number in range(20):
            server.add(f"user {number}", text="x" * 300_000)
        self.assertGreater(self.copy_while_others_write(server, None), 2)

    @served("--replicas")
    def test_a_copy_of_some_users_while_others_write(self, server):
        for number in range(20):
            server.add(f"user {number}", text="x" * 300_000)
        self.assertGreater(self.copy_while_others_write(server, [-3, 1, 2, *range(4, 15), 21, 22, 23, 1 << 60]), 1)

    @served("--replicas")
    def test_a_page_has_a_thousand_users(self, server):
        add_many(server, 2_500)
        follower = Follower(server)
        self.assertEqual(follower.copy(), 3)
        self.assertCopied(follower, server)
        self.assertEqual(server.get("/sync")["count"], 2_500)
        some = Follower(server, list(range(-100, 2_400)))
        self.assertEqual(some.copy(), 3)
        self.assertCopied(some, server)

    @served("--replicas")
    def test_the_identity_of_the_records_stays_the_same(self, server):
        identity = server.get("/sync")["identity"]
        server.stop()
        server.start()
        self.assertEqual(server.get("/sync")["identity"], identity)
        if not POSTGRES:
            backup = str(server.folder / "backup.db")
            usertool("backup", backup, database=server.database)
            with Server("--replicas", database=backup) as other:
                self.assertEqual(other.get("/sync")["identity"], identity)


class Following(ReplicasTestCase):
    @served("--replicas")
    def test_sets_have_their_cursor_and_origin(self, server):
        follower = Follower(server)
        follower.copy()
        write = server.request("POST", "/users", {"name": "NIX"}, {"Change-Origin": "app"}).json()
        first, *entries, end = follower.lines("/sync/changes", after=follower.cursor)
        self.assertSame(first, {"op": "changes", "after": follower.cursor, "also": None, "part": None, "grant": "all"})
        self.assertEqual([(entry["op"], entry.get("attribute")) for entry in entries], [("insert", "name"), ("insert", "hair_color"), ("set", None)])
        self.assertSame({key: value for key, value in entries[0].items() if key != "at"},
                        {"op": "insert", "user": 1, "attribute": "name", "old": None, "new": "NIX"})
        self.assertSame(entries[-1], {"cursor": write["cursor"], "op": "set", "origin": "app"})
        self.assertSame(end, {"op": "end", "cursor": write["cursor"], "part": None, "more": False, "head": write["cursor"]})

    @served("--replicas")
    def test_a_subset_has_its_users_their_events_and_all_purges(self, server):
        for name in ("one", "two", "three"):
            server.add(name)
        everything, some = Follower(server), Follower(server, [1, 3])
        for follower in (everything, some):
            follower.copy()
        self.assertEqual(sorted(some.records), [1, 3])
        server.patch(1, n=1)
        server.patch(2, n=2)
        for event, members in (("about 1", {"user": 1}), ("about 2", {"user": 2}), ("about nobody", {})):
            server.post(event, **members)
        for user in (2, 3):
            server.write("DELETE", f"/users/{user}", headers={"If-Match": "*"})
            usertool("purge", str(user), "--yes", database=server.database)
        end = server.patch(2 - 1, n=3)["cursor"]
        # The subset may have had user 2 before.
        for follower, events, purged, sets in ((everything, ["about 1", "about 2", "about nobody"], [2, 3], 10), (some, ["about 1"], [2, 3], 6)):
            follower.catch_up()
            self.assertEqual([event["event"] for event in follower.events], events)
            self.assertEqual((follower.purged, follower.cursor, len(follower.sets)), (purged, end, sets))
            self.assertCopied(follower, server)
        self.assertEqual(server.get("/sync")["purged"], [2, 3])

    @served("--replicas")
    def test_a_set_that_is_hidden_has_no_line_and_moves_the_cursor(self, server):
        server.add()
        some = Follower(server, [7])
        some.copy()
        cursor = server.patch(1, n=1)["cursor"]
        first, end = some.lines("/sync/changes", after=some.cursor)
        self.assertEqual((first["after"], end["cursor"], end["more"]), (some.cursor, cursor, False))

    @served("--replicas")
    def test_a_huge_set_comes_in_parts(self, server):
        follower = Follower(server)
        follower.copy()
        server.add("before")
        before = server.get("/about")["cursor"]
        add_many(server, 2_500)
        after = server.get("/about")["cursor"]
        server.add("after")
        self.assertEqual((follower.pull()["cursor"], len(follower.sets)), (before, 1))
        part, ends, rows = None, [], []
        while not ends or part:
            first, *entries, end = follower.lines("/sync/changes", after=before, part=part)
            self.assertEqual((first["after"], first["part"]), (before, part))
            rows += [entry for entry in entries if entry["op"] == "insert"]
            ends.append([entry["cursor"] for entry in entries if entry["op"] == "set"])
            part = end["part"]
            if part:
                self.assertEqual((end["cursor"], end["more"]), (before, True))
        # Only the last part has the end of the set; the next set may follow.
        self.assertEqual(ends[:-1], [[]] * (len(ends) - 1))
        self.assertEqual(ends[-1][0], after)
        self.assertGreater(len(ends), 2)
        names = [row["new"] for row in rows if row["attribute"] == "name"]
        self.assertEqual(names[:2_500], [f"user {number}" for number in range(1, 2_501)])
        self.assertEqual(len(names), 2_499 + len(ends[-1]))
        follower.catch_up()
        self.assertEqual(len(follower.sets), 3)
        self.assertCopied(follower, server)

    @served("--replicas")
    def test_two_cursors_are_verified_in_one_read(self, server):
        follower = Follower(server)
        follower.copy()
        cursor = server.add()["cursor"]
        first, *_, end = follower.lines("/sync/changes", after=follower.cursor, also=cursor)
        self.assertEqual((first["also"], end["cursor"]), (cursor, cursor))
        self.assertProblem(follower.send("/sync/changes", after=follower.cursor, also=STRANGE), 409, "diverged")
        # It does not wait: its end is the end of the log.
        self.assertEqual(len(follower.lines("/sync/changes", after=cursor, also=cursor, wait=25, within=15)), 2)

    @served("--replicas")
    def test_full_pages_of_the_past_can_be_kept(self, server):
        follower = Follower(server)
        follower.copy()
        start = follower.cursor
        for _ in range(3):
            add_many(server, 600)
        full = follower.send("/sync/changes", after=start)
        self.assertTrue(full.text.endswith("\n") and parse(full.text.split("\n")[-2])["more"], full)
        tag = full.headers["etag"]
        self.assertRegex(tag, '^W/"[^"]+"$')
        self.assertEqual(full.headers["cache-control"], "public, no-cache")
        path = at("/sync/changes", after=start)
        for header in (tag, f'"x", {tag}', "*"):
            kept = server.request("GET", path, headers={"If-None-Match": header})
            self.assertEqual((kept.status, kept.body, kept.headers["etag"], kept.headers["cache-control"]),
                             (304, b"", tag, "public, no-cache"))
        for header in ('"x"', tag.replace(start, STRANGE)):
            again = server.request("GET", path, headers={"If-None-Match": header})
            self.assertEqual((again.status, again.body), (200, full.body))
        self.assertProblem(server.request("GET", path, headers={"If-None-Match": "x"}), 400, parameter="If-None-Match")
        self.assertEqual(server.request("GET", path, headers={"If-None-Match": tag}, token=False).status, 401)
        server.add()
        self.assertEqual(server.request("GET", path, headers={"If-None-Match": tag}).status, 304)
        end = server.get("/about")["cursor"]
        some = Follower(server, [1, 2])
        others = [server.request("GET", "/sync"), follower.send("/sync/users", **{"from": start}), follower.send("/sync/changes", after=end),
                  follower.send("/sync/changes", after=start, also=start), some.send("/sync/changes", after=start),
                  follower.send("/sync/changes", after=end, wait=1)]
        for response in others:
            self.assertEqual((response.status, response.headers["cache-control"], response.headers.get("etag")), (200, "no-store", None))


class Refusing(ReplicasTestCase):
    def assertRefused(self, server, cursor, status, code):
        for follower in (Follower(server), Follower(server, [1])):
            self.assertProblem(follower.send("/sync/changes", after=cursor), status, code)
            self.assertProblem(follower.send("/sync/changes", after=cursor, wait=25), status, code)
            self.assertProblem(follower.send("/sync/users", **{"from": cursor}), status, code)

    @served("--replicas")
    def test_a_cursor_of_another_database_is_diverged(self, server):
        server.add()
        for cursor in (STRANGE, "v1-1234-7fffffff-5678"):
            self.assertRefused(server, cursor, 409, "diverged")

    @on_files
    @served("--replicas")
    def test_a_cursor_from_before_a_restore_is_diverged(self, server):
        server.add()
        kept = server.get("/about")["cursor"]
        identity = server.get("/sync")["identity"]
        backup = str(server.folder / "backup.db")
        usertool("backup", backup, database=server.database)
        old = server.patch(1, age=1)["cursor"]
        usertool("restore", backup, "--yes", database=server.database)
        self.assertRefused(server, old, 409, "diverged")
        self.assertRefused(server, kept, 409, "diverged")
        self.assertEqual(server.get("/sync")["identity"], identity)
        follower = Follower(server)
        follower.copy()
        self.assertCopied(follower, server)

    @on_files
    @served("--replicas")
    def test_a_restore_ends_a_wait(self, server):
        server.add()
        backup = str(server.folder / "backup.db")
        usertool("backup", backup, database=server.database)
        cursor = server.patch(1, age=1)["cursor"]
        with server.connect() as raw:
            raw.send(server.head("GET", at("/sync/changes", after=cursor, wait=25), LINES))
            eventually(lambda: server.get("/about")["streams"] == 1, "it waits")
            usertool("restore", backup, "--yes", database=server.database)
            self.assertProblem(raw.response(within=15), 409, "diverged")

    @served("--replicas")
    def test_a_cursor_before_deleted_changes_is_compacted(self, server):
        old = server.add()["cursor"]
        server.patch(1, age=1)
        usertool("compact", "--keep", "0", database=server.database)
        self.assertRefused(server, old, 410, "compacted")

    @served("--replicas")
    def test_what_is_not_of_the_protocol_is_400(self, server):
        cursor = server.get("/sync")["cursor"]
        changes, users = at("/sync/changes", after=cursor), at("/sync/users", **{"from": cursor})
        for path in ("/sync?x=1", "/sync?wait=1", "/sync/users", "/sync/changes", users + "&limit=1", users + "&wait=1", changes + "&from=" + cursor,
                     changes + "&after=" + cursor, changes + "&wait=26", changes + "&wait=-1", changes + "&wait=x", changes + "&wait=",
                     changes + "&wait=1&wait=1", changes + "&also=x", changes + "&part=x", users + "&after=x", "/sync/changes?after=oldest",
                     "/sync/users?from="):
            with self.subTest(path=path):
                self.assertProblem(server.request("GET", path), 400)
        for body in (b"", b"{}", b"[]", b"null", b"x", b'{"users":[]}', b'{"users":[1,1]}', b'{"users":[2,1]}', b'{"users":["1"]}', b'{"users":[1.0]}',
                     b'{"users":[9223372036854775808]}', b'{"users":[1],"x":1}', json.dumps({"users": list(range(10_001))}).encode()):
            for path in (changes, changes + "&wait=25", users):
                with self.subTest(path=path, body=body[:40]):
                    self.assertProblem(server.request("POST", path, body), 400)
        self.assertProblem(server.request("GET", changes, {"users": [1]}), 400)
        self.assertEqual(server.request("POST", changes, {"users": list(range(10_000))}).status, 200)

    @served("--replicas")
    def test_a_body_has_at_most_256_kib(self, server):
        cursor = server.get("/sync")["cursor"]
        for path in (at("/sync/changes", after=cursor), at("/sync/changes", after=cursor, wait=1), at("/sync/users", **{"from": cursor})):
            body = b'{"users":[1]}' + b" " * (256 * 1024 - 13)
            self.assertEqual(server.request("POST", path, body).status, 200)
            self.assertProblem(server.request("POST", path, body + b" "), 413, "tooLarge")
            with server.connect() as raw:
                # In chunks, without a length.
                raw.send(server.head("POST", path, {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
                for _ in range(5):
                    raw.send(b"10000\r\n" + b" " * 65536 + b"\r\n")
                self.assertProblem(raw.response(), 413, "tooLarge")
            self.assertProblem(server.request("POST", path, b"x", {"Content-Type": "text/plain"}), 415)

    @served("--replicas")
    def test_the_guard_and_the_methods_are_those_of_every_resource(self, server):
        cursor = server.get("/sync")["cursor"]
        for path, methods in (("/sync", "GET, HEAD"), (at("/sync/users", **{"from": cursor}), "GET, HEAD, POST"),
                              (at("/sync/changes", after=cursor, wait=25), "GET, HEAD, POST")):
            self.assertProblem(server.request("GET", path, token=False), 401, "badToken")
            self.assertProblem(server.request("POST", path, {"users": [1]}, token=False), 401, "badToken")
            self.assertProblem(server.request("GET", path, headers={"Host": "evil.test"}), 421)
            self.assertProblem(server.request("GET", path, headers={"Origin": "https://evil.test"}), 403)
            self.assertProblem(server.request("GET", path, headers={"Accept": "text/html"}), 406)
            for method in ("PUT", "PATCH", "DELETE", *(["POST"] if "POST" not in methods else [])):
                response = server.request(method, path)
                self.assertProblem(response, 405, "methodNotAllowed")
                self.assertEqual(response.headers["allow"], methods)
            # It does not wait, and its connection goes on.
            with server.connect() as raw:
                for _ in range(2):
                    raw.send(server.head("HEAD", path))
                    response = raw.response(within=15, to="HEAD")
                    self.assertEqual((response.status, response.headers["cache-control"] in ("no-store", "no-store, no-transform"),
                                      int(response.headers["content-length"]) > 0), (200, True, True))
        for path in ("/sync/", "/sync/x", "/sync/users/1", "/sync/push/1"):
            self.assertProblem(server.request("GET", path), 404)

    @served()
    def test_without_the_option_there_is_nothing(self, server):
        for path in SYNC:
            for method in ("GET", "POST", "DELETE"):
                self.assertProblem(server.request(method, path), 404, "notFound")
        if not POSTGRES:
            self.assertEqual(sql(server.database, "SELECT count(*) FROM sqlite_master WHERE name = 'userstore_purged'"), [(0,)])
            server.stop()
            server.options = ["--replicas"]
            server.start()
            self.assertEqual(sql(server.database, "SELECT count(*) FROM sqlite_master WHERE name = 'userstore_purged'"), [(1,)])


class Waiting(ReplicasTestCase):
    def ask(self, server, path, users=None):
        """A connection that asks for changes and waits."""
        raw = server.connect()
        body = b"" if users is None else json.dumps({"users": users}).encode()
        fields = {} if users is None else {"Content-Type": "application/json", "Content-Length": len(body)}
        raw.send(server.head("GET" if users is None else "POST", path, {**LINES, **fields}) + body)
        return raw

    def streams(self, server, count):
        eventually(lambda: server.get("/about")["streams"] == count, f"{count} wait")

    def entries(self, raw, within=15):
        response = raw.response(within)
        self.assertEqual((response.status, response.headers["connection"]), (200, "close"), response)
        return [parse(line) for line in response.text.split("\n")[:-1]]

    @served("--replicas")
    def test_a_set_ends_the_wait(self, server):
        cursor = server.add()["cursor"]
        for users in (None, [1]):
            with self.ask(server, at("/sync/changes", after=cursor, wait=25), users) as raw:
                self.streams(server, 1)
                write = server.patch(1, n=len(users or []))
                first, change, set, end = self.entries(raw)
                self.assertEqual((first["after"], change["new"], set["cursor"], end["cursor"]),
                                 (cursor, len(users or []), write["cursor"], write["cursor"]))
                cursor = write["cursor"]
        with self.ask(server, at("/sync/changes", after=cursor, wait=25)) as raw:
            self.streams(server, 1)
            sql(server.database, "UPDATE users SET name = 'foreign'")
            self.assertEqual([entry["op"] for entry in self.entries(raw)], ["changes", "update", "set", "end"])

    @served("--replicas")
    def test_what_is_there_needs_no_wait(self, server):
        cursor = server.get("/sync")["cursor"]
        server.add()
        self.assertEqual(len(Follower(server).lines("/sync/changes", after=cursor, wait=25, within=15)), 5)

    @served("--replicas")
    def test_the_wait_ends_with_its_time(self, server):
        cursor = server.add()["cursor"]
        first, end = Follower(server).lines("/sync/changes", after=cursor, wait=1, within=20)
        self.assertEqual((first["after"], end["cursor"], end["more"], end["head"]), (cursor, cursor, False, cursor))

    @served("--replicas")
    def test_hidden_sets_do_not_end_the_wait_and_move_the_cursor(self, server):
        for _ in range(2):
            start = server.add()["cursor"]
        with self.ask(server, at("/sync/changes", after=start, wait=3), [1]) as raw:
            self.streams(server, 1)
            for number in range(3):
                hidden = server.patch(2, n=number)["cursor"]
            first, end = self.entries(raw)
            self.assertEqual((first["after"], end["cursor"], end["head"]), (start, hidden, hidden))
        with self.ask(server, at("/sync/changes", after=start, wait=25), [1]) as raw:
            self.streams(server, 1)
            server.patch(2, n=4)
            shown = server.patch(1, n=5)["cursor"]
            server.patch(2, n=6)
            first, change, set, end = self.entries(raw)
            self.assertEqual((first["after"], change["user"], set["cursor"]), (start, 1, shown))
            self.assertIn(end["cursor"], (shown, server.get("/about")["cursor"]))

    @served("--replicas")
    def test_a_client_that_goes_away_leaves_nothing(self, server):
        cursor = server.get("/sync")["cursor"]
        log = server.log
        for users in (None, [1]):
            for leave in ("close", "abort"):
                raws = [self.ask(server, at("/sync/changes", after=cursor, wait=25), users) for _ in range(5)]
                self.streams(server, 5)
                for raw in raws:
                    getattr(raw, leave)()
                eventually(lambda: server.get("/about")["streams"] == 0, "nobody waits", within=15)
        self.assertEqual(server.log, log)

    @served("--replicas")
    def test_the_end_of_the_server_ends_the_wait(self, server):
        cursor = server.get("/sync")["cursor"]
        path = at("/sync/changes", after=cursor, wait=25)
        with self.ask(server, path) as one, self.ask(server, path, [1]) as other:
            self.streams(server, 2)
            server.process.send_signal(signal.SIGTERM)
            for raw in (one, other):
                response = raw.response(within=15)
                self.assertProblem(response, 503, "shuttingDown")
                self.assertEqual(response.headers["retry-after"], "1")
        server.process.wait(15)
        self.assertEqual(server.process.returncode, 0)
        server.process.stdout.close()

    @served("--replicas")
    def test_those_who_wait_hold_up_nobody(self, server):
        server.add()
        cursor = server.get("/about")["cursor"]
        raws = [self.ask(server, at("/sync/changes", after=cursor, wait=25), users) for users in [None, [1], [2]] * 10]
        try:
            self.streams(server, 30)
            with server.stream("/changes?after=oldest") as stream:
                stream.wait("progress")
                self.assertEqual(Follower(server).copy(), 1)
                write = server.patch(1, n=1)
                self.assertEqual(stream.sets_until(write["revision"])[-1].id, write["cursor"])
            for number, raw in enumerate(raws):
                if number % 3 < 2:
                    self.assertEqual([entry["op"] for entry in self.entries(raw)], ["changes", "update", "set", "end"])
            self.streams(server, 10)
        finally:
            for raw in raws:
                raw.close()

    @served("--replicas", "--max-streams", "1")
    def test_those_who_wait_count_as_streams(self, server):
        cursor = server.get("/sync")["cursor"]
        path = at("/sync/changes", after=cursor, wait=25)
        with self.ask(server, path):
            self.streams(server, 1)
            self.assertProblem(server.request("GET", path), 503, "tooManyStreams")
            self.assertEqual(server.request("GET", at("/sync/changes", after=cursor)).status, 200)
        eventually(lambda: server.get("/about")["streams"] == 0, "nobody waits")


class Starting(ReplicasTestCase):
    def failure(self, server):
        """The message and the hint of a server that must not start; what it wrote before does not count."""
        before = server.log
        with self.assertRaises(AssertionError) as failure:
            server.start()
        self.assertIn("ended with 77", str(failure.exception))
        message, _, hint = server.log.removeprefix(before).rstrip("\n").partition("\nhint: ")
        return message, hint

    @on_files
    def test_a_database_that_is_only_read_needs_its_tables(self):
        with Server() as server:
            server.add()
            server.stop()
            server.options = ["--replicas", "--read-only"]
            message, hint = self.failure(server)
            self.assertIn(server.database, message)
            self.assertEqual(hint, "start userserver --replicas once without --read-only")
            server.options = ["--replicas"]
            server.start()
            server.stop()
            server.options = ["--replicas", "--read-only"]
            server.start()
            follower = Follower(server)
            follower.copy()
            self.assertCopied(follower, server)
