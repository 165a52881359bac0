"""A network on which everything is acknowledged and nothing is answered, between userserver and PostgreSQL.

Only with USERSTORE_ENGINE=postgres, in `scripts/postgres run`.
"""

import threading

from proxy import Proxy
from support import Server, eventually, long, usertool
from test_postgres import JSON, WithDatabase, on_postgres, rename_with_slow_commit

# Longer than the server waits for a connection, and then for another one.
WITHIN = 120


@on_postgres
class Silence(WithDatabase):
    def setUp(self):
        super().setUp()
        self.proxy = self.enterContext(Proxy())

    def status(self, server, method, path, *request, **settings):
        return server.request(method, path, *request, within=WITHIN, **settings).status

    def test_every_request_is_503_and_then_it_recovers(self):
        with Server(database=self.proxy.address(self.name)) as server:
            server.add("NIX")
            self.proxy.silence()
            for method, path, body, headers in (
                ("GET", "/health", None, {}), ("GET", "/users", None, {}), ("GET", "/users/1", None, {}), ("GET", "/about", None, {}),
                ("GET", "/changes", None, JSON), ("PATCH", "/users/1", {"set": {"age": 1}}, {}),
            ):
                self.assertEqual(self.status(server, method, path, body, headers), 503, path)
            self.proxy.answer()
            eventually(lambda: self.status(server, "GET", "/health") == 200, "the database can be read")
            eventually(lambda: self.status(server, "PATCH", "/users/1", {"set": {"age": 2}}) == 200, "the database can be written")
            self.assertEqual(server.get("/users/1")["age"], 2)

    def test_health_does_not_wait_for_the_requests_before_it(self):
        with Server(database=self.proxy.address(self.name)) as server:
            self.proxy.silence()
            answers = []
            requests = [threading.Thread(target=lambda: answers.append(self.status(server, "GET", "/users"))) for _ in range(40)]
            for request in requests:
                request.start()
            # Before the last of the requests, which wait for a connection one after another.
            self.assertEqual(self.status(server, "GET", "/health", token=False), 503)
            self.assertLess(len(answers), len(requests))
            self.proxy.answer()
            for request in requests:
                request.join()
            self.assertLessEqual(set(answers), {200, 503})

    @long
    def test_a_write_that_may_have_been_made_is_500_and_not_503(self):
        with Server(database=self.proxy.address(self.name)) as server:
            server.add("NIX")
            answers, write = rename_with_slow_commit(server, self.database, 5)
            self.proxy.silence()
            write.join()
            problem = self.assertProblem(answers[0], 500, "commitUnknown")
            self.assertEqual(problem["hint"], "read the user again: the change may or may not have been written")
            self.assertNotIn("retry-after", answers[0].headers)
            self.proxy.answer()
            eventually(lambda: self.status(server, "GET", "/health") == 200, "the database can be read")
            self.assertEqual(server.get("/users/1")["name"], "slow")

    def test_a_stream_says_that_nothing_is_delivered_and_continues_at_its_cursor(self):
        usertool("init", database=self.database)
        usertool("add", "NIX", database=self.database)
        with Server("--heartbeat", "1s", database=self.proxy.address(self.name)) as server, server.stream("/changes") as stream:
            # Then the server watches what other programs write.
            usertool("set", "1", "age=41", database=self.database)
            stream.wait("changes")
            self.proxy.silence()
            usertool("rename", "NIX", "Zoë", database=self.database)
            eventually(lambda: "when the server can be reached again" in server.log, "the loss is reported", within=WITHIN)
            self.proxy.answer()
            usertool("rename", "Zoë", "Ann", database=self.database)
            names = []
            while len(names) < 2:
                event = stream.next_event(WITHIN)
                names += [change["new"] for change in event.data["changes"]] if event.event == "changes" else []
            self.assertEqual(names, ["Zoë", "Ann"])
