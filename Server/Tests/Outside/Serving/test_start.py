"""The command line: what it prints, and how it fails."""

import os
import pathlib
import re
import signal
import socket
import subprocess
import tempfile
import unittest

from support import USERSERVER, Server, TestCase, at, served, usertool


class Starting(TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.database = str(self.folder / "users.db")

    def failure(self, status, *options, database=True, listen=True):
        """Starts a server that must not start; returns its message."""
        command = [USERSERVER, *(["--db", self.database] if database else []), *(["--listen", "127.0.0.1:0"] if listen else []),
                   *options]
        result = subprocess.run(command, capture_output=True, text=True, timeout=20, stdin=subprocess.DEVNULL)
        self.assertEqual(result.returncode, status, (options, result))
        self.assertEqual(result.stdout, "", options)
        self.assertTrue(result.stderr.startswith("userserver: error: "), result.stderr)
        return result.stderr

    def test_bad_options_are_64_with_a_message(self):
        for options in (["--wat"], ["extra"], ["--heartbeat", "0s"], ["--heartbeat", "x"], ["--heartbeat", "15"],
                        ["--max-streams", "0"], ["--max-streams", "-1"],
                        ["--max-streams", "x"], ["--stream-age", "0s"], ["--stream-age", "x"], ["--db"],
                        ["--token-file", "x", "--no-token"], ["--host", ""],
                        ["--allow-origin", "*"], ["--allow-origin", "null"], ["--allow-origin", "https://a.example/"],
                        ["--allow-origin", "a.example"]):
            message = self.failure(64, *options)
            self.assertIn("hint: ", message)
        for listen in ("nonsense", "127.0.0.1:99999", "127.0.0.1:", "::1:8080", "127.0.0.1:-1", ""):
            self.failure(64, "--listen", listen, listen=False)
        self.assertFalse(pathlib.Path(self.database).exists())

    def test_an_address_of_all_interfaces_needs_a_name(self):
        self.failure(64, "--listen", "0.0.0.0:0", listen=False)
        with Server("--listen", "0.0.0.0:0", "--host", "users.example") as server:
            server.host = "127.0.0.1"
            self.assertEqual(server.request("GET", "/users", headers={"Host": "users.example"}).status, 200)
            for host in (f"0.0.0.0:{server.port}", f"127.0.0.1:{server.port}", f"localhost:{server.port}"):
                self.assertEqual(server.request("GET", "/users", headers={"Host": host}).status, 421, host)

    def hint(self, status, *options, says, **settings):
        message, hint = self.failure(status, *options, **settings).rstrip("\n").split("\nhint: ")
        self.assertIn(says, message)
        return hint

    def test_a_mistake_in_an_option_has_a_hint_that_corrects_it(self):
        for options in (["--port", "8081"], ["--port=8081"], ["-p", "8081"]):
            self.assertEqual(self.hint(64, *options, says="Unknown option"), "did you mean --listen 127.0.0.1:8081?")
        for options in (["--heartbeat", "5"], ["--heartbeat", "-1s"], ["--stream-age", "1x"]):
            self.assertIn("500ms, 15s, 5m, or 1h", self.hint(64, *options, says=options[0]))
        self.assertIn("127.0.0.1:8080", self.hint(64, "--listen", "8080x", says="8080x", listen=False))
        self.failure(64, "--db", "other.db")
        self.failure(64, "--read-only", "--max-streams=2", "--max-streams", "3")
        self.assertFalse(pathlib.Path(self.database).exists())

    def test_an_address_that_cannot_be_used_is_69(self):
        for address, says in (("192.0.2.1:0", "192.0.2.1 is not an address of this machine"),
                              ("no-such-host.invalid:0", "there is no host no-such-host.invalid")):
            self.hint(69, "--listen", address, says=says, listen=False)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become another account")
    def test_what_an_account_may_not_do_is_77_with_a_hint_that_helps(self):
        self.folder.chmod(0o777)
        usertool("add", "NIX", database=self.database)
        token = self.folder / "token"
        token.write_text("a-token-of-our-own-1234567890\n")
        token.chmod(0o600)
        with open("/proc/sys/net/ipv4/ip_unprivileged_port_start") as file:
            first = int(file.read())
        cases = [(["--db", str(self.folder / "new.db"), "--token-file", str(token)], "no permission to read"),
                 (["--db", self.database], "choose another file")]
        if first > 443:
            cases.append((["--db", str(self.folder / "new.db"), "--listen", "127.0.0.1:443"], "below 1024"))
        for options, says in cases:
            self.assertIn(says, self.as_nobody(77, *options))
        pathlib.Path(self.database).chmod(0o644)
        self.assertIn("use --read-only", self.as_nobody(77, "--db", self.database))
        self.folder.chmod(0o755)
        self.assertNotIn("--read-only", self.as_nobody(77, "--db", self.database))
        self.assertNotIn("--read-only", self.as_nobody(77, "--db", self.database, "--read-only"))

    def as_nobody(self, status, *options):
        result = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", USERSERVER, "--listen", "127.0.0.1:0", *options]
            if "--listen" not in options else
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", USERSERVER, *options],
            capture_output=True, text=True, timeout=20, cwd="/")
        self.assertEqual((result.returncode, result.stdout), (status, ""), (options, result))
        return result.stderr

    def test_it_says_which_database_it_serves_and_whether_that_is_new(self):
        path = self.folder / "a/b/users.db"
        for word in ("created", "serving"):
            with Server("--host", "users.example", database=path) as server:
                self.assertEqual(server.log, f"userserver: {word} {path}\n"
                                 "hint: behind a reverse proxy, the address is https://users.example/, with the same token\n")

    def test_a_path_cannot_act_on_the_terminal(self):
        path, shown = self.folder / "\x1b]0;owned\x07\nfake", f"{self.folder}/\\u{{1B}}]0;owned\\u{{7}}\\nfake"
        message = self.failure(66, "--read-only", "--db", str(path), database=False)
        self.assertTrue(message.split("\nhint: ")[0].endswith(shown), message)
        with Server(database=path) as server:
            self.assertEqual(server.log, f"userserver: created {shown}\n")

    def test_an_empty_variable_is_named(self):
        result = subprocess.run([USERSERVER], capture_output=True, text=True, timeout=20, env={**os.environ, "USERTOOL_DB": ""})
        self.assertEqual((result.returncode, result.stderr.split("\n")[0]), (64, "userserver: error: USERTOOL_DB is empty"))

    def test_a_port_in_use_is_69(self):
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            taken.listen()
            port = taken.getsockname()[1]
            message = self.failure(69, "--listen", f"127.0.0.1:{port}", listen=False)
            self.assertIn(str(port), message)
            self.assertIn("hint: ", message)

    def test_a_file_that_is_no_database_stays_as_it_is(self):
        pathlib.Path(self.database).write_text("not a database, but the letters of somebody\n" * 100)
        before = pathlib.Path(self.database).read_bytes()
        result = subprocess.run([USERSERVER, "--db", self.database, "--listen", "127.0.0.1:0"], capture_output=True, text=True,
                                timeout=20)
        self.assertEqual(result.returncode, 65)
        self.assertRegex(result.stderr, f"^userserver: error: {self.database}: ")
        self.assertEqual(pathlib.Path(self.database).read_bytes(), before)

    def test_a_missing_database_is_created_but_not_to_read(self):
        with Server(database=self.database) as server:
            server.add()
        self.assertEqual(pathlib.Path(self.database).stat().st_mode & 0o077, 0)
        pathlib.Path(self.database).unlink()
        self.failure(66, "--read-only")
        self.assertFalse(pathlib.Path(self.database).exists())

    def test_a_token_file_must_be_private_and_not_empty(self):
        path = self.folder / "token"
        self.assertIn("hint", self.failure_of_any_kind("--token-file", str(path)) + "hint")
        for content, mode in (("a-token-of-our-own-1234567890\n", 0o644), ("a-token-of-our-own-1234567890\n", 0o640),
                              ("a-token-of-our-own-1234567890\n", 0o604),
                              ("", 0o600), ("\n", 0o600), ("   \n", 0o600), ("two words of a token 1234567890\n", 0o600),
                              ("\0" * 40, 0o600)):
            path.write_text(content)
            path.chmod(mode)
            message = self.failure_of_any_kind("--token-file", str(path))
            if content.strip():
                self.assertNotIn(content.strip(), message)
        self.assertIn("is a folder", self.failure(66, "--token-file", str(self.folder)))
        path.unlink()
        self.assertIn(f"openssl rand -base64 24 > {path}", self.failure(66, "--token-file", str(path)))
        target = self.folder / "target"
        target.write_text("a-token-of-our-own-1234567890\n")
        target.chmod(0o600)
        path.symlink_to(target)
        with Server("--token-file", str(path), database=self.database, token="a-token-of-our-own-1234567890") as server:
            self.assertEqual(server.get("/about")["users"], 0)

    def failure_of_any_kind(self, *options):
        result = subprocess.run([USERSERVER, "--db", self.database, "--listen", "127.0.0.1:0", *options], capture_output=True,
                                text=True, timeout=20)
        self.assertNotEqual(result.returncode, 0, options)
        self.assertTrue(result.stderr.startswith("userserver: error: "), result)
        self.assertEqual(result.stdout, "")
        return result.stderr

    def test_the_line_has_the_token_only_if_the_server_made_it(self):
        path = self.folder / "token"
        path.write_text("a-token-of-our-own-1234567890\n")
        path.chmod(0o600)
        for options, made in (([], True), (["--no-token"], False), (["--token-file", str(path)], False)):
            with Server(*options, database=self.database) as server:
                self.assertEqual(server.token is not None, made, options)

    def test_the_database_is_that_of_usertool(self):
        with Server(environment={"USERTOOL_DB": self.database}) as server:
            server.add("NIX")
            self.assertEqual(server.get("/about")["path"], self.database)
        self.assertIn("NIX", usertool("list", database=self.database))
        (self.folder / "data/usertool").mkdir(parents=True)
        with Server(environment={"XDG_DATA_HOME": str(self.folder / "data")}) as server:
            self.assertEqual(server.get("/about")["path"], str(self.folder / "data/usertool/users.db"))

    def test_a_server_leaves_one_file_behind(self):
        with Server(database=self.database) as server:
            server.add()
            with server.stream("/changes") as stream:
                stream.wait("progress")
                self.assertEqual(server.stop(), 0)
        self.assertEqual([file.name for file in self.folder.iterdir()], ["users.db"])

    def test_help_and_version_are_on_standard_output(self):
        for option, expected in (("--help", "--stream-age"), ("--version", r"\d")):
            result = subprocess.run([USERSERVER, option], capture_output=True, text=True, timeout=20)
            self.assertEqual((result.returncode, result.stderr), (0, ""))
            self.assertTrue(re.search(expected, result.stdout), result.stdout)

    @unittest.skipUnless(socket.has_ipv6 and pathlib.Path("/proc/net/if_inet6").exists(), "this machine has no IPv6")
    def test_an_ipv6_address_is_printed_in_brackets(self):
        with Server("--listen", "[::1]:0", database=self.database) as server:
            self.assertEqual(server.url, f"http://[::1]:{server.port}")
            self.assertEqual(server.get("/about")["users"], 0)

    @served()
    def test_a_port_is_free_again_at_once(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            server.kill()
            server.start(listen=f"127.0.0.1:{server.port}")
        self.assertEqual(server.stop(signal.SIGTERM), 0)
        server.start(listen=f"127.0.0.1:{server.port}")
        self.assertEqual(server.request("GET", at("/users", limit=1)).status, 200)
