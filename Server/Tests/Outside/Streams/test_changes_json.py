"""Changes as JSON lines and as pages of JSON, and what a request for changes must look like."""

import json
import pathlib
import subprocess
import threading
import time

from support import TestCase, USERTOOL, at, parse, served, sql, usertool

JSON = {"Accept": "application/json"}
LINES = {"Accept": "application/jsonl"}
VALIDATE = pathlib.Path(__file__).parents[4] / "Tests/Format/validate.py"


def odd_writes(server):
    """Writes with all kinds of values and operations; foreign ones have ends between them, so that their sets are known."""
    server.add("NIX", hair_color="red", age=41, x=1.0, data={"base64": "AP8="}, text="a\0b\n\r \u202e\"\\ 😀", big=2**63 - 1)
    sql(server.database, "UPDATE users SET name = CAST(x'4EFF' AS TEXT), hair_color = NULL",
        postgres="UPDATE users SET name = 'Ñ', hair_color = NULL")
    server.patch(1, x=1, age=None, text="1", inf=1e999)
    sql(server.database, "INSERT INTO users (name) VALUES ('foreign'), ('two')")
    server.add("Zoë")
    server.write("DELETE", "/users/2", headers={"If-Match": "*"})
    usertool("purge", "2", "--yes", database=server.database)
    server.patch(4, age=2)
    server.post("invited", user=4, payload='{"by":2}')
    server.post("restarted")


class Lines(TestCase):
    def watched(self, server, cursor, *options, count):
        """The bytes that usertool prints."""
        result = subprocess.run(
            [USERTOOL, "watch", *options, "--per-change", "--format", "jsonl", "--after", cursor, "--count", str(count),
             "--timeout", "20s", "--db", server.database], capture_output=True, timeout=60)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    @served()
    def test_lines_are_those_of_usertool_byte_for_byte(self, server):
        start = server.get("/about")["cursor"]
        odd_writes(server)
        end = server.get("/about")["cursor"]
        with server.stream(at("/changes", after=start, timeout=2), LINES, accept="application/jsonl") as stream:
            self.assertEqual(stream.headers["content-type"], "application/jsonl")
            self.assertEqual(stream.headers["cache-control"], "no-store, no-transform")
            lines = stream.lines_to_end()
            self.assertEqual(stream.ending, "whole")
        self.assertEqual(parse(lines[-1])["cursor"], end)
        printed = self.watched(server, start, count=len(lines))
        self.assertEqual(b"".join(line + b"\n" for line in lines).decode(), printed.decode())
        self.assertGreater(len(lines), 20)

    @served()
    def test_filtered_lines_are_those_of_usertool_byte_for_byte(self, server):
        start = server.get("/about")["cursor"]
        odd_writes(server)
        for filters, options in (([("attribute", "name"), ("attribute", "age")], ["--attribute", "name", "--attribute", "age"]),
                                 ([("op", "update")], ["--op", "update"]), ([("user", "1")], ["1"]),
                                 ([("op", "insert"), ("op", "delete"), ("attribute", "name")],
                                  ["--op", "insert", "--op", "delete", "--attribute", "name"])):
            with server.stream(at("/changes", *filters, after=start, timeout=1), accept="application/jsonl") as stream:
                lines = stream.lines_to_end()
            self.assertTrue(lines)
            printed = self.watched(server, start, *options, count=len(lines))
            self.assertEqual(b"".join(line + b"\n" for line in lines).decode(), printed.decode(), filters)

    @served()
    def test_lines_arrive_as_the_changes_are_made(self, server):
        with server.stream(at("/changes", after="oldest"), accept="application/jsonl") as stream:
            for number in range(5):
                write = server.add(f"user {number}")
                first, second = parse(stream.line()), parse(stream.line())
                self.assertEqual((first["revision"], first["new"], second["cursor"]),
                                 (write["revision"], f"user {number}", write["cursor"]))
                self.assertNotIn("cursor", first)

    @served()
    def test_a_client_that_is_cut_before_the_first_line_misses_nothing(self, server):
        server.add("before")
        with server.stream("/changes", accept="application/jsonl") as stream:
            cursor = stream.headers["change-cursor"]
        server.add("between")
        with server.stream(at("/changes", after=cursor), accept="application/jsonl") as stream:
            self.assertEqual((parse(stream.line())["new"], stream.headers["change-cursor"]), ("between", cursor))

    @served()
    def test_a_limit_of_lines_counts_sets(self, server):
        server.add()
        server.patch(1, a=1, b=2)
        server.patch(1, a=3)
        with server.stream("/changes?after=oldest&limit=2", accept="application/jsonl") as stream:
            self.assertEqual([parse(line)["attribute"] for line in stream.lines_to_end()], ["name", "hair_color", "a", "b"])


