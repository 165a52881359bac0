"""Bodies and framing: media types, sizes, deadlines, and requests that two servers would read differently."""

import codecs
import gzip
import select
import threading
import time

from support import TestCase, served, sql

MIB = 1 << 20


class MediaTypes(TestCase):
    def post(self, server, kind, method="POST", path="/users", body=b'{"name":"NIX"}', headers={}):
        with server.connect() as raw:
            fields = {"Content-Length": str(len(body)), **({"Content-Type": kind} if kind is not None else {}), **headers}
            raw.send(server.head(method, path, fields) + body)
            return raw.response()

    @served()
    def test_only_json_in_utf_8_is_read(self, server):
        for kind in ("application/json", "application/json; charset=utf-8", "Application/JSON;charset=UTF-8",
                     "application/json ; charset=utf-8"):
            self.assertEqual(self.post(server, kind).status, 201, kind)
        users = server.get("/about")["users"]
        for kind in (None, "", "text/plain", "text/plain; x=application/json", "application/x-www-form-urlencoded",
                     "multipart/form-data; boundary=x", "application/jsonp",
                     "application/json-patch+json", "application/json; charset=latin1", "application/json; charset=utf-16",
                     "text/json", "application/json, text/plain",
                     "application/javascript", "*/*"):
            self.assertProblem(self.post(server, kind), 415, "unsupportedMediaType")
        server.add("last")
        for method, path in (("PUT", "/users/1"), ("PATCH", "/users/1")):
            self.assertProblem(self.post(server, "text/plain", method, path, headers={"If-Match": "*"}), 415)
        with server.connect() as raw:
            raw.send(server.head("POST", "/users", {"Content-Type": "text/plain"}).replace(
                b"\r\n\r\n", b'\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"name":"NIX"}'))
            self.assertIn(raw.response().status, (400, 415))
        self.assertEqual(server.get("/about")["users"], users + 1)

    @served()
    def test_a_body_that_is_encoded_is_refused_with_the_reason(self, server):
        server.add()
        for encoding in ("gzip", "deflate", "br", "x-gzip", "gzip, identity"):
            for body in (gzip.compress(b'{"name":"NIX"}'), b'{"name":"NIX"}'):
                for method, path in (("POST", "/users"), ("PUT", "/users/1"), ("PATCH", "/users/1")):
                    response = self.post(server, "application/json", method, path, body, {"Content-Encoding": encoding, "If-Match": "*"})
                    problem = self.assertProblem(response, 415, "unsupportedMediaType")
                    self.assertIn("compressed", problem["detail"])
                    self.assertEqual(response.headers["accept-encoding"], "identity")
        self.assertEqual(self.post(server, "application/json", headers={"Content-Encoding": "identity"}).status, 201)
        for body, word in ((gzip.compress(b'{"name":"NIX"}'), "gzip"), ('{"name":"NIX"}'.encode("utf-16"), "UTF-16"),
                           (codecs.BOM_UTF16_BE + '{"name":"NIX"}'.encode("utf-16-be"), "UTF-16")):
            problem = self.assertProblem(self.post(server, "application/json", body=body), 400, "badRequest")
            self.assertIn(word, problem["detail"])
            self.assertTrue(problem["hint"])

    @served()
    def test_a_byte_order_mark_before_a_body_is_no_part_of_it(self, server):
        mark = codecs.BOM_UTF8
        self.assertEqual(self.post(server, "application/json", body=mark + b'{"name":"NIX"}').status, 201)
        for method, body in (("PUT", b'{"name":"Zo\xc3\xab"}'), ("PATCH", b'{"set":{"name":"Zo\xc3\xab"}}')):
            self.assertEqual(self.post(server, "application/json", method, "/users/1", mark + body, {"If-Match": "*"}).status, 200)
        self.assertEqual(server.get("/users/1")["name"], "Zoë")
        self.assertProblem(self.post(server, "application/json", body=mark + mark + b'{"name":"NIX"}'), 400)
        self.assertProblem(self.post(server, "application/json", body=mark), 400)

    @served()
    def test_a_write_without_a_body_needs_no_media_type(self, server):
        revision = server.add()["revision"]
        for path, headers, method in ((f"/changes/{revision}/undo", {}, "POST"),):
            self.assertEqual(self.post(server, None, method, path, b"", headers).status, 200)

    @served()
    def test_a_body_that_a_request_does_not_have_is_not_executed(self, server):
        revision = server.add()["revision"]
        for kind in ("text/plain", "application/x-www-form-urlencoded"):
            response = self.post(server, kind, "POST", f"/changes/{revision}/undo", b"x=1")
            self.assertEqual(response.status, 415, response)
        self.assertEqual(server.get("/about")["users"], 1)


