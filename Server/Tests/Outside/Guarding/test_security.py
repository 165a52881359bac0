"""Who may send requests: hosts, origins, tokens; and the headers of every answer."""

import base64
import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

from support import ROOT, Server, TestCase, at, served, usertool

PAGE = (ROOT / "Server/Sources/userserver/Page/Files/index.html").read_bytes()
SCRIPT = base64.b64encode(hashlib.sha256(PAGE.split(b"<script>")[1].split(b"</script>")[0]).digest()).decode()
POLICY = (f"default-src 'none'; script-src 'self' 'sha256-{SCRIPT}'; worker-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
          "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'")
PATHS = ("/", "/log", "/health", "/openapi.json", "/about", "/users", "/users/1", "/changes", "/lists", "/consumers", "/metrics", "/nowhere")


class Hosts(TestCase):
    def status(self, server, host, path="/about", version="1.1", method="GET"):
        """The status of a request with these lines as its Host headers."""
        with server.connect() as raw:
            lines = [f"{method} {path} HTTP/{version}", *host, f"Authorization: Bearer {server.token}", "Connection: close"]
            raw.send("\r\n".join(lines + ["", ""]).encode())
            response = raw.response()
            return response.status if response else None

    @served()
    def test_each_name_of_a_loopback_address_is_accepted_with_its_port(self, server):
        for name in ("127.0.0.1", "localhost", "[::1]"):
            self.assertEqual(self.status(server, [f"Host: {name}:{server.port}"]), 200, name)

    @served()
    def test_a_foreign_host_is_421_on_every_path(self, server):
        for host in (f"evil.test:{server.port}", "evil.test", "127.0.0.1", "localhost", f"127.0.0.1:{server.port + 1}",
                     f"0.0.0.0:{server.port}",
                     f"localhost.:{server.port}", f"127.0.0.1.evil.test:{server.port}", f"user@127.0.0.1:{server.port}",
                     f"127.1:{server.port}",
                     f"2130706433:{server.port}", f"[::]:{server.port}", f"127.0.0.1:0{server.port}", f"localhost:{server.port}.",
                     f"[::ffff:127.0.0.1]:{server.port}"):
            for path in PATHS if host.startswith("evil.test:") else ["/about"]:
                self.assertIn(self.status(server, [f"Host: {host}"], path), (421, 400) if "@" in host else (421,), (host, path))
        response = server.request("GET", "/users", headers={"Host": f"evil.test:{server.port}"})
        self.assertProblem(response, 421, "wrongHost")
        for method in ("POST", "PUT", "DELETE", "OPTIONS", "HEAD", "PATCH"):
            self.assertEqual(self.status(server, [f"Host: evil.test:{server.port}"], method=method), 421, method)

    @served()
    def test_a_missing_or_doubled_host_is_refused(self, server):
        own = f"Host: 127.0.0.1:{server.port}"
        for lines in ([], [own, own], [own, "Host: evil.test"], ["Host: evil.test", own], ["Host:"], [own + ", evil.test"]):
            for path in ("/about", "/", "/health"):
                self.assertIn(self.status(server, lines, path), (400, 421), lines)
        self.assertIn(self.status(server, [], version="1.0"), (400, 421))

    @served()
    def test_a_foreign_host_in_the_target_is_421_whatever_the_header_says(self, server):
        own = f"127.0.0.1:{server.port}"
        for host in (f"evil.test:{server.port}", "evil.test", f"user@{own}", f"{own}.evil.test", "", f"{own}@evil.test", f"evil.test#{own}",
                     f"evil.test?{own}"):
            for scheme in ("http://", "https://", "HTTP://", "x://"):
                for path in PATHS:
                    for method in ("GET", "DELETE", "OPTIONS"):
                        status = self.status(server, [f"Host: {own}"], scheme + host + path, method=method)
                        self.assertIn(status, (400, 421), (host, path))
        # The same name in both is as in Host alone.
        for scheme in ("http", "HTTP", "https"):
            self.assertEqual(self.status(server, [f"Host: {own}"], f"{scheme}://{own}/about"), 200)
        for host in (f"localhost:{server.port}", "evil.test", ""):
            self.assertEqual(self.status(server, [f"Host: {host}"], f"http://{own}/about"), 400)
        self.assertEqual(self.status(server, ["Host: evil.test"], "http://evil.test/about"), 421)

    @served("--host", "users.example", "--host", "users.example:8443")
    def test_further_hosts_can_be_allowed(self, server):
        self.assertEqual(self.status(server, ["Host: users.example"]), 200)
        self.assertEqual(self.status(server, ["Host: users.example:8443"]), 200)
        self.assertEqual(self.status(server, [f"Host: localhost:{server.port}"]), 200)
        for host in ("users.example:80", "example", "a.users.example", "users.example.evil.test"):
            self.assertEqual(self.status(server, [f"Host: {host}"]), 421, host)


