"""What the tests from outside share: a server, the command usertool, and other programs that write to the database.

$USERSERVER and $USERTOOL name the binaries. With USERSTORE_LONG=1, the tests that are marked `@long` run too, and others try more.
With USERSTORE_ENGINE=postgres, in `scripts/postgres run`, each database is one on PostgreSQL. Nothing sleeps: a test waits for an event, with a deadline.
"""

import functools
import http.client
import json
import os
import pathlib
import random
import re
import select
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest
import urllib.parse

try:
    import psycopg
except ImportError:
    # Only the tests on PostgreSQL need it.
    psycopg = None

from wire import DEADLINE, Late, Raw, Response, Stream, parse

__all__ = ["DEADLINE", "LONG", "Late", "POSTGRES", "Raw", "Response", "Server", "Stream", "TestCase", "USERTOOL", "Writer", "at", "connect",
           "drop_database", "eventually", "long", "new_database", "on_files", "parse", "psycopg", "served", "sql", "usertool"]

ROOT = pathlib.Path(__file__).resolve().parents[3]
USERSERVER = os.environ.get("USERSERVER", str(ROOT / "Server/.build/debug/userserver"))
USERTOOL = os.environ.get("USERTOOL", str(ROOT / ".build/debug/usertool"))
POSTGRES = os.environ.get("USERSTORE_ENGINE") == "postgres"
LONG = bool(os.environ.get("USERSTORE_LONG"))
LINE = re.compile(r"userserver: (http://(\[[0-9a-f:]+\]|[^:/\[]+):(\d+))/(?:#token=(\S+))?\n")


def at(path, *pairs, **parameters):
    """A path with a query: `at("/users", ("where", "age>=18"), limit=10)`."""
    pairs = list(pairs) + [(name, value) for name, value in parameters.items()]
    return path + "?" + urllib.parse.urlencode(pairs, quote_via=urllib.parse.quote)


def text(value):
    """JSON with infinity as the server reads it."""
    return json.dumps(value, ensure_ascii=False).replace("Infinity", "1e999")


def on_files(test):
    """Marks tests that are about a file, or about what only SQLite stores or understands."""
    return unittest.skipIf(POSTGRES, "only for files")(test)


def long(test):
    """Marks tests that `scripts/test --long` runs: looks of the page, and what takes up to a minute; they run if USERSTORE_LONG is set."""
    return unittest.skipUnless(LONG, "USERSTORE_LONG is not set")(test)


def new_database(folder):
    """The path of a database that does not exist yet, or the URL of an empty one."""
    if not POSTGRES:
        return str(folder / "users.db")
    name = f"d{random.getrandbits(64)}"
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return f"postgres:///{name}"


def drop_database(database):
    """Removes a database on a server, which takes 8 MB."""
    with psycopg.connect("", autocommit=True) as connection:
        connection.execute(f"DROP DATABASE IF EXISTS {database.rpartition('/')[2]} WITH (FORCE)")


def connect(database):
    """A connection of another program, which waits for other writers."""
    if POSTGRES:
        return psycopg.connect(database, autocommit=True, options="-c search_path=userstore")
    connection = sqlite3.connect(database, timeout=30, isolation_level=None)
    connection.execute("PRAGMA synchronous = NORMAL")
    return connection


class Writer:
    """Another program that keeps its connection to the database."""

    def __init__(self, database):
        self.connection = connect(database)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def run(self, statement, parameters=(), *, postgres=None):
        """Runs a statement and returns its rows; `postgres` is the same for PostgreSQL, if that has other words for it."""
        if POSTGRES:
            statement = (postgres or statement).replace("%", "%%").replace("?", "%s")
        cursor = self.connection.execute(statement, parameters)
        return cursor.fetchall() if cursor.description else []


def sql(database, statement, parameters=(), *, postgres=None):
    """Runs a statement as another program, and returns its rows."""
    with Writer(database) as writer:
        return writer.run(statement, parameters, postgres=postgres)


def usertool(*arguments, database, status=0, input=None):
    """Runs usertool and returns what it prints."""
    result = subprocess.run(
        [USERTOOL, *arguments, "--db", str(database)], input=input, capture_output=True, text=True, timeout=60)
    if result.returncode != status:
        raise AssertionError(f"usertool {arguments}: exit {result.returncode}, not {status}: {result.stderr}")
    return result.stdout


