"""Queries of people that take long: they end, and stop nobody else."""

import concurrent.futures

from support import at, long, on_files, sql
from test_access import READER, AccessCase

USERS = 40_000
NAME = 200 * "é" + "ab"
# Each user meets all conditions but the last, so that all are looked at: seconds, many times the limit.
SLOW = 60 * [("where", "name~=ÉÉÉa")] + [("where", "name~=ÉÉÉx")]


@on_files
class LongQueries(AccessCase):
    OPTIONS = ["--query-timeout", "1s"]

    def setUp(self):
        super().setUp()
        numbers = f"WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < {USERS})"
        sql(self.server.database, f"{numbers} INSERT INTO users (name) SELECT '{NAME} ' || i FROM n")

    def ask(self, token, path=at("/users", *SLOW), within=60):
        return self.server.request("GET", path, token=token, within=within)

    def test_a_query_that_takes_long_ends_and_the_next_one_is_answered(self):
        ann = self.token(*READER)
        for path in ("/users", "/lists"):
            headers = {"Accept": "text/event-stream"} if path == "/lists" else {}
            problem = self.server.request("GET", at(path, *SLOW), None, headers, token=ann, within=60)
            self.assertProblem(problem, 503, "tooSlow")
        self.assertEqual(self.ask(ann, "/users/1").json()["id"], 1)

    @long
    def test_the_servers_own_token_has_no_limit(self):
        self.assertEqual(self.ask(True).json()["users"], [])

    def test_a_person_reads_one_answer_at_a_time_and_others_are_answered_meanwhile(self):
        ann, bob = self.token(*READER), self.token(*READER, subject="bob")
        with concurrent.futures.ThreadPoolExecutor(40) as threads:
            asked = [threads.submit(self.ask, ann) for _ in range(40)]
            # More than can wait: the first refusals come while one reads, and all others wait.
            refused = next(done.result() for done in concurrent.futures.as_completed(asked) if done.result().status == 429)
            self.assertProblem(refused, 429, "tooManyQueries")
            self.assertEqual(self.ask(bob, "/users/1").json()["id"], 1)
            self.assertTrue(any(not done.done() for done in asked))
            self.server.kill()
            concurrent.futures.wait(asked)