class Pages(TestCase):
    @served()
    def test_a_page_has_the_changes_and_the_cursor_after_them(self, server):
        start = server.get("/about")["cursor"]
        write = server.add("NIX", age=1.0)
        response = server.request("GET", at("/changes", after=start), headers=JSON)
        self.assertEqual((response.status, response.headers["content-type"]), (200, "application/json"))
        page = response.json()
        self.assertEqual(list(page), ["changes", "cursor", "upToDate"])
        self.assertEqual((page["cursor"], page["upToDate"]), (write["cursor"], True))
        self.assertEqual([change.get("cursor") for change in page["changes"]], [None, None, write["cursor"]])
        self.assertEqual({change["revision"] for change in page["changes"]}, {write["revision"]})
        self.assertEqual({tuple(sorted(change)) for change in page["changes"][:2]},
                         {("at", "attribute", "new", "old", "op", "revision", "user")})
        self.assertSame([(change["attribute"], change["old"], change["new"]) for change in page["changes"]],
                        [("name", None, "NIX"), ("hair_color", None, None), ("age", None, 1.0)])
        page = server.get(at("/changes", after=page["cursor"]), headers=JSON)
        self.assertSame((page["changes"], page["cursor"], page["upToDate"]), ([], write["cursor"], True))

    @served()
    def test_pages_have_the_whole_log_and_each_ends_with_a_set(self, server):
        usertool("import", "-", database=server.database, input="".join(f'{{"name":"u{n}"}}\n' for n in range(1250)))
        for number in range(300):
            sql(server.database, "UPDATE users SET name = ? WHERE id = ?", (f"n{number}", number + 1))
            if number % 50 == 0:
                server.patch(1, age=number)
        rows, cursor, pages = [], "oldest", 0
        while True:
            page = server.get(at("/changes", after=cursor), headers=JSON)
            pages += 1
            self.assertLess(pages, 1000)
            if page["changes"]:
                self.assertIn("cursor", page["changes"][-1])
            rows += page["changes"]
            cursor = page["cursor"]
            if page["upToDate"]:
                break
            self.assertTrue(page["changes"])
        [(logged,)] = sql(server.database, "SELECT count(*) FROM changes WHERE op > 0")
        self.assertEqual(len(rows), logged)
        self.assertEqual(cursor, server.get("/about")["cursor"])
        self.assertEqual([row["revision"] for row in rows], sorted(row["revision"] for row in rows))

    @served()
    def test_a_page_moves_the_cursor_past_what_a_filter_hides(self, server):
        server.add("NIX")
        page = server.get(at("/changes", after="oldest", attribute="age"), headers=JSON)
        self.assertSame((page["changes"], page["cursor"], page["upToDate"]), ([], server.get("/about")["cursor"], True))

    @served()
    def test_long_polling_returns_with_a_change(self, server):
        cursor = server.add()["cursor"]
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            server.request("GET", at("/changes", after=cursor, wait=25), headers=JSON, within=30)))
        start = time.monotonic()
        thread.start()
        write = server.patch(1, age=1)
        thread.join()
        self.assertLess(time.monotonic() - start, 10)
        page = answers[0].json()
        self.assertEqual((page["cursor"], page["upToDate"], len(page["changes"])), (write["cursor"], True, 1))

    @served()
    def test_long_polling_returns_with_a_change_of_another_program(self, server):
        cursor = server.add()["cursor"]
        answers = []
        thread = threading.Thread(target=lambda: answers.append(
            server.request("GET", at("/changes", after=cursor, wait=25), headers=JSON, within=30)))
        thread.start()
        sql(server.database, "UPDATE users SET name = 'Zoë'")
        thread.join(10)
        self.assertFalse(thread.is_alive())
        self.assertEqual(answers[0].json()["changes"][0]["new"], "Zoë")

    @served()
    def test_long_polling_ends_after_the_wait_with_200(self, server):
        cursor = server.add()["cursor"]
        start = time.monotonic()
        page = server.get(at("/changes", after=cursor, wait=1), headers=JSON)
        self.assertSame(page, {"changes": [], "cursor": cursor, "upToDate": True})
        self.assertLess(0.9, time.monotonic() - start)
        self.assertLess(time.monotonic() - start, 5)