def eventually(check, what, within=DEADLINE):
    """Repeats a check, with pauses that become longer, until it returns something true."""
    deadline = time.monotonic() + within
    pause = 0.01
    while not (found := check()):
        if time.monotonic() > deadline:
            raise Late(f"{what}: not within {within} s")
        select.select([], [], [], pause)
        pause = min(1.3 * pause, 0.2)
    return found


class Server:
    """A running server; a context manager that starts it, and stops it as an administrator would."""

    def __init__(self, *options, database=None, environment={}, token=None, descriptors=None, tracer=()):
        self.options = list(options)
        self.tracer = list(tracer)
        self.environment = environment
        self.descriptors = descriptors
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="userserver-"))
        self.own_database = None if database else new_database(self.folder)
        self.database = str(database or self.own_database)
        self.given_token = token
        self.process = None

    def __enter__(self):
        try:
            return self.start()
        except BaseException:
            self.remove()
            raise

    def __exit__(self, kind, error, _):
        try:
            if kind is None and self.process and self.process.returncode is None:
                status = self.stop()
                if status != 0:
                    raise AssertionError(f"SIGTERM ended the server with {status}:\n{self.log}")
        finally:
            if error is not None and hasattr(error, "add_note"):
                error.add_note(f"standard error of userserver:\n{self.log or '(nothing)'}")
            self.remove()

    def start(self, listen="127.0.0.1:0"):
        """Starts the process and waits until it listens; again after `stop` or `kill`."""
        command = [*self.tracer, USERSERVER]
        if "--db" not in self.options and not {"USERTOOL_DB", "XDG_DATA_HOME"} & self.environment.keys():
            command += ["--db", self.database]
        if "--listen" not in self.options:
            command += ["--listen", listen]
        command += self.options
        if self.descriptors:
            command = ["/bin/sh", "-c", f'ulimit -n {self.descriptors}; exec "$@"', "sh", *command]
        environment = {name: value for name, value in os.environ.items() if not name.startswith("USERTOOL_DB")}
        with open(self.folder / "stderr", "ab") as errors:
            self.process = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=errors,
                env={**environment, **self.environment})
        line = self.first_line()
        match = LINE.fullmatch(line)
        if not match:
            self.kill()
            raise AssertionError(f"the server printed {line!r} and ended with {self.process.returncode}:\n{self.log}")
        self.url, self.host, self.port = match[1], match[2].strip("[]"), int(match[3])
        self.token = match[4] or self.given_token
        return self

    def first_line(self):
        """What the server prints before it listens; empty if it ends."""
        text, deadline = b"", time.monotonic() + 30
        while not text.endswith(b"\n"):
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                self.kill()
                raise Late(f"the server did not listen within 30 s:\n{self.log}")
            part = os.read(self.process.stdout.fileno(), 4096)
            if not part:
                self.process.wait(DEADLINE)
                break
            text += part
        return text.decode()

    @property
    def log(self):
        """What the server has written on standard error."""
        path = self.folder / "stderr"
        return path.read_text(errors="replace") if path.exists() else ""

    def stop(self, signal=signal.SIGTERM, within=10):
        """Sends a signal and returns the exit status."""
        self.process.send_signal(signal)
        try:
            self.process.wait(within)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Late(f"the server did not end within {within} s of {signal!r}:\n{self.log}") from None
        self.process.stdout.close()
        return self.process.returncode

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def remove(self):
        if self.process and self.process.poll() is None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)
        if POSTGRES and self.own_database:
            drop_database(self.own_database)

    @property
    def peak_memory(self):
        """The most memory that the process has had, in bytes."""
        return self.status("VmHWM:")

    @property
    def memory(self):
        """The memory that the process has now, in bytes."""
        return self.status("VmRSS:")

    def status(self, name):
        with open(f"/proc/{self.process.pid}/status") as file:
            return next(int(line.split()[1]) * 1024 for line in file if line.startswith(name))

    def forget_peak_memory(self):
        """Lets `peak_memory` begin with what the process has now (proc_pid_clear_refs(5))."""
        pathlib.Path(f"/proc/{self.process.pid}/clear_refs").write_text("5")

    def authorization(self, token):
        token = self.token if token is True else token
        return {"Authorization": f"Bearer {token}"} if token else {}

    def request(self, method, path, body=None, headers={}, token=True, within=DEADLINE):
        """Sends a request on a connection of its own; a body that is not bytes or text becomes JSON."""
        fields = self.authorization(token)
        if body is not None:
            if not isinstance(body, bytes):
                body = (body if isinstance(body, str) else text(body)).encode()
            fields["Content-Type"] = "application/json"
        fields.update(headers)
        connection = http.client.HTTPConnection(self.host, self.port, timeout=within)
        try:
            connection.request(method, path, body, fields)
            answer = connection.getresponse()
            return Response(answer.status, answer.getheaders(), answer.read())
        finally:
            connection.close()

    def get(self, path, **settings):
        """The JSON of a successful GET."""
        response = self.request("GET", path, **settings)
        if response.status != 200:
            raise AssertionError(f"GET {path}: {response}")
        return response.json()

    def write(self, method, path, body=None, headers={}, within=DEADLINE):
        """The JSON of a successful write."""
        response = self.request(method, path, body, headers, within=within)
        if response.status not in (200, 201):
            raise AssertionError(f"{method} {path}: {response}")
        return response.json()

    def add(self, name="NIX", **attributes):
        """Adds a user; returns the answer."""
        return self.write("POST", "/users", {"name": name, **attributes})

    def patch(self, user, **attributes):
        """Sets attributes of a user; returns the answer."""
        return self.write("PATCH", f"/users/{user}", {"set": attributes})

    def post(self, event, **members):
        """Posts an event; returns the answer."""
        return self.write("POST", "/events", {"event": event, **members})

    def connect(self, receive_buffer=None):
        return Raw(self.host, self.port, receive_buffer)

    def head(self, method, path, headers={}, token=True):
        """The bytes of a request's head."""
        fields = {"Host": self.url.removeprefix("http://"), **self.authorization(token), **headers}
        lines = [f"{method} {path} HTTP/1.1"] + [f"{name}: {value}" for name, value in fields.items() if value is not None]
        return ("\r\n".join(lines) + "\r\n\r\n").encode()

    def stream(self, path, headers={}, accept="text/event-stream", token=True, receive_buffer=None):
        """Opens a stream and reads its head."""
        raw = self.connect(receive_buffer)
        try:
            raw.send(self.head("GET", path, {"Accept": accept, **headers}, token))
            return Stream(raw, path)
        except BaseException:
            raw.close()
            raise

    def follow(self, cursor, **parameters):
        """The stream of changes after a cursor."""
        return self.stream(at("/changes", **parameters), {"Last-Event-ID": cursor} if cursor else {})