class Origins(TestCase):
    @served("--allow-origin", "https://tools.example")
    def test_only_own_and_allowed_origins_may_send_requests(self, server):
        own = [server.url, f"http://localhost:{server.port}", "https://tools.example"]
        foreign = ["null", "https://evil.test", "http://127.0.0.1", f"http://127.0.0.1:{server.port + 1}",
                   "https://tools.example.evil.test",
                   "http://tools.example", "https://tools.example:8443", "", f"{server.url}.evil.test", f"{server.url}/"]
        for method, path in (("GET", "/users"), ("GET", "/health"), ("GET", "/"), ("GET", "/openapi.json"), ("GET", "/nowhere"),
                             ("POST", "/users")):
            for origin in foreign:
                response = server.request(method, path, {"name": "NIX"} if method == "POST" else None, {"Origin": origin})
                self.assertProblem(response, 403, "forbidden")
                self.assertEqual([name for name in response.headers if name.startswith("access-control")], [])
            for origin in own:
                response = server.request(method, path, {"name": "NIX"} if method == "POST" else None, {"Origin": origin})
                self.assertIn(response.status, (200, 201, 404))
        self.assertEqual(server.get("/about")["users"], len(own))

    @served()
    def test_requests_that_another_site_causes_are_refused(self, server):
        for site in ("cross-site", "same-site", "nonsense", ""):
            for method, path in (("GET", "/users"), ("GET", "/health"), ("POST", "/users"), ("DELETE", "/users/1"),
                                 ("GET", "/changes"), ("GET", "/openapi.json")):
                for mode in ("cors", "no-cors", "navigate"):
                    response = server.request(method, path, {"name": "NIX"} if method == "POST" else None,
                                              {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": mode})
                    self.assertProblem(response, 403, "forbidden")
        for site in ("same-origin", "none"):
            self.assertEqual(server.request("GET", "/users", headers={"Sec-Fetch-Site": site}).status, 200)
        self.assertEqual(server.get("/about")["users"], 0)

    @served()
    def test_a_link_of_another_site_leads_to_the_page_and_nothing_else(self, server):
        link = {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
        for path in ("/", "/screens", "/log", "/pulse"):
            self.assertEqual(server.request("GET", path, headers=link, token=False).status, 200, path)
            for headers in ({**link, "Sec-Fetch-Mode": "no-cors"}, {**link, "Sec-Fetch-Mode": "cors"},
                            {"Sec-Fetch-Site": "cross-site"}):
                with self.subTest(headers=headers):
                    self.assertProblem(server.request("GET", path, headers=headers, token=False), 403, "forbidden")
            self.assertIn(server.request("POST", path, {}, link).status, (403, 405))
        self.assertProblem(server.request("GET", "/users", headers=link), 403, "forbidden")

    def assertNotShared(self, response):
        self.assertEqual([name for name in response.headers if name.startswith("access-control")], [], response)

    PREFLIGHT = {"Access-Control-Request-Method": "PATCH", "Access-Control-Request-Headers": "authorization"}

    @served("--allow-origin", "https://tools.example")
    def test_there_is_no_answer_to_a_preflight_of_another_origin(self, server):
        for origin in ("https://evil.test", "null", "http://tools.example", "https://tools.example.evil.test", "*", ""):
            for path in ("/users", "/users/1", "/health", "/nowhere"):
                response = server.request("OPTIONS", path, headers={**self.PREFLIGHT, "Origin": origin}, token=False)
                self.assertProblem(response, 403, "forbidden")
                self.assertNotShared(response)
        # Its own page needs none.
        self.assertNotShared(server.request("OPTIONS", "/users", headers={**self.PREFLIGHT, "Origin": server.url}))

    @served("--allow-origin", "https://tools.example", "--allow-origin", "http://localhost:3000")
    def test_a_preflight_of_an_allowed_origin_is_answered_without_the_token(self, server):
        for origin in ("https://tools.example", "http://localhost:3000"):
            for path in ("/users", "/users/1", "/changes", "/lists", "/nowhere"):
                response = server.request("OPTIONS", path, headers={**self.PREFLIGHT, "Origin": origin}, token=False)
                self.assertEqual((response.status, response.body), (204, b""))
                headers = {name: value for name, value in response.headers.items() if name.startswith("access-control")}
                self.assertEqual(headers.pop("access-control-max-age"), "600")
                self.assertEqual(headers.pop("access-control-allow-origin"), origin)
                self.assertEqual(set(headers.pop("access-control-allow-methods").split(", ")),
                                 {"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"})
                self.assertEqual(
                    set(headers.pop("access-control-allow-headers").split(", ")),
                    {"Authorization", "Content-Type", "If-Match", "If-None-Match", "Idempotency-Key", "Last-Event-ID", "Change-Origin"})
                self.assertEqual(list(headers), ["access-control-expose-headers"])
                self.assertEqual(response.headers["vary"], "Origin")
        headers = {**self.PREFLIGHT, "Origin": "https://tools.example"}
        response = server.request("OPTIONS", "/users", headers={**headers, "Host": "evil.test"}, token=False)
        self.assertProblem(response, 421, "wrongHost")
        del headers["Access-Control-Request-Method"]
        self.assertProblem(server.request("OPTIONS", "/users", headers=headers), 405, "methodNotAllowed")

    @served("--allow-origin", "https://tools.example")
    def test_a_page_of_an_allowed_origin_can_read_every_answer(self, server):
        tag = server.request("POST", "/users", {"name": "NIX"}).headers["etag"]
        for status, method, path, headers in (
            (200, "GET", "/users/1", {}), (304, "GET", "/users/1", {"If-None-Match": tag}), (404, "GET", "/users/9", {}),
            (400, "GET", "/users?where=age", {}), (428, "DELETE", "/users/1", {}),
            (401, "GET", "/users", {"Authorization": "Bearer x"}), (405, "DELETE", "/users", {}),
        ):
            response = server.request(method, path, headers={"Origin": "https://tools.example", **headers})
            self.assertEqual(response.status, status)
            self.assertEqual(response.headers["access-control-allow-origin"], "https://tools.example")
            self.assertEqual(response.headers["access-control-expose-headers"], "ETag, Location, Retry-After")
            self.assertNotIn("access-control-allow-credentials", response.headers)
            self.assertEqual(response.headers["vary"], "Origin")
        with server.stream("/changes", {"Origin": "https://tools.example"}) as stream:
            self.assertEqual(stream.headers["access-control-allow-origin"], "https://tools.example")
        response = server.request("GET", "/users/1")
        self.assertNotShared(response)
        self.assertEqual(response.headers["vary"], "Origin")


class Tokens(TestCase):
    @served()
    def test_everything_but_the_page_and_the_health_needs_the_token(self, server):
        for method, path in (("GET", "/users"), ("GET", "/users/1"), ("GET", "/about"), ("GET", "/changes"), ("GET", "/lists"),
                             ("GET", "/consumers"),
                             ("POST", "/users"), ("PUT", "/users/1"), ("PATCH", "/users/1"), ("DELETE", "/users/1"),
                             ("POST", "/changes/1/undo"),
                             ("HEAD", "/users")):
            response = server.request(method, path, token=False)
            self.assertEqual(response.status, 401, path)
            self.assertEqual(response.headers["www-authenticate"].split()[0], "Bearer")
            if method != "HEAD":
                self.assertProblem(response, 401, "badToken")
        for path in ("/", "/health", "/openapi.json", "/log"):
            self.assertEqual(server.request("GET", path, token=False).status, 200, path)

    @served()
    def test_only_the_exact_token_is_accepted(self, server):
        token = server.token
        self.assertGreaterEqual(len(token), 22)
        for value in (f"Bearer {token[:-1]}", f"Bearer {token}x", f"Bearer {token.swapcase()}", "Bearer", "Bearer ",
                      f"Basic {token}", token,
                      f"Bearer {token} {token}", f"Bearer {token},", f'Bearer "{token}"', "Bearer " + "x" * 10_000,
                      f"Bearer x{token}"):
            self.assertEqual(server.request("GET", "/users", headers={"Authorization": value}, token=False).status, 401, value[:80])
        with server.connect() as raw:
            raw.send(server.head("GET", "/users").replace(b"\r\n\r\n", b"\r\nAuthorization: Bearer wrong\r\n\r\n"))
            self.assertIn(raw.response().status, (400, 401))

    @served()
    def test_a_token_in_the_address_is_refused_and_not_logged(self, server):
        for path in (f"/users?token={server.token}", f"/users?access_token={server.token}", f"/about?{server.token}",
                     f"/{server.token}"):
            self.assertEqual(server.request("GET", path, token=False).status, 401, path)
        server.request("GET", f"/users?token={server.token}")
        server.request("GET", f"/users?where={server.token}")
        server.request("POST", "/users", f'{{"{server.token}":')
        self.assertEqual(server.stop(), 0)
        self.assertNotIn(server.token, server.log)

    @served()
    def test_other_processes_do_not_see_the_token(self, server):
        for file in ("cmdline", "environ", "comm"):
            content = pathlib.Path(f"/proc/{server.process.pid}/{file}").read_bytes()
            self.assertNotIn(server.token.encode(), content)
        for path in ("/", "/health", "/openapi.json"):
            self.assertNotIn(server.token, server.request("GET", path, token=False).text)
        self.assertNotIn(server.token, server.request("GET", "/about").text)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another account")
    @served()
    def test_another_account_of_the_machine_gets_nothing(self, server):
        server.add("NIX")
        script = ("import os, sys, urllib.request, urllib.error\n"
                  "for path in ('/users', '/changes', '/about', '/lists'):\n"
                  "    try: urllib.request.urlopen(sys.argv[1] + path, timeout=10); print(os.getuid(), 200)\n"
                  "    except urllib.error.HTTPError as error: print(os.getuid(), error.code)\n"
                  "try: open(sys.argv[2]).read(1); print('read')\n"
                  "except PermissionError: print('denied')\n")
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--no-new-privs", sys.executable, "-I", "-c", script,
             server.url, server.database], capture_output=True, text=True, timeout=60, cwd="/")
        self.assertEqual(result.stdout.split("\n"), ["65534 401"] * 4 + ["denied", ""], result.stderr)

    @served()
    def test_each_start_has_a_new_token(self, server):
        old = server.token
        server.stop()
        server.start()
        self.assertNotEqual(server.token, old)
        self.assertEqual(server.request("GET", "/users", token=old).status, 401)

    @served("--no-token")
    def test_a_server_without_a_token_still_checks_hosts_and_origins(self, server):
        self.assertIsNone(server.token)
        self.assertEqual(server.request("GET", "/users").status, 200)
        self.assertEqual(server.request("GET", "/users", headers={"Host": "evil.test"}).status, 421)
        self.assertEqual(server.request("GET", "/users", headers={"Origin": "null"}).status, 403)

    def test_a_token_can_come_from_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "token"
            path.write_text("a-token-of-our-own-1234567890\n")
            path.chmod(0o600)
            with Server("--token-file", str(path), token="a-token-of-our-own-1234567890") as server:
                self.assertEqual(server.request("GET", "/users").status, 200)
                self.assertEqual(server.request("GET", "/users", token=server.token + "x").status, 401)


class Headers(TestCase):
    def check(self, response, what):
        self.assertEqual(response.headers.get("content-security-policy"), POLICY, what)
        self.assertEqual(response.headers.get("x-content-type-options"), "nosniff", what)
        self.assertEqual(response.headers.get("referrer-policy"), "no-referrer", what)
        self.assertEqual(response.headers.get("cross-origin-resource-policy"), "same-origin", what)
        self.assertEqual(response.headers.get("cross-origin-opener-policy"), "same-origin", what)
        names = [name.lower() for name, _ in response.fields]
        self.assertEqual(len(names), len(set(names)), what)

    @served("--max-streams", "1")
    def test_every_kind_of_answer_has_the_security_headers(self, server):
        old = server.add()["cursor"]
        server.patch(1, age=1)
        usertool("compact", "--keep", "0", database=server.database)
        tag = server.request("GET", "/users/1").headers["etag"]
        json = {"Accept": "application/json"}
        cases = [
            (200, "GET", "/users", None, {}), (200, "GET", "/users/1", None, {}), (200, "GET", "/about", None, {}),
            (200, "HEAD", "/about", None, {}),
            (200, "GET", "/consumers", None, {}), (200, "GET", "/changes", None, json), (201, "POST", "/users", {"name": "a"}, {}),
            (200, "PATCH", "/users/1", {"set": {"age": 2}}, {}), (304, "GET", "/users/2", None, {"If-None-Match": "*"}),
            (400, "GET", "/users?where=age", None, {}), (400, "POST", "/users", "{", {}),
            (401, "GET", "/users", None, {"Authorization": "Bearer x"}),
            (403, "GET", "/users", None, {"Origin": "null"}), (404, "GET", "/nowhere", None, {}),
            (404, "GET", "/users/99", None, {}),
            (405, "DELETE", "/users", None, {}), (406, "GET", "/users", None, {"Accept": "image/png"}),
            (409, "PATCH", "/users/1", {"set": {"age": 3}, "expect": {"age": 1}}, {}),
            (410, "GET", at("/changes", after=old), None, json),
            (412, "DELETE", "/users/1", None, {"If-Match": tag}),
            (413, "POST", "/users", None, {"Content-Length": str(33 << 20), "Content-Type": "application/json"}),
            (415, "POST", "/users", "{}", {"Content-Type": "text/plain"}), (421, "GET", "/users", None, {"Host": "evil.test"}),
            (428, "DELETE", "/users/1", None, {}),
        ]
        for status, method, path, body, headers in cases:
            response = server.request(method, path, body, headers)
            self.assertEqual(response.status, status, (method, path, response))
            self.check(response, (status, method, path))
            self.assertEqual(response.headers.get("cache-control"), "no-store, no-transform", (status, method, path))
            self.assertEqual(response.headers.get("x-accel-buffering"), "no", (status, method, path))
        with server.stream("/changes") as stream:
            self.check(stream, "the stream")
            response = server.request("GET", "/lists", headers={"Accept": "text/event-stream"})
            self.assertProblem(response, 503, "tooManyStreams")
            self.check(response, 503)
        for path in ("/", "/health", "/openapi.json"):
            self.check(server.request("GET", path, token=False), path)

    @served()
    def test_the_files_of_the_page_are_copied_only_when_they_changed(self, server):
        for path in ("/", "/screens", "/log", "/pulse"):
            response = server.request("GET", path, token=False)
            self.assertEqual((response.status, response.headers["cache-control"]), (200, "no-cache"), path)
            self.assertTrue(response.headers["content-type"].startswith("text/html"))
            self.assertIn("utf-8", response.headers["content-type"].lower())
            tag = response.headers["etag"]
            for condition in (tag, f"W/{tag}"):
                copied = server.request("GET", path, headers={"If-None-Match": condition}, token=False)
                self.assertEqual((copied.status, copied.body), (304, b""), condition)
                self.check(copied, path)

    @served()
    def test_paths_do_not_lead_out_of_the_page(self, server):
        for path in ("/../etc/passwd", "/..%2f..%2fetc/passwd", "/%2e%2e/etc/passwd", "//etc/passwd", "/index.html/",
                     "/Files/index.html", "/.git", "/%00", "/users/",
                     "/users//1", "/USERS", "/index.html%00.js", "/users/1/", "/changes/1", "*"):
            response = server.request("GET", path)
            self.assertIn(response.status, (400, 404), path)
            self.check(response, path)

    @served()
    def test_a_wrong_method_is_405_with_the_right_ones(self, server):
        for path, allowed in (("/users", {"GET", "POST", "HEAD"}), ("/users/1", {"GET", "PUT", "PATCH", "DELETE", "HEAD"}),
                              ("/about", {"GET", "HEAD"}), ("/health", {"GET", "HEAD"}),
                              ("/changes", {"GET", "HEAD"}), ("/lists", {"GET", "HEAD"}), ("/changes/1/undo", {"POST"}),
                              ("/", {"GET", "HEAD"}), ("/openapi.json", {"GET", "HEAD"})):
            for method in {"GET", "POST", "PUT", "PATCH", "DELETE", "TRACE", "PROPFIND", "OPTIONS"} - allowed:
                response = server.request(method, path)
                self.assertProblem(response, 405, "methodNotAllowed")
                self.assertEqual({word.strip() for word in response.headers["allow"].split(",")} - {"OPTIONS"} | {"HEAD"},
                                 allowed | {"HEAD"}, path)
        with server.connect() as raw:
            raw.send(server.head("CONNECT", f"127.0.0.1:{server.port}"))
            self.assertIn(raw.response().status, (400, 404, 405))