class Sizes(TestCase):
    @served()
    def test_a_body_that_is_announced_too_large_is_413_at_once(self, server):
        for length in (32 * MIB + 1, 1 << 40, (1 << 63) - 1):
            with server.connect() as raw:
                raw.send(server.head("POST", "/users", {"Content-Type": "application/json", "Content-Length": length}))
                self.assertProblem(raw.response(within=5), 413, "tooLarge")
        for length in ("99999999999999999999999", "-1", "+5", "0x10", "1e3", "5 5", ""):
            with server.connect() as raw:
                raw.send(server.head("POST", "/users", {"Content-Type": "application/json", "Content-Length": length}))
                self.assertIn(raw.response(within=5).status, (400, 413), length)

    @served()
    def test_a_body_in_chunks_that_is_too_large_is_413(self, server):
        before = server.peak_memory
        with server.connect() as raw:
            raw.send(server.head("POST", "/users", {"Content-Type": "application/json", "Transfer-Encoding": "chunked"}))
            chunk = b"100000\r\n" + b"x" * MIB + b"\r\n"
            try:
                for _ in range(64):
                    raw.send(chunk)
            except OSError:
                pass  # The server does not read the rest.
            response = raw.response()
            self.assertTrue(response or raw.was_reset)
            if response:
                self.assertProblem(response, 413, "tooLarge")
        self.assertLess(server.peak_memory - before, 160 * MIB)
        server.add()

    @served()
    def test_a_request_without_the_token_is_answered_before_its_body(self, server):
        for fields in ({"Content-Length": 32 * MIB}, {"Content-Length": 32 * MIB, "Expect": "100-continue"},
                       {"Transfer-Encoding": "chunked"}):
            for headers, status in (({"Authorization": None}, 401), ({"Origin": "null"}, 403), ({"Host": "evil.test"}, 421)):
                with server.connect() as raw:
                    raw.send(server.head("POST", "/users", {"Content-Type": "application/json", **fields, **headers}))
                    response = raw.head(5)
                    self.assertEqual(response.status, status, fields)

    @served()
    def test_a_client_that_waits_for_100_can_write(self, server):
        with server.connect() as raw:
            body = b'{"name":"NIX"}'
            raw.send(server.head("POST", "/users",
                                 {"Content-Type": "application/json", "Content-Length": len(body), "Expect": "100-continue"}))
            self.assertEqual(raw.head(5).status, 100)
            raw.send(body)
            self.assertEqual(raw.response().status, 201)

    @served()
    def test_large_headers_are_refused(self, server):
        for headers in ({"X-Large": "x" * MIB}, {f"X-{number}": "x" * 1000 for number in range(1024)},
                        {"Cookie": "a=b; " * 200_000}):
            with server.connect() as raw:
                try:
                    raw.send(server.head("GET", "/users", headers))
                except OSError:
                    pass
                response = raw.response()
                self.assertTrue(response or raw.was_reset)
                if response:
                    self.assertIn(response.status, (400, 431))
        with server.connect() as raw:
            try:
                raw.send(server.head("GET", "/users?where=" + "x" * MIB))
            except OSError:
                pass
            response = raw.response()
            self.assertTrue(response is None or response.status in (400, 414, 431), response)
        server.add()

    @served()
    def test_what_cannot_be_read_gets_a_problem(self, server):
        # Not more than the server reads before it answers: the answer to a client that goes on sending may be lost.
        for request, status, code in ((server.head("GET", "/users?with=" + "x" * 85_000), 431, "headTooLong"),
                                      (b"GET / HTTP/1.1\r\nbad\r\n\r\n", 400, "badRequest")):
            with server.connect() as raw:
                raw.send(request)
                response = raw.response()
                self.assertEqual((response.status, response.headers["content-type"]), (status, "application/problem+json"))
                self.assertEqual(response.json()["code"], code)
        server.add()


class Deadlines(TestCase):
    @served()
    def test_a_body_that_does_not_arrive_within_30_seconds_is_408(self, server):
        failures = []

        def drip(name, head, piece):
            try:
                start = time.monotonic()
                with server.connect() as raw:
                    raw.send(head)
                    # A byte every 5 s, until the server answers.
                    while not select.select([raw.socket], [], [], 5)[0]:
                        self.assertLess(time.monotonic() - start, 40, f"{name}: the connection is still open")
                        raw.send(piece)
                    self.assertProblem(raw.response(), 408, "timeout")
                    self.assertIn(int(time.monotonic() - start), range(28, 37), name)
            except Exception as error:
                failures.append((name, error))

        json = {"Content-Type": "application/json"}
        kinds = [("length", server.head("POST", "/users", {**json, "Content-Length": 1000}), b" "),
                 ("chunks", server.head("POST", "/users", {**json, "Transfer-Encoding": "chunked"}), b"1\r\n \r\n"),
                 ("nothing", server.head("PATCH", "/users/1", {**json, "Content-Length": 1000}), b"")]
        threads = [threading.Thread(target=drip, args=kind) for kind in kinds]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            server.add()  # Others are served meanwhile.
            threads[0].join(1)
        for thread in threads:
            thread.join()
        self.assertEqual(failures, [])

    @served()
    def test_a_connection_that_sends_nothing_is_closed(self, server):
        with server.connect() as silent, server.connect() as slow:
            slow.send(b"GET /users HTTP/1.1\r\nHost: ")
            start = time.monotonic()
            silent.rest(within=35)
            slow.rest(within=35)
            self.assertLess(time.monotonic() - start, 35)


