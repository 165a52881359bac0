"""Resuming: each change comes once and in order, whatever breaks, or the stream says why it cannot."""

import os
import random
import threading

from support import TestCase, Writer, at, on_files, served, sql, usertool

JSON = {"Accept": "application/json"}


def flat(events):
    """The changes of events, with the revisions of their sets."""
    return [(event.data["revision"], change["user"], change["attribute"], repr(change["old"]), repr(change["new"]))
            for event in events for change in event.data["changes"]]


def model(server):
    """All changes in the log, as `usertool log` and SQL have them."""
    rows, cursor = [], "oldest"
    while cursor:
        page = server.get(at("/changes", after=cursor), headers=JSON)
        rows += [(row["revision"], row["user"], row["attribute"], repr(row["old"]), repr(row["new"])) for row in page["changes"]]
        cursor = None if page["upToDate"] else page["cursor"]
    return rows


def random_writes(server, source, count):
    """Writes of the API and of another program, of one and of many changes."""
    for number in range(count):
        users = [user for (user,) in sql(server.database, "SELECT id FROM users")]
        kind = source.randrange(6) if users else 0
        if kind == 0:
            server.add(f"user {number}", age=number)
        elif kind == 1:
            server.patch(source.choice(users), name=f"renamed {number}", age=float(number))
        elif kind == 2:
            sql(server.database, "UPDATE users SET name = name || ?", (f" {number}",))
        elif kind == 3:
            server.write("DELETE", f"/users/{source.choice(users)}", headers={"If-Match": "*"})
        elif kind == 4:
            sql(server.database, "INSERT INTO users (name) SELECT ? || value FROM json_each('[0,1,2,3,4,5,6,7,8]')", (f"f{number} ",),
                postgres="INSERT INTO users (name) SELECT concat(?::text, value) FROM generate_series(0, 8) AS value")
        else:
            server.patch(source.choice(users), room=source.choice([None, number, f"r{number}"]))


class Model(TestCase):
    def setUp(self):
        self.seed = int(os.environ.get("SEED", random.randrange(1 << 32)))
        self.source = random.Random(self.seed)
        print(f"\n{self.id()}: SEED={self.seed}")

    @served()
    def test_a_client_that_is_cut_after_any_event_misses_nothing(self, server):
        first = server.add("first", age=1)
        server.add("second")
        for path, headers, start in (("/changes", {}, None), ("/changes?after=now", {}, None), ("/changes?after=oldest", {}, 0),
                                     (at("/changes", after=first["cursor"]), {}, first["revision"]),
                                     ("/changes", {"Last-Event-ID": first["cursor"]}, first["revision"])):
            # A stream from now has two events before the first write.
            for count in range(1, 3 if start is None else 4):
                begin = server.get("/about")["revision"] if start is None else start
                with server.stream(path, headers) as stream:
                    events = [next(stream) for _ in range(count)]
                    last = stream.last_id
                write = server.patch(1, age=self.source.randrange(1 << 40))
                with server.follow(last) as stream:
                    events += stream.sets_until(write["revision"])
                with server.follow(None, after="oldest") as stream:
                    sets = stream.sets_until(write["revision"])
                self.assertEqual([event.data["revision"] for event in events if event.event == "changes"],
                                 [event.data["revision"] for event in sets if event.data["revision"] > begin], (path, count))

    @served()
    def test_resuming_anywhere_has_no_gap_and_no_double(self, server):
        random_writes(server, self.source, 80)
        usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n}"}}\n' for n in range(1250)))
        random_writes(server, self.source, 5)
        expected = model(server)
        [(logged,)] = sql(server.database, "SELECT count(*) FROM changes WHERE op > 0")
        self.assertEqual(len(expected), logged)
        found, cursor, connections = [], None, 0
        while len(found) < len(expected):
            connections += 1
            self.assertLess(connections, 2000, "the stream makes no progress")
            with server.stream("/changes?after=oldest", {"Last-Event-ID": cursor} if cursor else {}) as stream:
                # The connection breaks after some bytes, anywhere in an event. The largest set has about half a megabyte.
                stream.raw.budget = self.source.randrange(1, 1_000_000 if self.source.random() < 0.2 else 6000)
                parts = []
                while len(found) < len(expected) and (event := stream.next_event(10)) is not None:
                    self.assertNotEqual(event.event, "reset")
                    if event.event == "changes":
                        parts.append(event)
                        if event.data.get("last"):
                            found += flat(parts)
                            parts = []
                cursor = stream.last_id or cursor
        self.assertEqual(found, expected)

    @served()
    def test_two_foreign_writers_arrive_once_and_in_order(self, server):
        server.add("a", n=0)
        server.add("b", n=0)

        def write(user):
            with Writer(server.database) as writer:
                for number in range(1, 1001):
                    writer.run("UPDATE attributes SET value = ? WHERE user_id = ? AND name = 'n'", (number, user),
                               postgres="UPDATE attributes SET integer = ? WHERE user_id = ? AND name = 'n'")

        with server.stream("/changes") as stream:
            stream.wait("progress")
            threads = [threading.Thread(target=write, args=(user,)) for user in (1, 2)]
            for thread in threads:
                thread.start()
            seen, revisions = {1: [], 2: []}, []
            while len(seen[1]) + len(seen[2]) < 2000:
                event = stream.set(within=30)
                revisions.append(event.data["revision"])
                for change in event.data["changes"]:
                    self.assertEqual((change["old"], change["op"]), (len(seen[change["user"]]), "update"))
                    seen[change["user"]].append(change["new"])
            for thread in threads:
                thread.join()
        self.assertEqual(seen, {1: list(range(1, 1001)), 2: list(range(1, 1001))})
        self.assertEqual(revisions, sorted(set(revisions)))

    @served()
    def test_a_killed_server_is_resumed_without_a_gap(self, server):
        server.add("a", n=0)
        cursor = server.get("/about")["cursor"]
        total, ahead = 3000, threading.Semaphore(300)

        def write():
            with Writer(server.database) as writer:
                for number in range(1, total + 1):
                    ahead.acquire(timeout=60)
                    writer.run("UPDATE attributes SET value = ?", (number,), postgres="UPDATE attributes SET integer = ?")

        thread = threading.Thread(target=write)
        thread.start()
        seen = []

        def take(event):
            if event.event == "changes":
                seen.extend(change["new"] for change in event.data["changes"])
                ahead.release(len(event.data["changes"]))

        for kill in range(6):
            with server.follow(cursor) as stream:
                wanted = min(total, len(seen) + self.source.randrange(1, 200)) if kill < 5 else total
                while len(seen) < wanted:
                    take(stream.set(within=30))
                if kill < 5:
                    server.kill()
                    # What the server had sent before it ended still counts.
                    for event in stream.end():
                        take(event)
                    self.assertEqual(stream.ending, "cut")
                cursor = stream.last_id or cursor
            if kill < 5:
                server.start()
        thread.join()
        self.assertEqual(seen, list(range(1, total + 1)))

    @served()
    def test_a_slow_start_misses_nothing(self, server):
        # Every position between a page of the log and the live changes must be covered.
        server.add("a", n=0)

        def write():
            with Writer(server.database) as writer:
                for number in range(1, 2001):
                    writer.run("UPDATE attributes SET value = ?", (number,), postgres="UPDATE attributes SET integer = ?")

        thread = threading.Thread(target=write)
        start = server.get("/about")["cursor"]
        thread.start()
        streams = []
        try:
            while thread.is_alive() and len(streams) < 40:
                streams.append(server.follow(start))
            for stream in streams:
                seen = []
                while len(seen) < 2000:
                    seen += [change["new"] for change in stream.set(within=60).data["changes"]]
                self.assertEqual(seen, list(range(1, 2001)))
        finally:
            thread.join()
            for stream in streams:
                stream.close()


