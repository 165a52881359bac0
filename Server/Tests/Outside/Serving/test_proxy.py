"""The server behind nginx, with the sample of the README."""

import contextlib
import gzip
import json
import pathlib
import re
import socket
import subprocess
import tempfile

from support import ROOT, Server, Stream, TestCase, eventually
from wire import Raw

MIB = 1 << 20


class Proxy(TestCase):
    @contextlib.contextmanager
    def nginx(self, server):
        """The port of an nginx in front of a server."""
        [sample] = re.findall(r"```nginx\n(.*?)```", (ROOT / "Server/README.md").read_text(), re.DOTALL)
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        for text, other in (("listen 443 ssl", f"listen 127.0.0.1:{port}"), ("127.0.0.1:8080", f"127.0.0.1:{server.port}")):
            self.assertIn(text, sample)
            sample = sample.replace(text, other)
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        paths = "".join(f"{name}_temp_path {folder}/{name};\n" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        (folder / "nginx.conf").write_text(
            f"daemon off; master_process off; pid {folder}/pid; error_log {folder}/errors;\nevents {{}}\n"
            f"http {{\naccess_log off;\n{paths}{sample}}}\n")
        process = subprocess.Popen(["/usr/sbin/nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            eventually(lambda: process.poll() is None and self.connects(port), "nginx listens")
            yield port
        finally:
            process.terminate()
            process.wait()

    def connects(self, port):
        try:
            socket.create_connection(("127.0.0.1", port)).close()
            return True
        except OSError:
            return False

    def test_the_sample_lets_everything_through(self):
        with Server("--host", "users.example.com", "--heartbeat", "1s", "--replicas") as server, self.nginx(server) as port:
            server.url, server.port = "http://users.example.com", port
            host = {"Host": "users.example.com"}
            added = server.request("POST", "/users", {"name": "NIX"}, host)
            self.assertEqual(added.status, 201, added)
            match = {**host, "Content-Type": "application/json", "If-Match": added.headers["etag"]}
            self.assertEqual(server.request("PATCH", "/users/1", {"set": {"age": 41}}, match).status, 200)
            # Nearly as much as a body can have; no JSON, so that the server itself soon refuses it.
            self.assertProblem(server.request("PATCH", "/users/1", b"x" * (31 * MIB), match, within=120), 400)
            with Raw("127.0.0.1", port) as raw:
                raw.send(server.head("GET", "/changes?after=oldest", {"Accept": "text/event-stream"}))
                stream = Stream(raw, "/changes")
                stream.wait("progress")
                write = server.request("PATCH", "/users/1", {"set": {"age": 42}}, host).json()
                self.assertEqual(stream.set().data["revision"], write["revision"])
            page = server.request("GET", f"/sync/changes?after={added.json()['cursor']}&wait=25", headers={**host, "Accept-Encoding": "gzip"})
            self.assertEqual((page.status, page.headers["content-encoding"]), (200, "gzip"))
            lines = gzip.decompress(page.body).decode().split("\n")
            self.assertEqual([json.loads(line)["op"] for line in lines[:-1]], ["changes", "update", "set", "update", "set", "end"])
