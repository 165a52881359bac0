"""Cursors of writes, undo, and a server that only reads."""

import pathlib
import tempfile
import threading

from support import POSTGRES, Server, TestCase, at, connect, drop_database, eventually, new_database, served, sql, usertool

JSON = {"Accept": "application/json"}


def rows_after(server, cursor):
    """All changes after a cursor, page by page."""
    rows = []
    while True:
        page = server.get(at("/changes", after=cursor), headers=JSON)
        rows += page["changes"]
        cursor = page["cursor"]
        if page["upToDate"]:
            return rows


class Cursors(TestCase):
    @served()
    def test_a_write_carries_its_own_cursor(self, server):
        answers, lock = [], threading.Lock()

        def add(number):
            response = server.request("POST", "/users", {"name": f"user {number}"}, within=30)
            with lock:
                answers.append(response)

        threads = [threading.Thread(target=add, args=(number,)) for number in range(64)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual([answer.status for answer in answers], [201] * 64)
        writes = [answer.json() for answer in answers]
        self.assertEqual(len({write["revision"] for write in writes}), 64)
        self.assertEqual(len({write["user"]["id"] for write in writes}), 64)
        whole = rows_after(server, "oldest")
        self.assertEqual(len(whole), 128)
        for write in writes:
            own = [row for row in whole if row["revision"] == write["revision"]]
            self.assertEqual({(row["user"], row["attribute"], row["new"]) for row in own},
                             {(write["user"]["id"], "name", write["user"]["name"]), (write["user"]["id"], "hair_color", None)})
            self.assertEqual(rows_after(server, write["cursor"]), [row for row in whole if row["revision"] > write["revision"]])
            self.assertIn(write["cursor"], [row.get("cursor") for row in own])

    @served()
    def test_writes_of_others_in_between_do_not_move_the_cursor_of_a_write(self, server):
        server.add()
        stop = threading.Event()

        def disturb():
            number = 0
            while not stop.is_set():
                number += 1
                sql(server.database, "UPDATE users SET name = ? WHERE id = 1", (f"foreign {number}",))

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            writes = [server.patch(1, age=number) for number in range(60)]
        finally:
            stop.set()
            thread.join()
        whole = rows_after(server, "oldest")
        for number, write in enumerate(writes):
            own = [row for row in whole if row["attribute"] == "age" and row["new"] == number]
            self.assertEqual([row["revision"] for row in own], [write["revision"]])
            later = [row for row in whole if row["revision"] > write["revision"]]
            self.assertEqual(rows_after(server, write["cursor"])[:20], later[:20])


class Undo(TestCase):
    @served()
    def test_an_undo_restores_what_the_write_changed(self, server):
        server.add("NIX", age=41)
        write = server.patch(1, name="Zoë", age=None, room=7)
        answer = server.write("POST", f"/changes/{write['revision']}/undo")
        self.assertEqual(list(answer), ["undone", "revision", "cursor"])
        self.assertEqual(answer["undone"], write["revision"])
        self.assertEqual(answer["cursor"], server.get("/about")["cursor"])
        self.assertSame(server.get("/users/1"), {"id": 1, "name": "NIX", "hair_color": None, "age": 41})
        server.write("POST", f"/changes/{answer['revision']}/undo")
        self.assertSame(server.get("/users/1"), {"id": 1, "name": "Zoë", "hair_color": None, "room": 7})

    @served()
    def test_a_removed_user_comes_back_with_its_id(self, server):
        user = server.add("NIX", hair_color="red", age=1.0)["user"]
        revision = server.write("DELETE", "/users/1", headers={"If-Match": "*"})["revision"]
        server.write("POST", f"/changes/{revision}/undo")
        self.assertSame(server.get("/users/1"), user)

    @served()
    def test_an_older_write_is_undone_if_nothing_of_it_was_changed_since(self, server):
        server.add("NIX")
        first = server.patch(1, age=1)["revision"]
        server.patch(1, room=2)
        server.write("POST", f"/changes/{first}/undo")
        self.assertSame(server.get("/users/1"), {"id": 1, "name": "NIX", "hair_color": None, "room": 2})

    @served()
    def test_an_undo_of_what_was_changed_since_is_a_conflict(self, server):
        server.add("NIX")
        first = server.patch(1, age=1)["revision"]
        end = server.patch(1, age=2)["revision"]
        self.assertProblem(server.request("POST", f"/changes/{first}/undo"), 409, "conflict")
        self.assertEqual(server.get("/about")["revision"], end)

    @served()
    def test_what_cannot_be_undone_is_404_or_410(self, server):
        end = server.add("NIX")["revision"]
        for revision in (end - 1, end + 1, 2**40, 2**63 - 1):
            self.assertProblem(server.request("POST", f"/changes/{revision}/undo"), 404, "revisionNotFound")
        for revision in ("0", "-1", "abc", "9223372036854775808"):
            self.assertIn(server.request("POST", f"/changes/{revision}/undo").status, (400, 404, 410))
        sql(server.database, "UPDATE users SET name = 'foreign'")
        [(foreign,)] = sql(server.database, "SELECT max(seq) FROM changes", postgres="SELECT max(last) FROM commits")
        self.assertProblem(server.request("POST", f"/changes/{foreign}/undo"), 404, "revisionNotFound")
        server.add("Zoë")
        usertool("compact", "--keep", "0", database=server.database)
        self.assertProblem(server.request("POST", f"/changes/{end}/undo"), 410, "compacted")


class Refusals(TestCase):
    """What the database refuses to every writer: a value that must be unique, and a removal that other tables forbid."""

    @served()
    def test_a_value_that_another_user_has_is_a_conflict(self, server):
        usertool("unique", "add", "email", "--ignore-case", database=server.database)
        server.add("Ann", email="ann@x.de")
        server.add("Zoë", email="zoe@x.de")
        end = server.get("/about")["revision"]
        # On PostgreSQL, this server learns from the first refusal that another program has made the rule.
        for method, path, body, holder in (
                ("POST", "/users", {"name": "Eve", "email": "ANN@x.de"}, "another user" if POSTGRES else "user 1"),
                ("PATCH", "/users/2", {"set": {"email": "ann@x.de", "age": 3}}, "user 1")):
            with self.subTest(method):
                problem = self.assertProblem(server.request(method, path, body), 409, "notUnique")
                self.assertIn(f"{holder} has it", problem["detail"])
        self.assertEqual(server.get("/about")["revision"], end)
        self.assertEqual(server.get("/users/2")["email"], "zoe@x.de")
        server.patch(1, email=None)
        server.patch(2, email="ann@x.de")

    @served()
    def test_a_user_that_another_table_refers_to_is_not_removed(self, server):
        server.add("Ann")
        with connect(server.database) as connection:
            connection.execute("CREATE TABLE orders (id integer PRIMARY KEY, buyer bigint NOT NULL REFERENCES users (id))")
            connection.execute("INSERT INTO orders VALUES (1, 1)")
            end = server.get("/about")["revision"]
            response = server.request("DELETE", "/users/1", headers={"If-Match": "*"})
            self.assertProblem(response, 409, "stillReferenced")
            self.assertEqual((server.get("/about")["revision"], server.get("/users/1")["name"]), (end, "Ann"))
            connection.execute("DELETE FROM orders")
        server.write("DELETE", "/users/1", headers={"If-Match": "*"})


class ReadOnly(TestCase):
    def setUp(self):
        folder = self.enterContext(tempfile.TemporaryDirectory())
        self.database = new_database(pathlib.Path(folder))
        if POSTGRES:
            self.addCleanup(drop_database, self.database)

    def test_a_server_that_only_reads_refuses_writes(self):
        usertool("add", "NIX", database=self.database)
        with Server("--read-only", database=self.database) as server:
            revision = server.get("/about")["revision"]
            for method, path, body, headers in (
                ("POST", "/users", {"name": "Zoë"}, {}), ("PUT", "/users/1", {"name": "Zoë"}, {"If-Match": "*"}),
                ("PUT", "/users/2", {"name": "Zoë"}, {"If-None-Match": "*"}), ("PATCH", "/users/1", {"set": {"name": "Zoë"}}, {}),
                ("DELETE", "/users/1", None, {"If-Match": "*"}), ("POST", f"/changes/{revision}/undo", None, {}),
            ):
                self.assertProblem(server.request(method, path, body, headers), 403, "readOnly")
            about = server.get("/about")
            self.assertEqual((about["readOnly"], about["revision"]), (True, revision))
            self.assertEqual(server.get("/users/1")["name"], "NIX")

    def test_a_server_that_only_reads_hears_other_writers(self):
        usertool("add", "NIX", database=self.database)
        with Server("--read-only", database=self.database) as server, server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("rename", "NIX", "Zoë", database=self.database)
            self.assertEqual(stream.set().data["changes"][0]["new"], "Zoë")

    def test_a_server_that_only_reads_creates_no_database(self):
        with self.assertRaisesRegex(AssertionError, "ended with 66"):
            Server("--read-only", database=self.database).__enter__()
        if POSTGRES:
            self.assertEqual(sql(self.database, "SELECT to_regnamespace('userstore')"), [(None,)])
        else:
            self.assertFalse(pathlib.Path(self.database).exists())


class OtherPrograms(TestCase):
    @served()
    def test_a_write_waits_for_a_short_transaction_of_another_program(self, server):
        server.add()
        other = connect(server.database)
        other.execute("BEGIN" if POSTGRES else "BEGIN IMMEDIATE")
        other.execute("UPDATE users SET name = 'other'")
        answers = []
        thread = threading.Thread(
            target=lambda: answers.append(server.request("PATCH", "/users/1", {"set": {"age": 1}}, within=30)))
        thread.start()
        # Reads are answered while the writer waits.
        for _ in range(20):
            self.assertEqual(server.get("/users/1")["name"], "NIX")
        self.assertEqual(answers, [])
        other.execute("COMMIT")
        thread.join()
        other.close()
        self.assertEqual(answers[0].status, 200, answers)
        self.assertSame(answers[0].json()["user"], {"id": 1, "name": "other", "hair_color": None, "age": 1})

    @served()
    def test_a_database_that_stays_locked_is_503_and_recovers(self, server):
        server.add()
        other = connect(server.database)
        other.execute("BEGIN" if POSTGRES else "BEGIN IMMEDIATE")
        other.execute("UPDATE users SET name = 'other'")
        response = server.request("PATCH", "/users/1", {"set": {"age": 1}}, within=30)
        self.assertProblem(response, 503, "busy")
        self.assertIn("retry-after", response.headers)
        other.execute("ROLLBACK")
        other.close()
        eventually(lambda: server.request("PATCH", "/users/1", {"set": {"age": 1}}).status == 200, "no write succeeds")

    @served()
    def test_a_message_of_the_database_cannot_act_on_the_terminal(self, server):
        server.add()
        message = "\x1b]0;owned\x07\nfake"
        sql(server.database, f"CREATE TRIGGER refuse BEFORE UPDATE ON users BEGIN SELECT RAISE(ABORT, '{message}'); END",
            postgres=f"""
            CREATE FUNCTION public.refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION '{message}'; END $$;
            CREATE TRIGGER refuse BEFORE UPDATE ON users FOR EACH ROW EXECUTE FUNCTION public.refuse()""")
        problem = self.assertProblem(server.request("PATCH", "/users/1", {"set": {"name": "Zoë"}}), 500)
        self.assertIn(message, problem["detail"])
        # A line says what is served, and one why the request has failed.
        self.assertEqual(server.log.count("\n"), 2, server.log)
        self.assertIn("\\u{1B}]0;owned\\u{7}\\nfake", server.log)
        self.assertNotIn("\x1b", server.log)