class Requests(TestCase):
    @served()
    def test_a_bad_parameter_is_named(self, server):
        for accept in ("text/event-stream", "application/jsonl", "application/json"):
            for name, value in (
                ("after", "nonsense"), ("after", "v1-0-0"), ("after", ""), ("after", "v1-00-0-0"), ("last", "0"), ("last", "1001"),
                ("last", "x"),
                ("op", "upsert"), ("op", ""), ("user", "abc"), ("user", "1.0"), ("user", "9223372036854775808"), ("attribute", ""),
                ("attribute", "a\x1b"), ("attribute", "a\u0085"), ("attribute", "x" * 201),
                ("heartbeat", "0"), ("heartbeat", "x"), ("heartbeat", "100000"), ("limit", "0"), ("limit", "-1"), ("limit", "x"),
                ("timeout", "-1"),
                ("timeout", "3601"), ("timeout", "x"), ("wait", "26"), ("wait", "-1"), ("wait", "x"), ("lmit", "1"),
            ):
                # If it is accepted, the stream must end all the same.
                end = {} if name in ("limit", "timeout") else {"limit": 1, "timeout": 1}
                with self.subTest(accept=accept, name=name, value=value):
                    response = server.request("GET", at("/changes", (name, value), **end), headers={"Accept": accept})
                    self.assertProblem(response, 400, parameter=name)

    @served()
    def test_a_parameter_that_may_be_repeated_has_a_limit(self, server):
        for path, name, limit, last in (("/changes", "attribute", 20, ("timeout", 1)), ("/changes", "op", 500, ("timeout", 1)),
                                        ("/users", "with", 500, ("limit", 1))):
            value = "insert" if name == "op" else "age"
            pairs = [(name, value)] * limit + [last]
            self.assertEqual(server.request("GET", at(path, *pairs), headers={"Accept": "application/json"}).status, 200)
            response = server.request("GET", at(path, (name, value), *pairs), headers={"Accept": "application/json"})
            self.assertProblem(response, 400, parameter=name)

    @served()
    def test_a_bad_last_event_id_is_refused(self, server):
        response = server.request("GET", "/changes?after=now", headers={"Last-Event-ID": "nonsense", "Accept": "text/event-stream"})
        self.assertProblem(response, 400, "badCursor")
        # The words of the parameter are no ids: to take them for the end of the log would leave changes out.
        for word in ("oldest", "now", "0", "null"):
            for accept in ("text/event-stream", "application/jsonl", "application/json"):
                response = server.request("GET", "/changes", headers={"Last-Event-ID": word, "Accept": accept})
                self.assertProblem(response, 400, "badCursor", parameter="Last-Event-ID")

    @served()
    def test_the_accept_header_chooses_the_form(self, server):
        server.add()
        for accept, kind in (("application/json", "application/json"), ("application/jsonl", "application/jsonl"),
                             ("text/event-stream", "text/event-stream"),
                             ("application/json;q=0.5, application/jsonl", "application/jsonl"),
                             ("text/html, application/json", "application/json"),
                             ("application/jsonl;q=0, application/json", "application/json"),
                             ("text/*", "text/event-stream")):
            response = server.request("GET", "/changes?after=oldest&limit=1&timeout=1", headers={"Accept": accept})
            self.assertEqual((response.status, response.headers["content-type"].split(";")[0]), (200, kind), accept)
        for path in ("/changes", "/lists", "/users", "/about", "/users/1", "/consumers"):
            self.assertProblem(server.request("GET", path, headers={"Accept": "image/png"}), 406, "notAcceptable")


class Format(TestCase):
    """Every line of changes is as the article “The JSON of changes” says, whichever program writes it."""

    def check(self, lines):
        self.assertTrue(lines)
        text = "\n".join(json.dumps(line) if isinstance(line, dict) else line for line in lines) + "\n"
        result = subprocess.run([VALIDATE], input=text, capture_output=True, text=True, timeout=60)
        self.assertEqual((result.returncode, result.stdout.strip(), result.stderr), (0, "", ""))
        return [json.loads(line) for line in text.splitlines()]

    @served()
    def test_the_event_stream_the_lines_and_the_pages_have_the_same_changes(self, server):
        odd_writes(server)
        end = server.get("/about")["cursor"]
        with server.stream(at("/changes", after="oldest", timeout=2), accept="application/jsonl") as stream:
            lines = self.check([line.decode() for line in stream.lines_to_end()])
        page = self.check(server.get(at("/changes", after="oldest"), headers=JSON)["changes"])
        events = []
        with server.stream(at("/changes", after="oldest")) as stream:
            while not events or events[-1].get("cursor") != end:
                events += stream.wait("changes").data["changes"]
        self.assertSame(page, lines)
        self.assertSame(self.check(events), lines)

    @served()
    def test_what_usertool_prints(self, server):
        start = server.get("/about")["cursor"]
        odd_writes(server)
        for command in (["watch", "--per-change", "--after", start, "--count", "20", "--timeout", "20s"],
                        ["watch", "--after", start, "--count", "20", "--timeout", "20s"],
                        ["watch", "--initial", "all", "--timeout", "0.2s"], ["log"], ["rename", "4", "Ann", "--dry-run"],
                        ["rename", "4", "Bob"]):
            result = subprocess.run([USERTOOL, *command, "--format", "jsonl", "--db", server.database],
                                    capture_output=True, text=True, timeout=60)
            self.assertIn(result.returncode, (0, 124), (command, result.stderr))
            self.check(result.stdout.splitlines())