class Breaks(TestCase):
    @served()
    def test_a_compacted_cursor_resets_the_stream_with_200(self, server):
        old = server.add()["cursor"]
        server.patch(1, age=1)
        end = server.patch(1, age=2)
        usertool("compact", "--keep", "0", database=server.database)
        with server.follow(old) as stream:
            self.assertEqual((stream.status, next(stream).event), (200, "hello"))
            reset = next(stream)
            self.assertSame((reset.event, reset.data), ("reset", {"reason": "compacted", "cursor": end["cursor"]}))
            self.assertEqual(reset.id, end["cursor"])
            write = server.patch(1, age=3)
            self.assertEqual(stream.set().id, write["cursor"])
        with server.follow(reset.id) as stream:
            self.assertEqual(stream.set().id, write["cursor"])
            self.assertNotIn("reset", [event.event for event in stream.seen])

    @served()
    def test_a_compacted_cursor_is_410_in_json_with_a_cursor_to_continue(self, server):
        old = server.add()["cursor"]
        end = server.patch(1, age=1)
        usertool("compact", "--keep", "0", database=server.database)
        for accept in ("application/json", "application/jsonl"):
            response = server.request("GET", at("/changes", after=old, timeout=1), headers={"Accept": accept})
            self.assertEqual(self.assertProblem(response, 410, "compacted")["cursor"], end["cursor"])

    @on_files
    @served()
    def test_a_restore_resets_running_streams(self, server):
        server.add()
        backup = str(server.folder / "backup.db")
        usertool("backup", backup, database=server.database)
        server.patch(1, age=1)
        store = server.get("/about")["store"]
        with server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("restore", backup, "--yes", database=server.database)
            reset = stream.wait("reset")
            self.assertSame(reset.data, {"reason": "diverged", "cursor": reset.id})
            write = server.patch(1, age=2)
            self.assertEqual(stream.set().id, write["cursor"])
        self.assertNotEqual(server.get("/about")["store"], store)

    @on_files
    @served()
    def test_a_cursor_from_before_a_restore_is_diverged(self, server):
        server.add()
        backup = str(server.folder / "backup.db")
        usertool("backup", backup, database=server.database)
        old = server.patch(1, age=1)["cursor"]
        usertool("restore", backup, "--yes", database=server.database)
        with server.follow(old) as stream:
            reset = stream.wait("reset")
            self.assertSame((reset.data["reason"], reset.data["cursor"]), ("diverged", server.get("/about")["cursor"]))
        response = server.request("GET", at("/changes", after=old), headers=JSON)
        cursor = self.assertProblem(response, 409, "diverged")["cursor"]
        page = server.get(at("/changes", after=cursor), headers=JSON)
        self.assertSame((page["changes"], page["upToDate"]), ([], True))

    @served()
    def test_a_cursor_of_another_database_is_diverged(self, server):
        server.add()
        for cursor in ("v1-1234-3-5678", "v1-1234-7fffffff-5678"):
            with server.follow(cursor) as stream:
                self.assertEqual(stream.wait("reset").data["reason"], "diverged")
            self.assertProblem(server.request("GET", at("/changes", after=cursor), headers=JSON), 409, "diverged")

    @served()
    def test_a_set_that_breaks_off_inside_comes_again_as_a_whole(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n}"}}\n' for n in range(1250)))
            first = stream.wait("changes")
            self.assertNotIn("last", first.data)
            cursor = stream.last_id
            stream.raw.abort()
        with server.follow(cursor) as stream:
            event = stream.set()
            self.assertEqual((event.data["revision"], len(event.data["changes"])), (first.data["revision"], 2500))
