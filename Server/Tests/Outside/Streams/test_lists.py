"""Lists that stay current: the rows, and the steps that turn them into the next rows."""

import os
import random
import time

from support import DEADLINE, LONG, TestCase, at, on_files, served, sql, usertool


def fnv(rows):
    """The hash of the ids in order."""
    number = 2166136261
    for byte in ",".join(str(row["id"]) for row in rows).encode():
        number = (number ^ byte) * 16777619 & 0xFFFFFFFF
    return f"{number:08x}"


class Rows:
    """The rows of a list as a client keeps them."""

    def __init__(self, test, stream):
        self.test = test
        self.stream = stream
        self.rows = []
        self.revision = None
        self.resets = []
        self.collected = None

    def apply(self, event):
        """Takes an event; returns whether the rows are those of a revision now."""
        match event.event:
            case "hello":
                return False
            case "reset":
                self.resets.append(event.data["reason"])
                return False
            case "rows":
                self.collected = (self.collected or []) + event.data["rows"]
                if not event.data.get("last"):
                    return False
                self.rows, self.collected = self.collected, None
            case "steps":
                self.test.assertTrue(event.data["steps"])
                for step in event.data["steps"]:
                    self.step(step)
            case "progress":
                self.test.assertSame((event.data["count"], event.data["hash"]), (len(self.rows), fnv(self.rows)))
            case _:
                self.test.fail(f"{event}")
        self.revision = event.data["revision"]
        return True

    def step(self, step):
        match step["op"]:
            case "insert":
                self.test.assertIn(step["at"], range(len(self.rows) + 1))
                self.rows.insert(step["at"], step["user"])
            case "remove":
                del self.rows[step["at"]]
            case "move":
                row = self.rows.pop(step["from"])
                self.test.assertEqual(row["id"], step["user"]["id"])
                self.test.assertIn(step["to"], range(len(self.rows) + 1))
                self.rows.insert(step["to"], step["user"])
            case "update":
                row = self.rows[step["at"]]
                self.test.assertEqual(row["id"], step["user"]["id"])
                names = [name for name in {**row, **step["user"]} if repr(row.get(name)) != repr(step["user"].get(name))]
                self.test.assertEqual(set(step["changed"]), set(names))
                self.rows[step["at"]] = step["user"]
            case other:
                self.test.fail(f"there is no step {other}")

    def next(self, deadline):
        """Takes the next event; returns it if the rows are those of a revision now."""
        event = self.stream.next_event(deadline - time.monotonic())
        self.test.assertIsNotNone(event, "the stream ended")
        return event if self.apply(event) else None

    def until(self, revision, within=DEADLINE):
        """Takes events until the rows are those of a revision."""
        deadline = time.monotonic() + within
        while self.revision is None or self.revision < revision or self.collected is not None:
            self.next(deadline)


