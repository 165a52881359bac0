"""The event stream of changes: its events, its filters, and its end."""

import os
import re
import time

from support import TestCase, at, long, on_files, served, sql, usertool

TIME = r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$"


class Events(TestCase):
    @served()
    def test_a_stream_begins_with_hello_and_says_when_it_is_up_to_date(self, server):
        end = server.add()
        with server.stream("/changes") as stream:
            self.assertEqual(stream.status, 200)
            self.assertTrue(stream.headers["content-type"].startswith("text/event-stream"))
            self.assertEqual(stream.headers["cache-control"], "no-store, no-transform")
            self.assertEqual(stream.headers["x-accel-buffering"], "no")
            hello = next(stream)
            self.assertEqual((stream.retry, hello.event, hello.id), (1000, "hello", end["cursor"]))
            store = server.get("/about")["store"]
            self.assertSame(hello.data, {"store": store, "revision": end["revision"], "heartbeat": 15, "version": 1})
            progress = next(stream)
            self.assertEqual((progress.event, progress.id), ("progress", end["cursor"]))
            self.assertSame(progress.data, {"revision": end["revision"], "upToDate": True})

    @served()
    def test_a_change_set_is_one_event_with_the_cursor_of_its_write(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            write = server.add("NIX", hair_color="red", age=1.0)
            event = stream.wait("changes")
            self.assertEqual(event.id, write["cursor"])
            self.assertEqual(set(event.data), {"revision", "origin", "foreign", "lag_ms", "changes", "last"})
            self.assertEqual((event.data["revision"], event.data["origin"], event.data["foreign"], event.data["last"]),
                             (write["revision"], "userserver", False, True))
            self.assertIsInstance(event.data["lag_ms"], int)
            self.assertIn(event.data["lag_ms"], range(0, 5000))
            changes = event.data["changes"]
            for change in changes:
                self.assertRegex(change.pop("at"), TIME)
                self.assertEqual(change.pop("revision"), write["revision"])
            self.assertEqual([change.pop("cursor", None) for change in changes], [None, None, write["cursor"]])
            self.assertSame(changes, [
                {"op": "insert", "user": 1, "attribute": "name", "old": None, "new": "NIX"},
                {"op": "insert", "user": 1, "attribute": "hair_color", "old": None, "new": "#ff0000"},
                {"op": "update", "user": 1, "attribute": "age", "old": None, "new": 1.0}])

    @served()
    def test_the_time_of_a_set_is_that_of_the_log(self, server):
        with server.stream("/changes") as stream:
            server.add()
            for number in range(40):
                event = stream.set()
                revision = event.data["revision"]
                times = sql(server.database, "SELECT at % 1000 FROM changes WHERE seq BETWEEN ? - 1 AND ?", (revision, revision),
                            postgres="SELECT milliseconds(at) % 1000 FROM commits WHERE ? - 1 < last AND base < ?")
                self.assertIn(event.data["changes"][-1]["at"][-5:], {f".{milliseconds:03}Z" for (milliseconds,) in times}, event)
                server.patch(1, age=number)

    @served()
    def test_writes_of_every_program_arrive(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("add", "NIX", database=server.database)
            event = stream.set()
            self.assertEqual((event.data["origin"], event.data["foreign"]), ("usertool", False))
            sql(server.database, "UPDATE users SET name = 'Zoë'")
            event = stream.set()
            self.assertSame((event.data["origin"], event.data["foreign"]), (None, True))
            [change] = event.data["changes"]
            self.assertEqual([change[name] for name in ("op", "user", "attribute", "old", "new")],
                             ["update", 1, "name", "NIX", "Zoë"])
            sql(server.database, "DELETE FROM users")
            self.assertEqual([change["op"] for change in stream.set().data["changes"]], ["delete", "delete"])

    @served()
    def test_values_in_events_are_exact(self, server):
        server.add()
        with server.stream("/changes") as stream:
            stream.wait("progress")
            for text in ("1", "1.0", "9223372036854775807", "-9223372036854775808", "9007199254740993", "1e999",
                         '{"base64":"AP8="}', '"a\\u0000b\\n\\r c\\u202e"', '"😀"'):
                server.write("PATCH", "/users/1", f'{{"set":{{"x":{text}}}}}')
                event = stream.set()
                self.assertRegex(event.text, f'"new":{re.escape(text)}[,}}]')
            sql(server.database, "UPDATE attributes SET value = CAST(x'80' AS TEXT)",
                postgres="UPDATE attributes SET text = NULL, raw = decode('80', 'hex')")
            self.assertSame(stream.set().data["changes"][0]["new"], {"text_base64": "gA=="})

    @served()
    def test_a_value_of_16_mib_arrives_whole(self, server):
        server.add()
        with server.stream("/changes") as stream:
            stream.wait("progress")
            sql(server.database, "INSERT INTO attributes VALUES (1, 'x', replace(hex(zeroblob(4194304)), '00', 'wxyz'))",
                postgres="INSERT INTO attributes (user_id, name, text) VALUES (1, 'x', repeat('wxyz', 4194304))")
            [change] = stream.set(within=60).data["changes"]
            self.assertTrue(change["new"] == "wxyz" * 4194304)

    @long
    @served()
    def test_a_value_of_16_mib_whose_json_is_six_times_as_long_arrives_whole(self, server):
        server.add()
        with server.stream("/changes") as stream:
            stream.wait("progress")
            sql(server.database, "INSERT INTO attributes VALUES (1, 'x', CAST(zeroblob(16777216) AS TEXT))",
                postgres="INSERT INTO attributes (user_id, name, raw) VALUES (1, 'x', decode(repeat('00', 16777216), 'hex'))")
            sql(server.database, "UPDATE attributes SET value = replace(hex(zeroblob(4194304)), '00', 'wxyz')",
                postgres="UPDATE attributes SET raw = NULL, text = repeat('wxyz', 4194304)")
            sets = stream.sets_until(server.get("/about")["revision"], within=300)
            changes = [change for event in sets for change in event.data["changes"]]
            self.assertTrue(changes[-1]["old"] == "\0" * 16777216 and changes[-1]["new"] == "wxyz" * 4194304)

    @served()
    def test_a_huge_set_comes_in_parts_and_only_the_last_has_an_id(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n}"}}\n' for n in range(1250)))
            sql(server.database, "UPDATE users SET name = name || '!', hair_color = '#ff0000'")
            for first in ("insert", "update"):
                parts = []
                while not parts or not parts[-1].data.get("last"):
                    parts.append(stream.wait("changes"))
                self.assertGreater(len(parts), 2)
                self.assertEqual(len({part.data["revision"] for part in parts}), 1)
                self.assertTrue(all(1 <= len(part.data["changes"]) <= 1000 for part in parts))
                self.assertTrue(all(part.id is None and "last" not in part.data for part in parts[:-1]))
                self.assertIsNotNone(parts[-1].id)
                changes = [change for part in parts for change in part.data["changes"]]
                self.assertEqual(len(changes), 2500)
                self.assertEqual({change["op"] for change in changes}, {first})
                self.assertEqual(len({(change["user"], change["attribute"]) for change in changes}), 2500)

    @served()
    def test_a_set_of_large_values_comes_in_parts_of_a_mebibyte(self, server):
        server.add()
        with server.stream("/changes") as stream:
            stream.wait("progress")
            server.write("PATCH", "/users/1", {"set": {f"a{n}": str(n) * (400 << 10) for n in range(6)}}, within=30)
            parts = []
            while not parts or not parts[-1].data.get("last"):
                parts.append(stream.wait("changes"))
            self.assertGreater(len(parts), 1)
            for part in parts:
                # A part ends with the change that reaches the limit.
                self.assertLess(sum(len(change["new"]) for change in part.data["changes"][:-1]), 1 << 20)
            self.assertEqual([change["attribute"] for part in parts for change in part.data["changes"]],
                             [f"a{n}" for n in range(6)])


def without_cursors(event):
    """The changes of an event, with the revision of their set; which of them is the last one depends on the filter."""
    return [(event.data["revision"], {name: value for name, value in change.items() if name != "cursor"})
            for change in event.data["changes"]]


class Filters(TestCase):
    @served()
    def test_a_filter_shows_only_matching_changes(self, server):
        start = server.get("/about")["cursor"]
        server.add("NIX", age=1)
        server.add("Zoë", room=1)
        server.patch(1, age=2, room=3, name="N")
        server.write("DELETE", "/users/2", headers={"If-Match": "*"})
        everything = []
        with server.follow(start) as stream:
            for event in stream.sets_until(server.get("/about")["revision"]):
                everything += without_cursors(event)
        for filters in ([("attribute", "age")], [("attribute", "age"), ("attribute", "name")], [("op", "insert")],
                        [("op", "delete"), ("op", "update")],
                        [("user", "2")], [("user", "1"), ("attribute", "name"), ("op", "update")], [("attribute", "nobody")]):
            wanted = {name: {value for key, value in filters if key == name} for name, _ in filters}
            expected = [(revision, change) for revision, change in everything
                        if all(str(change[name]) in values for name, values in wanted.items())]
            with server.stream(at("/changes", *filters), {"Last-Event-ID": start}) as stream:
                found = []
                while (event := next(stream)).event != "progress":
                    if event.event == "changes":
                        self.assertTrue(event.data["changes"])
                        found += without_cursors(event)
                self.assertSame(found, expected, filters)
                self.assertEqual(event.id, server.get("/about")["cursor"])

    @served()
    def test_progress_moves_the_cursor_past_hidden_sets(self, server):
        server.add("NIX")
        with server.stream("/changes?attribute=age&heartbeat=1") as stream:
            stream.wait("progress")
            usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n}"}}\n' for n in range(3000)))
            end = server.patch(1, name="Zoë")
            progress = stream.wait("progress", until=lambda event: event.data["revision"] >= end["revision"])
            self.assertEqual(progress.id, end["cursor"])
            self.assertEqual([event.event for event in stream.seen if event.event == "changes"], [])
            cursor = stream.last_id
        usertool("compact", "--keep", "0", database=server.database)
        with server.stream("/changes?attribute=age", {"Last-Event-ID": cursor}) as stream:
            write = server.patch(1, age=1)
            self.assertEqual(stream.set().id, write["cursor"])
            self.assertNotIn("reset", [event.event for event in stream.seen])

    @served("--heartbeat", "1s")
    def test_progress_comes_at_every_heartbeat(self, server):
        with server.stream("/changes") as stream:
            self.assertEqual(next(stream).data["heartbeat"], 1)
            start = time.monotonic()
            for _ in range(4):
                stream.wait("progress", within=4)
            self.assertLess(2.5, time.monotonic() - start)
        with server.stream("/changes?heartbeat=30") as stream:
            self.assertEqual(next(stream).data["heartbeat"], 30)


class Starts(TestCase):
    @served()
    def test_a_stream_starts_at_the_oldest_change_or_now(self, server):
        first = server.add()
        end = server.patch(1, age=1)
        with server.stream("/changes?after=oldest") as stream:
            self.assertEqual([stream.set().id, stream.set().id], [first["cursor"], end["cursor"]])
        for path in ("/changes", "/changes?after=now"):
            with server.stream(path) as stream:
                next(stream)
                self.assertEqual((next(stream).event, stream.last_id), ("progress", end["cursor"]))

    @served()
    def test_the_last_event_id_wins_over_after(self, server):
        first = server.add()
        second = server.patch(1, age=1)
        third = server.patch(1, age=2)
        for path in ("/changes?after=now", "/changes?after=oldest", at("/changes", after=second["cursor"]), "/changes?last=1"):
            with server.stream(path, {"Last-Event-ID": first["cursor"]}) as stream:
                self.assertEqual([stream.set().id, stream.set().id], [second["cursor"], third["cursor"]], path)
        with server.stream(at("/changes", after=second["cursor"])) as stream:
            self.assertEqual(stream.set().id, third["cursor"])

    @served()
    def test_last_starts_with_about_that_many_rows(self, server):
        server.add()
        ends = [server.patch(1, age=number)["cursor"] for number in range(50)]
        for last, sets in ((10, range(4, 7)), (1, range(0, 2)), (1000, range(51, 52))):
            with server.stream(at("/changes", last=last)) as stream:
                found = []
                while (event := next(stream)).event != "progress":
                    if event.event == "changes":
                        found.append(event)
                self.assertIn(len(found), sets)
                self.assertEqual([event.id for event in found],
                                 ends[len(ends) - len(found):] if last < 1000 else [found[0].id] + ends)


class Ends(TestCase):
    @served()
    def test_a_limit_ends_the_stream_after_that_many_sets(self, server):
        server.add()
        for number in range(5):
            server.patch(1, age=number)
        with server.stream("/changes?after=oldest&limit=3") as stream:
            events = stream.end()
            self.assertEqual(stream.ending, "whole")
            self.assertEqual(len([event for event in events if event.event == "changes"]), 3)
            self.assertSame((events[-1].event, events[-1].data), ("closing", {"reason": "limit"}))
        with server.stream("/changes?limit=1", {"Last-Event-ID": stream.last_id}) as stream:
            self.assertSame(stream.set().data["changes"][0]["new"], 2)

    @served()
    def test_a_timeout_ends_the_stream(self, server):
        for path in ("/changes?timeout=1", "/changes?timeout=1&after=oldest&attribute=nobody"):
            start = time.monotonic()
            with server.stream(path) as stream:
                events = stream.end(within=5)
                self.assertSame((stream.ending, events[-1].event, events[-1].data), ("whole", "closing", {"reason": "timeout"}))
                self.assertGreater(time.monotonic() - start, 0.9)

    @served("--stream-age", "1s")
    def test_a_stream_ends_at_its_age_and_continues_without_a_gap(self, server):
        with server.stream("/changes") as stream:
            cursor = stream.wait("progress").id
            events = stream.end(within=8)
            self.assertSame((stream.ending, events[-1].event, events[-1].data), ("whole", "closing", {"reason": "age"}))
        write = server.add()
        with server.follow(cursor) as stream:
            self.assertEqual(stream.set().id, write["cursor"])

    @served()
    def test_a_stream_says_that_the_server_ends(self, server):
        with server.stream("/changes") as stream, server.stream("/lists") as rows:
            stream.wait("progress")
            rows.wait("progress")
            self.assertEqual(server.stop(within=5), 0)
            for ended in (stream, rows):
                events = ended.end()
                self.assertSame((ended.ending, events[-1].event, events[-1].data), ("whole", "closing", {"reason": "shutdown"}))

    @on_files
    @served()
    def test_a_database_that_another_file_replaces_ends_the_stream(self, server):
        server.add()
        usertool("backup", str(server.folder / "other.db"), database=server.database)
        with server.stream("/changes") as stream:
            stream.wait("progress")
            os.replace(server.folder / "other.db", server.database)
            closing = stream.wait("closing", within=20)
            self.assertSame(closing.data, {"reason": "replaced"})
        server.kill()