class Framing(TestCase):
    @served()
    def test_a_request_that_two_servers_would_read_differently_is_400(self, server):
        server.add()
        host = f"Host: 127.0.0.1:{server.port}\r\nAuthorization: Bearer {server.token}\r\nContent-Type: application/json\r\n"
        smuggled = f"DELETE /users/1 HTTP/1.1\r\n{host}If-Match: *\r\n\r\n"
        body = '{"name":"x"}'
        chunked = f"{len(body):x}\r\n{body}\r\n0\r\n\r\n"
        for name, fields, content in (
            ("length and chunks", "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n", "0\r\n\r\n"),
            ("chunks and length", f"Transfer-Encoding: chunked\r\nContent-Length: {len(chunked)}\r\n", chunked),
            ("two lengths", f"Content-Length: {len(body)}\r\nContent-Length: {len(body) + 5}\r\n", body),
            ("a list of lengths", f"Content-Length: {len(body)}, {len(body) + 5}\r\n", body),
            ("a signed length", f"Content-Length: +{len(body)}\r\n", body),
            ("chunked is not last", "Transfer-Encoding: chunked, identity\r\n", chunked),
            ("unknown encoding", "Transfer-Encoding: xchunked\r\n", chunked),
            ("a space before the colon", f"Content-Length : {len(body)}\r\n", body),
            ("a folded header", f"Content-Length:\r\n {len(body)}\r\nX: a\r\n b\r\n", body),
            ("a bare CR", f"X: a\rContent-Length: 0\r\nContent-Length: {len(body)}\r\n", body),
            ("a malformed chunk", "Transfer-Encoding: chunked\r\n", "zz\r\n"),
            ("a negative chunk", "Transfer-Encoding: chunked\r\n", "-1\r\n"),
            ("a chunk without an end", "Transfer-Encoding: chunked\r\n", f"{len(body):x}\r\n{body}XX0\r\n\r\n"),
            ("a huge chunk", "Transfer-Encoding: chunked\r\n", "ffffffffffffffffff\r\n"),
            ("a NUL", "X: a\0b\r\nContent-Length: 0\r\n", ""),
        ):
            with server.connect() as raw:
                raw.send(f"POST /users HTTP/1.1\r\n{host}{fields}\r\n{content}{smuggled}".encode())
                first = raw.response()
                self.assertIsNotNone(first, name)
                self.assertEqual(first.status, 400, name)
                # Nothing that follows is answered.
                self.assertEqual(raw.rest(), b"", name)
            self.assertEqual(server.request("GET", "/users/1").status, 200, f"{name}: the smuggled request was executed")
            self.assertEqual(server.get("/about")["users"], 1, name)

    @served()
    def test_what_is_not_http_is_400_or_closed(self, server):
        for data in (b"\r\n\r\n\r\n", b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
                     b"GET / HTTP/2.0\r\nHost: x\r\n\r\n", b"\x16\x03\x01\x02\0\x01\0\x01\xfc\x03\x03",
                     b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"G\0T / HTTP/1.1\r\n\r\n", b"GET /\xff HTTP/1.1\r\n\r\n",
                     b"GET / HTTP/1.1\r\nHost\r\n\r\n", bytes(10_000)):
            with server.connect() as raw:
                raw.send(data)
                raw.socket.shutdown(1)
                response = raw.response()
                self.assertTrue(response is None or response.status >= 400, (data, response))
        server.add()
        self.assertEqual(server.stop(), 0)
        self.assertNotIn("Fatal", server.log)

    @served()
    def test_requests_on_one_connection_are_answered_in_order(self, server):
        server.add("NIX")
        with server.connect() as raw:
            requests = (("GET", "/users/1"), ("GET", "/users/2"), ("HEAD", "/users/1"), ("GET", "/health"))
            raw.send(b"".join(server.head(method, path) for method, path in requests))
            self.assertEqual([raw.response().status, raw.response().status, raw.response(to="HEAD").status, raw.response().text],
                             [200, 404, 200, '{"status":"ok"}'])

    @served()
    def test_ordinary_mistakes_of_clients_are_not_logged(self, server):
        server.add()
        server.request("GET", "/users?where=age")
        server.request("GET", "/users", token=False)
        server.request("POST", "/users", "{")
        server.request("GET", "/nowhere")
        sql(server.database, "UPDATE users SET name = 'Zoë'")
        with server.stream("/changes") as stream:
            stream.wait("progress")
            stream.raw.abort()
        with server.connect() as raw:
            raw.send(b"nonsense\r\n\r\n")
            raw.response()
        self.assertEqual(server.stop(), 0)
        self.assertEqual(server.log, f"userserver: created {server.database}\n")