def served(*options, **settings):
    """Runs a test with a server of its own."""
    def decorate(test):
        @functools.wraps(test)
        def run(case):
            with Server(*options, **settings) as server:
                test(case, server)
        return run
    return decorate


class TestCase(unittest.TestCase):
    """A test case with assertions on answers."""

    maxDiff = 4000

    def assertProblem(self, response, status, code=None, parameter=None):
        """Checks an answer for a problem, and returns its members."""
        self.assertEqual(response.status, status, response)
        self.assertEqual(response.headers.get("content-type"), "application/problem+json", response)
        problem = response.json()
        self.assertEqual(problem["status"], status)
        self.assertEqual(problem["type"], "about:blank")
        for member in ("title", "detail", "code"):
            self.assertIsInstance(problem[member], str)
            self.assertTrue(problem[member], problem)
        if code:
            self.assertEqual(problem["code"], code, problem)
        if parameter:
            self.assertEqual(problem.get("parameter"), parameter, problem)
        return problem

    def assertSame(self, first, second, message=None):
        """Equality that distinguishes 1 and 1.0, and the orders of members."""
        if repr(first) != repr(second):
            self.assertEqual(json.dumps(first, indent=1), json.dumps(second, indent=1), message)
            self.fail(f"{first!r} is not {second!r}")
