"""Connections that carry several requests, streams that a client or a filter could stall, and a server that must end."""

import http.client
import threading

from support import TestCase, Writer, at, eventually, served


class Sharing(TestCase):
    def connection(self, server):
        connection = http.client.HTTPConnection(server.host, server.port, timeout=10)
        self.addCleanup(connection.close)
        return connection

    @served()
    def test_the_answer_to_head_has_no_body_whatever_it_is(self, server):
        connection = self.connection(server)
        for path, status in (("/about", 401), ("/nothing", 401), ("/health?x=1", 400), ("/health", 200), ("/", 200)):
            connection.request("HEAD", path)
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()), (status, b""), path)
            # A body would be taken for this answer.
            connection.request("GET", "/health")
            response = connection.getresponse()
            self.assertEqual((response.status, response.read()), (200, b'{"status":"ok"}'), path)

    @served()
    def test_a_page_of_changes_says_that_its_connection_ends(self, server):
        server.add("NIX")
        connection = self.connection(server)
        for _ in range(3):
            connection.request("GET", "/changes?after=oldest", headers=server.authorization(True))
            response = connection.getresponse()
            self.assertEqual(response.getheader("Connection"), "close")
            self.assertIn(b'"NIX"', response.read())

    @served("--max-streams", "2")
    def test_a_request_after_a_stream_is_not_answered_by_another(self, server):
        server.add("NIX")
        with server.connect() as raw:
            raw.send(b"".join(server.head("GET", path, {}) for path in ("/changes?after=oldest", "/users/1", "/about")))
            self.assertIn("NIX", raw.response().text)
            # The connection ends instead.
            self.assertIsNone(raw.response())
        eventually(lambda: server.get("/about")["streams"] == 0, "the stream's place is free")

    @served("--max-streams", "2")
    def test_a_stream_with_a_body_is_refused_and_leaves_nothing_behind(self, server):
        for path in ("/changes", "/lists"):
            for _ in range(3):
                with server.connect() as raw:
                    fields = {"Content-Type": "application/json", "Transfer-Encoding": "chunked", "Accept": "text/event-stream"}
                    raw.send(server.head("GET", path, fields) + b"1\r\nx\r\n" * 8)
                    self.assertEqual(raw.response().status, 400)
        self.assertEqual(server.get("/about")["streams"], 0)
        with server.stream("/lists") as stream:
            stream.wait("rows")


class Filters(TestCase):
    @served()
    def test_a_filter_that_hides_all_writes_does_not_silence_the_stream(self, server):
        server.add("NIX")
        ending = threading.Event()

        def write():
            with Writer(server.database) as writer:
                while not ending.is_set():
                    writer.run("UPDATE users SET name = 'x' || random()")

        writer = threading.Thread(target=write)
        writer.start()
        try:
            with server.stream("/changes?op=delete&heartbeat=1") as stream:
                first = stream.wait("progress")
                # Not only when the writer rests.
                events = [stream.wait("progress") for _ in range(3)]
                revisions = [event.data["revision"] for event in (first, *events)]
                self.assertEqual(revisions, sorted(revisions))
                self.assertGreater(revisions[-1], revisions[0])
        finally:
            ending.set()
            writer.join()

    @served()
    def test_the_limit_of_a_page_counts_what_the_filter_shows(self, server):
        user = server.add("NIX")["user"]["id"]
        for age in range(3):
            server.patch(user, age=age)
        with Writer(server.database) as writer:
            writer.run("DELETE FROM users")
        page = server.get(at("/changes", after="oldest", op="delete", limit=1))
        self.assertEqual({change["op"] for change in page["changes"]}, {"delete"})

    @served()
    def test_a_long_poll_that_a_hidden_write_wakes_goes_on_waiting(self, server):
        user = server.add("NIX")["user"]["id"]
        result = []
        poll = threading.Thread(target=lambda: result.append(server.request("GET", at("/changes", op="delete", wait=10), within=30).json()))
        poll.start()
        eventually(lambda: server.get("/about")["streams"] == 1, "the request waits")
        for age in range(5):
            server.patch(user, age=age)
        with Writer(server.database) as writer:
            writer.run("DELETE FROM users")
        poll.join(30)
        self.assertEqual({change["op"] for change in result[0]["changes"]}, {"delete"})
