"""Clients that are slow, many, or leave: none of them stops the others."""

import errno
import os
import pathlib
import resource
import select
import signal
import socket
import threading
import time

from support import DEADLINE, Server, Stream, TestCase, Writer, at, eventually, on_files, served, sql

MIB = 1 << 20


def streams(server):
    return server.get("/about", within=30)["streams"]


def cpu_seconds(process):
    """What a process has used of the processor's time."""
    fields = pathlib.Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class SlowReaders(TestCase):
    @served()
    def test_a_reader_that_stops_is_cut_off_and_memory_stays_flat(self, server):
        server.add("NIX", text="")
        with server.stream("/changes", receive_buffer=4096) as slow, server.stream("/changes?heartbeat=1") as quick:
            slow.wait("progress")
            quick.wait("progress")
            before = server.peak_memory
            reader = threading.Thread(target=lambda: quick.wait("changes", within=60, until=lambda event: '"end"' in event.text))
            reader.start()
            with Writer(server.database) as writer:
                for _ in range(120):
                    # Half a mebibyte that does not compress, old and new: 120 MiB of events in all.
                    writer.run("UPDATE attributes SET value = hex(randomblob(262144))")
                writer.run("UPDATE attributes SET value = 'end'")
            reader.join(70)
            self.assertFalse(reader.is_alive(), "the other reader did not get everything")
            eventually(lambda: streams(server) == 1, "the slow reader is still connected", within=25)
            self.assertLess(server.peak_memory - before, 96 * MIB)
        eventually(lambda: streams(server) == 0, "streams remain")

    @served()
    def test_a_reader_of_a_list_that_stops_is_cut_off(self, server):
        server.add("NIX", text="")
        with server.stream("/lists", receive_buffer=4096) as slow, Writer(server.database) as writer:
            slow.wait("progress")
            before = server.peak_memory

            def is_cut():
                # A list has the newest rows only, so that the writer must go on.
                writer.run("UPDATE attributes SET value = hex(randomblob(262144))")
                return streams(server) == 0

            eventually(is_cut, "the slow reader is still connected", within=40)
            self.assertLess(server.peak_memory - before, 96 * MIB)

    @served()
    def test_a_client_that_does_not_read_answers_does_not_stop_others(self, server):
        server.add("NIX")
        server.add("Zoë")
        sql(server.database, "INSERT INTO attributes VALUES (1, 'text', hex(zeroblob(1048576)))")
        before = server.peak_memory
        raws = [server.connect(receive_buffer=4096) for _ in range(10)]
        try:
            for raw in raws:
                raw.send(server.head("GET", "/users/1") * 50)
            for number in range(50):
                # A debug build takes half a second of each processor for a large answer.
                server.write("PATCH", "/users/2", {"set": {"age": number}}, within=60)
            self.assertLess(server.peak_memory - before, 256 * MIB)
        finally:
            for raw in raws:
                raw.close()


