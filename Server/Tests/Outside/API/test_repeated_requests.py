"""Requests that are sent again with the same `Idempotency-Key`, because their client has no answer."""

import itertools
import threading

from support import TestCase, Writer, on_files, served, sql, usertool

KEY = {"Idempotency-Key": '"8e03978e-40d5-43e8-bc93-6894a57f9324"'}


def parts(response):
    """What two answers to one request have in common."""
    return (response.status, response.text, response.headers.get("etag"), response.headers.get("location"))


class RepeatedRequests(TestCase):
    @served()
    def test_each_write_is_carried_out_once_and_answered_as_before(self, server):
        server.add("Ann")
        server.add("Bob")
        undone = server.patch(2, age=1)["revision"]
        keys = (f"key {number}" for number in itertools.count())
        for method, path, body, headers in (
                ("POST", "/users", {"name": "Zoë", "age": 1}, {}), ("PUT", "/users/9", {"name": "NIX"}, {"If-None-Match": "*"}),
                ("PUT", "/users/1", {"name": "Anna", "n": 1.0}, {"If-Match": "*"}), ("PATCH", "/users/1", {"set": {"n": 2}, "expect": {"n": 1.0}}, {}),
                ("PATCH", "/users/1", {"set": {"n": 2}}, {}), ("POST", "/events", {"event": "hello", "user": 1}, {}),
                ("POST", f"/changes/{undone}/undo", None, {}), ("DELETE", "/users/2", None, {"If-Match": "*"})):
            with self.subTest(method, path=path):
                send = lambda: server.request(method, path, body, headers)
                headers = {**headers, "Idempotency-Key": next(keys)}
                first = send()
                self.assertIn(first.status, (200, 201), first.text)
                head = server.get("/about")["revision"]
                self.assertEqual(parts(send()), parts(first))
                # Also after the user has changed, in another process.
                if user := first.json().get("user"):
                    usertool("set", str(user["id"]), f"later={head}", "hair_color=black", database=server.database)
                    usertool("set", str(user["id"]), "--unset", "hair_color", database=server.database)
                server.stop()
                server.start()
                head = server.get("/about")["revision"]
                self.assertEqual(parts(send()), parts(first))
                self.assertEqual(server.get("/about")["revision"], head)
        self.assertEqual([user["name"] for user in server.get("/users")["users"]], ["Anna", "Zoë", "NIX"])

    @served()
    def test_another_request_with_the_key_is_refused(self, server):
        server.add("Ann")
        first = server.request("POST", "/users", {"name": "Bob"}, KEY)
        for method, path, body, headers in (
                ("POST", "/users", {"name": "Cat"}, {}), ("POST", "/events", {"event": "x"}, {}), ("PATCH", "/users/1", {"set": {"n": 1}}, {}),
                ("PUT", "/users/1", {"name": "Bob"}, {"If-Match": "*"}), ("DELETE", "/users/1", None, {"If-Match": "*"})):
            self.assertProblem(server.request(method, path, body, {**headers, **KEY}), 422, "keyReused")
        self.assertEqual(parts(server.request("POST", "/users", {"name": "Bob"}, KEY)), parts(first))
        # The same key without its quotation marks.
        self.assertEqual(parts(server.request("POST", "/users", {"name": "Bob"}, {"Idempotency-Key": KEY["Idempotency-Key"].strip('"')})), parts(first))
        self.assertEqual(server.get("/about")["users"], 2)

    @served()
    def test_a_request_that_was_refused_is_decided_again(self, server):
        server.add("Ann")
        send = lambda: server.request("PATCH", "/users/1", {"set": {"n": 2}, "expect": {"n": 1}}, KEY)
        self.assertProblem(send(), 409, "conflict")
        server.patch(1, n=1)
        first = send()
        self.assertEqual(first.status, 200)
        self.assertEqual(parts(send()), parts(first))

    @served()
    def test_requests_at_once_are_carried_out_once(self, server):
        answers, start = [], threading.Barrier(8)

        def send():
            start.wait()
            answers.append(parts(server.request("POST", "/users", {"name": "NIX"}, KEY)))

        threads = [threading.Thread(target=send) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual((len(answers), len(set(answers)), server.get("/about")["users"]), (8, 1, 1))

    @served()
    def test_a_key_is_kept_for_a_day(self, server):
        send = lambda name, key: server.write("POST", "/users", {"name": name}, {"Idempotency-Key": key})["user"]["id"]
        first, second = send("Ann", "a"), send("Bob", "b")
        table = "userstore_decisions" if not server.database.startswith("postgres") else "decisions"
        day = 24 * 60 * 60 * 1_000
        sql(server.database, f"UPDATE {table} SET at = at - {day - 60_000}")
        self.assertEqual(send("Ann", "a"), first)
        sql(server.database, f"UPDATE {table} SET at = at - 60001")
        self.assertNotEqual(send("Ann", "a"), first)
        self.assertEqual(sql(server.database, f"SELECT count(*) FROM {table}"), [(1,)])
        self.assertNotEqual(send("Bob", "b"), second)

    @served()
    def test_an_answer_that_the_log_no_longer_tells_is_not_made_up(self, server):
        server.add("Ann")
        send = lambda number, key: server.request("PATCH", f"/users/{number}", {"set": {"n": 5}}, {"Idempotency-Key": key})
        first, event = send(1, "a"), server.request("POST", "/events", {"event": "e"}, {"Idempotency-Key": "e"})
        server.patch(1, n=6)
        usertool("compact", "--keep", "1", database=server.database)
        self.assertProblem(send(1, "a"), 410, "answerForgotten")
        self.assertEqual(server.request("POST", "/events", {"event": "e"}, {"Idempotency-Key": "e"}).json()["revision"], event.json()["revision"])
        self.assertEqual(server.get("/users/1")["n"], 6)
        server.add("Bob")
        second = send(2, "b")
        server.request("DELETE", "/users/2", None, {"If-Match": "*"})
        self.assertEqual(parts(send(2, "b")), parts(second))
        usertool("purge", "2", "--yes", database=server.database)
        again = send(2, "b")
        self.assertProblem(again, 410, "answerForgotten")
        self.assertNotIn("Bob", again.text)
        self.assertEqual(first.json()["user"]["n"], 5)

    @served()
    def test_keys_that_are_none(self, server):
        for key in ("", '""', '"', '"a', '"a"b"', r'"\a"', '"a\\"', "é", "x" * 256, "a\tb"):
            with self.subTest(key):
                response = server.request("POST", "/users", {"name": "x"}, {"Idempotency-Key": key.encode()})
                self.assertProblem(response, 400, "badRequest")
        self.assertEqual(server.request("POST", "/users", {"name": "x"}, {"Idempotency-Key": r'"a\"\\b"'}).status, 201)
        self.assertEqual(server.request("POST", "/users", {"name": "x"}, {"Idempotency-Key": "x" * 255}).status, 201)
        self.assertEqual(server.get("/about")["users"], 2)

    @served()
    def test_an_answer_that_would_take_long_is_not_read(self, server):
        server.add("Ann")
        send = lambda: server.request("PATCH", "/users/1", {"set": {"n": 1}}, KEY)
        first = send()
        with Writer(server.database) as other:
            age = lambda value: other.run("INSERT OR REPLACE INTO attributes (user_id, name, value) VALUES (1, 'age', ?)", (value,), postgres="""
              INSERT INTO attributes (user_id, name, integer) VALUES (1, 'age', ?) ON CONFLICT (user_id, name) DO UPDATE SET integer = excluded.integer""")
            other.run("BEGIN")
            for value in range(5_000):
                age(value)
            other.run("COMMIT")
            self.assertEqual(parts(send()), parts(first))
            other.run("BEGIN")
            for value in range(5_001):
                age(value)
            other.run("COMMIT")
        self.assertProblem(send(), 410, "answerForgotten")

    @on_files
    @served()
    def test_hostile_rows_stop_no_other_request(self, server):
        server.add("Ann")
        send = lambda key="a": server.request("PATCH", "/users/1", {"set": {"n": 1}}, {"Idempotency-Key": key})
        first = send()
        [(detail,)] = sql(server.database, "SELECT detail FROM userstore_decisions")
        number = first.json()["revision"]
        for value in (-(1 << 63), -1, (1 << 63) - 1):
            sql(server.database, "UPDATE userstore_decisions SET detail = ?", (detail.replace(f'"revision":{number}', f'"revision":{value}'),))
            self.assertIn(send().status, (410, 422))
        for value in (None, "", "{", "[]", '{"requestHash":1}', "[" * 100_000):
            sql(server.database, "UPDATE userstore_decisions SET detail = ?", (value,))
            self.assertProblem(send(), 422, "keyReused")
        sql(server.database, "INSERT INTO userstore_decisions VALUES (1, 0, 9223372036854775807, 'kept', NULL, 0), (2, 0, 1, 'kept', '', 9223372036854775807)")
        sql(server.database, "INSERT OR REPLACE INTO userstore_producers VALUES (0, 9223372036854775807)")
        for key in ("b", "c", "b"):
            self.assertEqual(send(key).status, 200)
        sql(server.database, "UPDATE userstore_decisions SET detail = ? WHERE nonce NOT IN (1, 2)", (detail,))
        self.assertEqual(send().status, 200)

    @on_files
    @served()
    def test_a_file_gets_a_table_with_the_first_key_and_keeps_it_in_backups(self, server):
        version = lambda: sql(server.database, "PRAGMA user_version")[0][0]
        server.add("Ann")
        before = version()
        first = server.request("POST", "/users", {"name": "Bob"}, KEY)
        self.assertGreater(version(), before)
        backup = str(server.folder / "backup")
        usertool("backup", backup, database=server.database)
        later = server.request("POST", "/users", {"name": "Cat"}, {"Idempotency-Key": "later"})
        server.stop()
        usertool("restore", backup, "--yes", database=server.database)
        server.start()
        again = server.request("POST", "/users", {"name": "Bob"}, KEY)
        self.assertEqual((again.json()["user"], again.json()["revision"]), (first.json()["user"], first.json()["revision"]))
        # The backup does not have it, so it is done again.
        self.assertEqual(server.request("POST", "/users", {"name": "Cat"}, {"Idempotency-Key": "later"}).status, 201)
        self.assertEqual([user["name"] for user in server.get("/users")["users"]], ["Ann", "Bob", "Cat"])
        self.assertEqual(later.status, 201)
        self.assertEqual(usertool("check", database=server.database), "")