class Lists(TestCase):
    @served()
    def test_a_list_begins_with_hello_the_rows_and_a_hash(self, server):
        server.add("NIX", age=41)
        server.add("Zoë", age=17)
        end = server.add("Ada", age=36.5)
        with server.stream(at("/lists", where="age>=18", sort="name")) as stream:
            self.assertTrue(stream.headers["content-type"].startswith("text/event-stream"))
            self.assertEqual(stream.headers["x-accel-buffering"], "no")
            hello, rows, progress = next(stream), next(stream), next(stream)
            self.assertEqual((stream.retry, [event.event for event in stream.seen]), (1000, ["hello", "rows", "progress"]))
            self.assertSame(hello.data,
                            {"store": server.get("/about")["store"], "revision": end["revision"], "heartbeat": 15, "version": 1})
            expected = server.get(at("/users", where="age>=18", sort="name"))["users"]
            self.assertSame(rows.data, {"revision": end["revision"], "rows": expected, "last": True})
            self.assertSame(progress.data, {"revision": end["revision"], "count": 2, "hash": fnv(expected)})

    @served()
    def test_the_hash_of_an_empty_list_is_that_of_no_bytes(self, server):
        with server.stream("/lists") as stream:
            self.assertSame(stream.wait("rows").data, {"revision": 0, "rows": [], "last": True})
            self.assertSame(stream.wait("progress").data, {"revision": 0, "count": 0, "hash": "811c9dc5"})

    @served()
    def test_steps_say_what_happened_to_a_row(self, server):
        server.add("b", age=2)
        server.add("a", age=1)
        with server.stream("/lists?sort=age") as stream:
            stream.wait("progress")
            write = server.patch(1, age=2.0, room=1)
            event = stream.wait("steps")
            self.assertEqual(event.data["revision"], write["revision"])
            [step] = event.data["steps"]
            self.assertSame({**step, "changed": sorted(step["changed"])},
                            {"op": "update", "at": 1, "user": write["user"], "changed": ["age", "room"]})
            write = server.patch(2, age=3)
            self.assertSame(stream.wait("steps").data["steps"], [{"op": "move", "from": 0, "to": 1, "user": write["user"]}])
            write = server.add("c", age=0)
            self.assertSame(stream.wait("steps").data["steps"], [{"op": "insert", "at": 0, "user": write["user"]}])
            sql(server.database, "DELETE FROM users WHERE id = 1")
            self.assertSame(stream.wait("steps").data["steps"], [{"op": "remove", "at": 1}])

    @served()
    def test_many_steps_come_in_parts(self, server):
        with server.stream("/lists?sort=id") as stream:
            stream.wait("progress")
            sql(server.database, "WITH RECURSIVE n (n) AS (VALUES (1) UNION ALL SELECT n + 1 FROM n WHERE n < 100) "
                "INSERT INTO users (name) SELECT hex(zeroblob(8192)) || n FROM n",
                postgres="INSERT INTO users (name) SELECT repeat('00', 8192) || n FROM generate_series(1, 100) AS n")
            events = [stream.wait("steps").data]
            while "last" not in events[-1]:
                events.append(stream.wait("steps").data)
        self.assertEqual(len(events), 2, "1.6 MiB")
        self.assertEqual([step["at"] for event in events for step in event["steps"]], list(range(100)))

    @served()
    def test_steps_lead_to_what_a_query_finds_after_each_revision(self, server):
        seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        print(f"\n{self.id()}: SEED={seed}")
        source = random.Random(seed)
        queries = [
            [], [("where", "age>=5"), ("sort", "age:desc"), ("sort", "name")], [("sort", "name"), ("limit", "5")],
            [("with", "room"), ("sort", "room"), ("limit", "8")], [("without", "room"), ("where", "name*=1"), ("sort", "id:desc")],
        ]
        expected = [{} for _ in queries]
        streams = [server.stream(at("/lists", *query, heartbeat=1)) for query in queries]
        try:
            lists = [Rows(self, stream) for stream in streams]
            for rows in lists:
                rows.until(0)
            for number in range(150 if LONG else 40):
                self.write(server, source, number)
                for query, versions in zip(queries, expected):
                    page = server.get(at("/users", *query))
                    versions[page["revision"]] = page["users"]
            for query, rows, versions in zip(queries, lists, expected):
                # A write that changes nothing in a list may come without an event.
                end = max(revision for revision in versions if revision == 0 or self.changes(versions, revision))
                deadline = time.monotonic() + 20
                while rows.revision < end:
                    event = rows.next(deadline)
                    if event and event.event in ("steps", "rows"):
                        self.assertIn(rows.revision, versions, (query, event))
                        self.assertSame(rows.rows, versions[rows.revision], (query, rows.revision))
                self.assertSame(rows.rows, versions[max(versions)], query)
                self.assertEqual(rows.resets, [])
        finally:
            for stream in streams:
                stream.close()

    def changes(self, versions, revision):
        """Whether the rows at a revision are not those before it."""
        before = max(other for other in [0, *versions] if other < revision)
        return repr(versions[revision]) != repr(versions.get(before, []))

    def write(self, server, source, number):
        users = [user for (user,) in sql(server.database, "SELECT id FROM users")]
        kind = source.randrange(8) if len(users) > 2 else 0
        user = source.choice(users) if users else None
        match kind:
            case 0 | 1:
                server.add(f"u{source.randrange(20)}", age=source.randrange(10),
                           **({"room": source.randrange(4)} if source.random() < 0.5 else {}))
            case 2 | 3:
                server.patch(user, age=source.choice([source.randrange(10), float(source.randrange(10)), None, "text"]))
            case 4:
                server.patch(user, name=f"u{source.randrange(20)}", room=source.choice([None, source.randrange(4)]))
            case 5:
                server.write("DELETE", f"/users/{user}", headers={"If-Match": "*"})
            case 6:
                sql(server.database, "UPDATE users SET name = name || '1' WHERE id % 3 = ?", (source.randrange(3),))
            case 7:
                sql(server.database, "UPDATE attributes SET value = value + ? WHERE name = 'age' AND typeof(value) = 'integer'",
                    (source.choice([-1, 1]),),
                    postgres="UPDATE attributes SET integer = integer + ? WHERE name = 'age' AND integer IS NOT NULL")

    @served()
    def test_a_limit_is_filled_up_from_the_rows_behind_it(self, server):
        for name in "abcdef":
            server.add(name)
        with server.stream("/lists?sort=name&limit=3") as stream:
            rows = Rows(self, stream)
            rows.until(1)
            self.assertEqual([row["name"] for row in rows.rows], ["a", "b", "c"])
            end = server.write("DELETE", "/users/1", headers={"If-Match": "*"})["revision"]
            rows.until(end)
            self.assertEqual([row["name"] for row in rows.rows], ["b", "c", "d"])

    @served()
    def test_a_list_starts_after_a_place(self, server):
        for name in "abcdef":
            server.add(name)
        place = server.get("/users?sort=name:desc&limit=2")["next"]
        path = at("/lists", sort="name:desc", limit=3, after=place)
        with server.stream(path) as stream:
            rows = Rows(self, stream)
            rows.until(1)
            self.assertEqual([row["name"] for row in rows.rows], ["d", "c", "b"])
            rows.until(server.add("cc")["revision"])
            self.assertEqual([row["name"] for row in rows.rows], ["d", "cc", "c"])
            server.add("z")

    @served()
    def test_large_rows_come_in_parts(self, server):
        for number in range(4):
            server.add(f"u{number}", text=str(number) * (400 << 10))
        with server.stream("/lists") as stream:
            parts = []
            while not parts or not parts[-1].data.get("last"):
                parts.append(stream.wait("rows"))
            self.assertGreater(len(parts), 1)
            self.assertTrue(all(len(part.text) <= (1 << 20) + 4096 for part in parts))
            self.assertEqual(len({part.data["revision"] for part in parts}), 1)
            self.assertEqual([row["name"] for part in parts for row in part.data["rows"]], ["u0", "u1", "u2", "u3"])

    @served("--heartbeat", "1s")
    def test_progress_has_the_count_and_the_hash_at_every_heartbeat(self, server):
        with server.stream("/lists?sort=name&limit=2") as stream:
            rows = Rows(self, stream)
            rows.until(0)
            for name in ("c", "a", "b", "0"):
                self.assertEqual(len(self.verified(rows, server.add(name)["revision"])), min(2, server.get("/about")["users"]))

    def verified(self, rows, revision):
        """The rows when a progress event has verified them at a revision."""
        deadline = time.monotonic() + DEADLINE
        while (event := rows.next(deadline)) is None or event.event != "progress" or rows.revision < revision:
            pass
        return rows.rows

    @served()
    def test_a_huge_change_of_all_rows_arrives(self, server):
        usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n:04}"}}\n' for n in range(1500)))
        with server.stream("/lists?sort=name&limit=1000") as stream:
            rows = Rows(self, stream)
            rows.until(1)
            sql(server.database, "UPDATE users SET name = 'v' || (2000 - id)")
            page = server.get("/users?sort=name&limit=1000")
            rows.until(page["revision"])
            self.assertSame(rows.rows, page["users"])

    @on_files
    @served()
    def test_a_restore_resets_a_list_and_the_rows_come_again(self, server):
        server.add("NIX")
        backup = str(server.folder / "backup.db")
        usertool("backup", backup, database=server.database)
        server.add("Zoë")
        with server.stream("/lists") as stream:
            rows = Rows(self, stream)
            rows.until(1)
            self.assertEqual(len(rows.rows), 2)
            usertool("restore", backup, "--yes", database=server.database)
            reset = stream.wait("reset")
            self.assertSame(reset.data, {"reason": "diverged"})
            self.assertEqual([row["name"] for row in stream.wait("rows").data["rows"]], ["NIX"])
            write = server.add("Ada")
            self.assertSame(stream.wait("steps").data["steps"], [{"op": "insert", "at": 1, "user": write["user"]}])

    @served()
    def test_bad_parameters_of_a_list_are_named(self, server):
        for name, value in (("limit", "0"), ("limit", "1001"), ("where", "age>>18"), ("sort", "age:down"), ("after", "nonsense"),
                            ("heartbeat", "0"), ("with", ""), ("without", ""), ("count", "true"), ("wher", "age>1")):
            with self.subTest(name=name, value=value), server.stream(at("/lists", (name, value))) as stream:
                self.assertEqual(stream.status, 400)
                self.assertProblem(server.request("GET", at("/lists", (name, value))), 400, parameter=name)
        problem = server.request("GET", at("/lists", where="age>>18")).json()
        self.assertEqual((problem["text"], problem["start"], problem["length"]), ("age>>18", 3, 2))

    @served()
    def test_exact_values_in_rows_and_steps(self, server):
        sql(server.database, "INSERT INTO users (name) VALUES (CAST(x'4EFF' AS TEXT))", postgres="INSERT INTO users (name) VALUES ('Ñ')")
        server.patch(1, x=1.0, big=2**53 + 1, nul="a\0b")
        with server.stream("/lists") as stream:
            self.assertIn(server.request("GET", "/users/1").text, stream.wait("rows").text)
            stream.wait("progress")
            server.patch(1, x=1)
            event = stream.wait("steps")
            self.assertIn(server.request("GET", "/users/1").text, event.text)
            self.assertEqual(event.data["steps"][0]["changed"], ["x"])