class Memory(TestCase):
    """The bodies of all requests and answers together."""

    @served("--max-memory", "64")
    def test_bodies_that_take_too_much_memory_are_503(self, server):
        raws = [server.connect() for _ in range(3)]
        try:
            # Two bodies find room. The last one is small enough for the buffers of the system, if it is not read.
            for raw, length in zip(raws, (31, 31, 3)):
                raw.send(server.head("POST", "/users", {"Content-Type": "application/json", "Content-Length": str(32 * MIB)}))
                raw.send(b" " * (length * MIB))
            # One of them is refused: the one whose part comes when there is no more room.
            refused, _, _ = select.select([raw.socket for raw in raws], [], [], 20)
            self.assertNotEqual(refused, [], "65 MiB find room")
            response = next(raw for raw in raws if raw.socket in refused).response()
            self.assertProblem(response, 503, "overloaded")
            self.assertEqual(response.headers["retry-after"], "1")
            self.assertEqual(server.add("NIX")["user"]["name"], "NIX", "what is small finds room")
        finally:
            for raw in raws:
                raw.close()
        eventually(lambda: self.has_room(server), "the memory of clients that left is not free")

    def has_room(self, server):
        # Not JSON, so that it is soon refused when there is room for it.
        body = b" " * (31 * MIB)
        statuses = []

        def post():
            statuses.append(server.request("POST", "/users", body, {"Content-Type": "application/json"}, within=60).status)

        threads = [threading.Thread(target=post) for _ in range(2)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        return statuses == [400, 400]

    @served("--max-memory", "64")
    def test_answers_that_nobody_reads_are_503_when_they_take_too_much_memory(self, server):
        server.add("NIX")
        sql(server.database, "INSERT INTO attributes VALUES (1, 'text', hex(zeroblob(7 * 1048576)))")
        raws = [server.connect(receive_buffer=4096) for _ in range(8)]
        try:
            for raw in raws:
                raw.send(server.head("GET", "/users/1"))
            answers = [raw.head(within=60) for raw in raws]
            refused = [raw for raw, answer in zip(raws, answers) if answer.status == 503]
            self.assertIn(200, [answer.status for answer in answers])
            self.assertNotEqual(refused, [], "eight answers of 14 MiB find room")
            self.assertEqual(server.write("PATCH", "/users/1", {"set": {"text": None}})["user"]["name"], "NIX")
            self.assertEqual(server.get("/users/1")["name"], "NIX")
        finally:
            for raw in raws:
                raw.close()


class ManyStreams(TestCase):
    @served("--max-streams", "3")
    def test_too_many_streams_are_503_and_other_requests_work(self, server):
        paths = ["/changes", "/lists", "/changes?after=oldest"]
        opened = [server.stream(path) for path in paths]
        try:
            for stream in opened:
                stream.wait("progress")
            for path, accept in (("/changes", "text/event-stream"), ("/lists", "text/event-stream"),
                                 ("/changes", "application/jsonl")):
                response = server.request("GET", path, headers={"Accept": accept})
                self.assertProblem(response, 503, "tooManyStreams")
                self.assertRegex(response.headers["retry-after"], "^[0-9]+$")
            server.add()
            self.assertEqual(server.request("GET", "/health").status, 200)
            self.assertEqual(streams(server), 3)
            opened.pop().close()
            stream = eventually(lambda: self.opened(server), "the place of a stream that ended is not free")
            stream.close()
        finally:
            for stream in opened:
                stream.close()

    def opened(self, server):
        stream = server.stream("/changes")
        if stream.status == 200:
            return stream
        stream.close()
        return None

    @served("--max-streams", "2")
    def test_streams_of_clients_that_left_do_not_count(self, server):
        for number in range(60):
            stream = eventually(lambda: self.opened(server), f"stream {number} finds no place")
            if number % 3 == 0:
                stream.wait("progress")
            if number % 2 == 0:
                stream.raw.abort()
            else:
                stream.close()
        eventually(lambda: streams(server) == 0, "streams remain")

    @served("--max-streams", "2")
    def test_head_on_a_stream_ends_and_leaves_no_stream_behind(self, server):
        for path in ("/changes", "/lists", "/changes?after=oldest", "/changes?wait=25") * 3:
            with server.connect() as raw:
                raw.send(server.head("HEAD", path, {"Accept": "text/event-stream"}) + server.head("GET", "/health"))
                self.assertEqual(raw.response(within=5, to="HEAD").status, 200, path)
                self.assertEqual(raw.response(within=5).text, '{"status":"ok"}')
        self.assertEqual(streams(server), 0)

    @served()
    def test_sigterm_with_200_streams_exits_0_within_5_seconds(self, server):
        server.add()
        opened = [server.stream(("/changes", "/lists", "/changes?after=oldest")[number % 3]) for number in range(200)]
        try:
            for stream in opened:
                stream.wait("progress")
            self.assertEqual(server.stop(within=5), 0)
            for stream in opened:
                events = stream.end()
                self.assertEqual((stream.ending, [event.data for event in events if event.event == "closing"]),
                                 ("whole", [{"reason": "shutdown"}]))
        finally:
            for stream in opened:
                stream.close()

    @served()
    def test_streams_that_are_sending_end_with_a_documented_reason(self, server):
        server.add(text="")
        for number in range(40):
            server.patch(1, text=chr(97 + number % 26) * 100_000)
        # What is on its way is not much, and is read before the server stops to wait for it.
        opened = [server.stream("/changes?after=oldest", receive_buffer=65536) for _ in range(10)]
        try:
            server.process.send_signal(signal.SIGTERM)
            for stream in opened:
                self.assertEqual(stream.end()[-1].data, {"reason": "shutdown"})
            self.assertEqual(server.process.wait(10), 0)
        finally:
            for stream in opened:
                stream.close()

    @on_files
    @served("--max-memory", "1024")
    def test_sigterm_stops_large_answers_and_leaves_one_file(self, server):
        server.add("NIX")
        # Each is quickly rendered, so that what is being rendered ends soon, also beside other programs.
        sql(server.database, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
            " INSERT INTO users (name) SELECT 'u' || i FROM n")
        sql(server.database, "INSERT INTO attributes SELECT id, 'text', hex(zeroblob(131072)) FROM users")
        raws = [server.connect(receive_buffer=4096) for _ in range(40)]
        try:
            for number, raw in enumerate(raws):
                path = ("/users", "/users/1", "/lists", "/changes?after=oldest")[number % 4]
                raw.send(server.head("GET", path, {"Accept": "text/event-stream" if number % 4 > 1 else "application/json"}))
            # Some answers have begun, and the others are being rendered.
            self.assertIsNotNone(raws[1].head())
            self.assertEqual(server.stop(), 0)
            self.assertEqual([path.name for path in pathlib.Path(server.database).parent.glob("users.db*")], ["users.db"])
        finally:
            for raw in raws:
                raw.close()

    @on_files
    @served()
    def test_sigterm_ends_a_long_query_and_leaves_one_file(self, server):
        sql(server.database, "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 300000)"
            " INSERT INTO users (name) SELECT 'user number ' || i FROM n")
        with server.connect() as raw:
            before = cpu_seconds(server.process.pid)
            raw.send(server.head("GET", "/users?limit=1&count=true" + "&where=name~=number" * 119))
            # No event reports that a query runs.
            eventually(lambda: cpu_seconds(server.process.pid) > before + 0.5, "the query runs")
            self.assertEqual(server.stop(within=60), 0)
            self.assertEqual([path.name for path in pathlib.Path(server.database).parent.glob("users.db*")], ["users.db"])

    @on_files
    def test_sigterm_waits_for_a_slow_disk_and_leaves_one_file(self):
        # Closing syncs the -wal file and the file, which together takes longer than a shutdown waits for a query. With -D, the child
        # that gets the signal is the server, not strace.
        slow = ["strace", "-D", "-f", "-qq", "-o", "/dev/null", "-e", "trace=fsync,fdatasync", "-e", "signal=none",
                "-e", "inject=fsync,fdatasync:delay_enter=2500ms"]
        with Server() as server:
            server.add("NIX")
            self.assertEqual(server.stop(), 0)
            server.tracer = slow
            server.start()
            server.add("Zoe")
            self.assertEqual(server.stop(within=60), 0)
            self.assertEqual([path.name for path in pathlib.Path(server.database).parent.glob("users.db*")], ["users.db"])

    @served()
    def test_sigterm_does_not_wait_for_a_reader_that_stopped(self, server):
        server.add("NIX", text="")
        with server.stream("/changes?after=oldest",
                           receive_buffer=4096) as slow, server.connect() as half, server.connect() as silent:
            self.assertEqual(slow.status, 200)
            half.send(server.head("POST", "/users", {"Content-Type": "application/json", "Content-Length": 100}) + b"{")
            silent.send(b"GET")
            for _ in range(40):
                sql(server.database, "UPDATE attributes SET value = hex(randomblob(262144))")
            self.assertEqual(server.stop(within=5), 0)

    @served()
    def test_a_long_poll_ends_with_the_server(self, server):
        cursor = server.add()["cursor"]
        with server.connect() as raw:
            raw.send(server.head("GET", at("/changes", after=cursor, wait=25), {"Accept": "application/json"}))
            server.get("/about")
            self.assertEqual(server.stop(within=5), 0)
            response = raw.response()
            self.assertTrue(response is None or response.status in (200, 503), response)

    @served()
    def test_sigint_ends_the_server_too(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            self.assertEqual(server.stop(signal=2, within=5), 0)
            self.assertEqual(stream.end()[-1].data, {"reason": "shutdown"})


class ManyConnections(TestCase):
    def idle(self, server, count):
        """Connections that send nothing; what is refused is refused."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft < count + 200:
            resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, count + 200), hard))
        sockets = []
        for _ in range(count):
            connection = socket.socket()
            connection.setblocking(False)
            self.assertIn(connection.connect_ex((server.host, server.port)), (0, errno.EINPROGRESS, errno.EAGAIN))
            sockets.append(connection)
        return sockets

    @served(descriptors=128)
    def test_the_server_survives_more_connections_than_it_has_descriptors(self, server):
        server.add()
        for _ in range(3):
            sockets = self.idle(server, 500)
            self.assertIsNone(server.process.poll())
            for connection in sockets:
                connection.close()
            eventually(lambda: self.answers(server), "the server does not answer after the connections have closed", within=15)
            self.assertIsNone(server.process.poll())
        server.patch(1, age=1)
        with server.stream("/changes") as stream:
            stream.wait("progress")

    def answers(self, server):
        try:
            return server.request("GET", "/users", within=2).status == 200
        except OSError:
            return False

    @served(descriptors=128)
    def test_streams_up_to_the_limit_of_descriptors_do_not_stop_the_server(self, server):
        server.add()
        opened = []
        try:
            while len(opened) < 200:
                raw = server.connect()
                try:
                    raw.send(server.head("GET", "/changes", {"Accept": "text/event-stream"}))
                    opened.append(Stream(raw, "/changes") if len(opened) < 10 else raw)
                except AssertionError:
                    raw.close()
                    break
            self.assertIsNone(server.process.poll())
        finally:
            for connection in opened:
                connection.close()
        eventually(lambda: self.answers(server), "the server does not answer after the streams have closed", within=15)

    @served(descriptors=256)
    def test_the_connections_that_have_been_idle_for_longest_make_room(self, server):
        first = [server.connect() for _ in range(120)]
        sockets = [raw.socket for raw in first]
        try:
            # They are idle before the next ones connect.
            for raw in first:
                raw.send(server.head("GET", "/health"))
                self.assertEqual(raw.response().status, 200)
            for connection in sockets:
                connection.setblocking(False)
            sockets += self.idle(server, 120)
            self.assertEqual(server.request("GET", "/health").status, 200)
            closed = [number for number, connection in enumerate(sockets) if self.is_closed(connection)]
            # As many as necessary, which is about 73: to wait until they are too late would close all that find room.
            self.assertLess(len(closed), 120)
            self.assertLess(max(closed), len(first))
        finally:
            for connection in sockets:
                connection.close()

    def is_closed(self, connection):
        try:
            return connection.recv(1) == b""
        except BlockingIOError:
            return False
        except ConnectionError:
            return True

    @served(descriptors=160)
    def test_busy_connections_stay_and_others_get_503(self, server):
        server.add()
        busy, refusal = [], None
        head = server.head("PATCH", "/users/1", {"Content-Type": "application/json", "Content-Length": "20"})
        try:
            with server.stream("/changes") as stream:
                stream.wait("progress")
                while refusal is None and len(busy) < 160:
                    raw = server.connect()
                    busy.append(raw)
                    # The head makes a connection busy as soon as the server has taken it, which the answer to Expect says.
                    raw.send(head.replace(b"\r\n\r\n", b"\r\nExpect: 100-continue\r\n\r\n"))
                    answer = raw.head()
                    if answer.status != 100:
                        refusal = answer
                self.assertIsNotNone(refusal, "160 connections find room")
                refusal.body = busy.pop().exactly(int(refusal.headers["content-length"]), time.monotonic() + DEADLINE, "the problem")
                self.assertProblem(refusal, 503, "tooManyConnections")
                self.assertEqual((refusal.headers["retry-after"], refusal.headers["connection"]), ("1", "close"))
                for number, raw in enumerate(busy):
                    raw.send(b'{"set":{"n":%06d}}'.replace(b"%06d", b"%d" % (100_000 + number)).ljust(20))
                    self.assertEqual(raw.response().status, 200)
                stream.wait("changes", until=lambda event: f'"new":{100_000 + len(busy) - 1}' in event.text)
        finally:
            for raw in busy:
                raw.close()
        self.assertEqual(server.request("GET", "/users/1").status, 200, "there is room again")

    @served()
    def test_idle_connections_do_not_stop_others(self, server):
        sockets = self.idle(server, 500)
        try:
            for number in range(10):
                server.add(f"user {number}")
        finally:
            for connection in sockets:
                connection.close()
