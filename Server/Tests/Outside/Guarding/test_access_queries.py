"""Queries of people that take long: they end, and stop nobody else."""

import concurrent.futures
import contextlib
import socket

from support import at, eventually, long, on_files, sql
from test_access import READER, AccessCase

USERS = 20_000
# Each user lacks all of these, so that all are looked for: with 100, some seconds, and with 200, many times the limit.
SLOW = [("without", f"none{number}") for number in range(200)] + [("sort", "age"), ("limit", "1")]


class QueryCase(AccessCase):
    def setUp(self):
        super().setUp()
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {USERS})"
        sql(self.server.database, f"{numbers} INSERT INTO users (name) SELECT 'somebody ' || i FROM n")

    def ask(self, token, path=at("/users", *SLOW), within=60):
        return self.server.request("GET", path, token=token, within=within)


@on_files
class LongQueries(QueryCase):
    OPTIONS = ["--query-timeout", "1s"]

    def test_a_query_that_takes_long_ends_and_the_next_one_is_answered(self):
        ann = self.token(*READER)
        for path in ("/users", "/lists"):
            headers = {"Accept": "text/event-stream"} if path == "/lists" else {}
            problem = self.server.request("GET", at(path, *SLOW), None, headers, token=ann, within=60)
            self.assertProblem(problem, 503, "tooSlow")
        self.assertEqual(self.ask(ann, "/users/1").json()["id"], 1)

    @long
    def test_the_servers_own_token_has_no_limit(self):
        self.assertEqual(len(self.ask(True, at("/users", *SLOW[100:])).json()["users"]), 1)

    def test_a_person_searches_in_ten_texts_at_most(self):
        ann = self.token(*READER)
        searches = [("where", f"name~=s{number % 2}") for number in range(10)]
        self.assertEqual(self.ask(ann, at("/users", *searches)).status, 200)
        for path, headers in (("/users", {}), ("/lists", {"Accept": "text/event-stream"})):
            address = at(path, *searches, ("where", "name*=x"))
            self.assertProblem(self.server.request("GET", address, None, headers, token=ann), 400, "badRequest", parameter="where")
        self.assertEqual(self.ask(True, at("/users", *searches, ("where", "name*=x"))).status, 200)

    def test_the_lists_of_a_person_search_in_fifty_texts(self):
        ann, bob = self.token(*READER), self.token(*READER, subject="bob")
        searches = [("where", f"name~=s{number}") for number in range(10)]
        with contextlib.ExitStack() as lists:
            opened = lambda token, *pairs: lists.enter_context(self.server.stream(at("/lists", *pairs), token=token)).status
            self.assertEqual([opened(ann, *searches, ("limit", number)) for number in range(1, 7)], [200] * 5 + [503])
            self.assertProblem(self.server.request("GET", at("/lists", *searches), None, {"Accept": "text/event-stream"}, token=ann), 503, "tooManySearches")
            self.assertEqual([opened(ann, ("where", "name=x")), opened(bob, *searches), opened(True, *searches)], [200] * 3)
        eventually(lambda: self.server.get("/about")["streams"] == 0, "the lists are closed")
        with self.server.stream(at("/lists", *searches), token=ann) as stream:
            self.assertEqual(stream.status, 200)


@on_files
class WaitingQueries(QueryCase):
    # Longer than the test.
    OPTIONS = ["--query-timeout", "300s"]

    def test_a_person_reads_one_answer_at_a_time_and_others_are_answered_meanwhile(self):
        ann, bob = self.token(*READER), self.token(*READER, subject="bob")
        path = at("/users", *SLOW)
        with contextlib.ExitStack() as connections, concurrent.futures.ThreadPoolExecutor(40) as threads:
            asked, sockets = [], []
            for _ in range(40):
                connection = connections.enter_context(self.server.connect())
                sockets.append(connection.socket)
                connection.send(self.server.head("GET", path, {}, ann))
                asked.append(threads.submit(connection.head))
            # More than can wait: the first refusals come while one reads, and all others wait.
            refused = next(done.result() for done in concurrent.futures.as_completed(asked) if done.result().status == 429)
            self.assertEqual(refused.status, 429)
            self.assertEqual(self.ask(bob, "/users/1").json()["id"], 1)
            self.assertTrue(any(not done.done() for done in asked))
            # When their clients have gone, they neither read on nor wait.
            for connection in sockets:
                connection.shutdown(socket.SHUT_RDWR)
        eventually(lambda: self.ask(ann, "/users/1").status == 200, "the queries of clients that have gone go on")
