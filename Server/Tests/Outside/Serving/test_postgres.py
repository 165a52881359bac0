"""A database on PostgreSQL: its address, its errors, a server that restarts, and what other programs write.

Only with USERSTORE_ENGINE=postgres, in `scripts/postgres run`.
"""

import contextlib
import os
import pathlib
import subprocess
import tempfile
import threading
import unittest

import support
from browser import BrowserTestCase, Keys
from support import Late, Server, TestCase, Writer, drop_database, eventually, new_database, psycopg, served, usertool

JSON = {"Accept": "application/json"}
PASSWORD = "sesame-4711"
TERMINATE = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND pid <> pg_backend_pid()"

on_postgres = unittest.skipUnless(support.POSTGRES, "there is no PostgreSQL server")


def sql(database, statement, parameters=()):
    return support.sql(database, None, parameters, postgres=statement)


def cluster(action, *mode):
    """Starts or ends the PostgreSQL server of these tests."""
    subprocess.run([support.ROOT / "scripts/postgres", action, os.environ["USERSTORE_POSTGRES_FOLDER"], *mode], check=True,
                   capture_output=True)


@contextlib.contextmanager
def away():
    """Ends the PostgreSQL server at once, and starts it again at the end."""
    cluster("stop", "immediate")
    try:
        yield
    finally:
        cluster("start")


class WithDatabase(TestCase):
    """A test that starts its servers itself."""

    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.database = new_database(self.folder)
        self.addCleanup(drop_database, self.database)

    @property
    def name(self):
        return self.database.rpartition("/")[2]

    def failure(self, status, *options, environment={}):
        """Starts a server that must not start; returns its message and its hint."""
        result = subprocess.run(
            [support.USERSERVER, "--listen", "127.0.0.1:0", *options], capture_output=True, text=True, timeout=60, stdin=subprocess.DEVNULL,
            env={**os.environ, **environment})
        self.assertEqual((result.returncode, result.stdout), (status, ""), result)
        self.assertTrue(result.stderr.startswith("userserver: error: "), result.stderr)
        message, _, hint = result.stderr.rstrip("\n").partition("\nhint: ")
        return message, hint

    def role(self, name, password=""):
        """Creates a role that can log in; returns the address with it."""
        sql(self.database, f"CREATE ROLE {name} LOGIN PASSWORD '{password}'")
        self.addCleanup(sql, self.database, f"DROP OWNED BY {name}; DROP ROLE {name}")
        return self.database.replace("///", f"//{name}@/")


def rename_with_slow_commit(server, database, seconds):
    """Starts to rename user 1, and returns when the commit waits; returns the list that gets the answer, and the thread."""
    sql(database, f"""
        CREATE FUNCTION public.wait() RETURNS trigger LANGUAGE plpgsql AS
          $$ BEGIN PERFORM pg_sleep({seconds}); RETURN NULL; END $$;
        CREATE CONSTRAINT TRIGGER wait AFTER UPDATE ON users DEFERRABLE INITIALLY DEFERRED
          FOR EACH ROW WHEN (new.name = 'slow') EXECUTE FUNCTION public.wait()""")
    answers = []
    thread = threading.Thread(
        target=lambda: answers.append(server.request("PATCH", "/users/1", {"set": {"name": "slow"}}, within=120)))
    thread.start()
    eventually(lambda: sql(database, "SELECT 1 FROM pg_stat_activity WHERE wait_event = 'PgSleep'"), "the commit")
    return answers, thread


@on_postgres
class Starting(WithDatabase):
    def test_it_says_which_database_it_serves_and_whether_that_is_new(self):
        for word in ("created", "serving"):
            with Server(database=self.database) as server:
                self.assertEqual(server.log, f"userserver: {word} {self.database}\n")
                self.assertEqual(server.get("/about")["path"], self.database)

    def test_a_server_that_cannot_be_reached_is_66_with_a_hint(self):
        for database, advice in (
            ("postgres:///x?host=/nowhere", "psql"), ("postgres://127.0.0.1:1/x", "psql"), (self.database + "x", "createdb"),
            ("postgres://nowhere.invalid/x", "no machine has this name"),
        ):
            message, hint = self.failure(66, "--db", database)
            self.assertIn(f"{database}: cannot connect: ", message)
            self.assertIn(advice, hint)

    def test_what_cannot_be_served_says_why(self):
        self.assertIn("usertool init", self.failure(66, "--db", self.database, "--read-only")[1])
        message, hint = self.failure(77, "--db", self.role("stranger"))
        self.assertIn("permission denied", message)
        self.assertIn("usertool init", hint)
        usertool("init", database=self.database)
        [[layout]] = sql(self.database, "SELECT layout FROM meta")
        sql(self.database, "UPDATE meta SET layout = 0")
        self.assertIn("export the users", self.failure(65, "--db", self.database, "--read-only")[1])
        sql(self.database, f"UPDATE meta SET layout = {layout}")
        sql(self.database, 'ALTER TABLE users DISABLE TRIGGER "A_userstore_updated"')
        message, hint = self.failure(65, "--db", self.database)
        self.assertIn("triggers", message)
        self.assertIn("usertool check", hint)

    def test_a_role_that_only_reads_can_serve_with_read_only(self):
        usertool("add", "NIX", database=self.database)
        address = self.role("looker")
        usertool("init", "--reader", "looker", database=self.database)
        with Server("--read-only", database=address) as server, server.stream("/changes") as stream:
            stream.wait("progress")
            usertool("rename", "NIX", "Zoë", database=self.database)
            self.assertEqual(stream.set().data["changes"][0]["new"], "Zoë")
        with Server(database=address) as server:
            self.assertProblem(server.request("PATCH", "/users/1", {"set": {"age": 1}}), 403, "noPermission")
            self.assertEqual(server.get("/users/1")["name"], "Zoë")


@on_postgres
class Passwords(WithDatabase):
    def setUp(self):
        super().setUp()
        # The rules of the cluster ask this role for its password.
        self.shown = self.role("secretive", PASSWORD)
        sql(self.database, f"ALTER DATABASE {self.name} OWNER TO secretive")
        self.addCleanup(sql, self.database, f"ALTER DATABASE {self.name} OWNER TO postgres")

    def test_a_password_is_not_accepted_as_an_argument(self):
        for address in (f"postgres://me:{PASSWORD}@nowhere.test/x", f"postgresql:///x?password={PASSWORD}",
                        f"postgres://me:a@{PASSWORD}@nowhere.test/x", f"postgres://me:{PASSWORD}/x"):
            message, hint = self.failure(64, "--db", address)
            self.assertIn("PGPASSWORD", hint)
            self.assertNotIn(PASSWORD, message + hint)

    def test_a_password_that_is_wrong_is_not_shown(self):
        for address in (self.database.replace("///", f"//secretive:wrong-{PASSWORD}@/"), f"postgres://me:a@{PASSWORD}@nowhere.test/x",
                        f"postgres://me:{PASSWORD}/x"):
            message, hint = self.failure(66, environment={"USERTOOL_DB": address})
            self.assertNotIn(PASSWORD, message + hint)

    def check(self, server):
        """Checks that a server works, and shows its address without the password."""
        server.add()
        self.assertEqual(server.get("/about")["path"], self.shown)
        self.assertEqual(server.log, f"userserver: created {self.shown}\n")
        processes = subprocess.run(["ps", "-eo", "args"], capture_output=True, text=True, check=True).stdout
        self.assertIn("userserver", processes)
        self.assertNotIn(PASSWORD, processes)
        for path in ("/", "/about", "/users", "/health", "/openapi.json"):
            self.assertNotIn(PASSWORD, server.request("GET", path).text)

    def test_a_password_in_the_environment_is_used_and_not_shown(self):
        with Server(environment={"USERTOOL_DB": self.database.replace("///", f"//secretive:{PASSWORD}@/")}) as server:
            self.check(server)

    def test_the_password_file_and_the_service_file_are_read(self):
        passwords, services = self.folder / "pgpass", self.folder / "services"
        passwords.write_text(f"*:*:*:secretive:{PASSWORD}\n")
        passwords.chmod(0o600)
        services.write_text(f"[users]\ndbname={self.name}\nuser=secretive\n")
        with Server(database=self.shown, environment={"PGPASSFILE": str(passwords)}) as server:
            self.check(server)
        environment = {"PGPASSFILE": str(passwords), "PGSERVICEFILE": str(services), "PGSERVICE": "users"}
        with Server(database="postgres://", environment=environment) as server:
            self.assertEqual(server.get("/about")["users"], 1)


@on_postgres
class Others(TestCase):
    @served()
    def test_each_transaction_of_psql_is_a_set(self, server):
        with server.stream("/changes") as stream:
            stream.wait("progress")
            subprocess.run(
                ["psql", "-q", "-d", server.database, "-c",
                 "BEGIN; INSERT INTO userstore.users (name) VALUES ('a'), ('b'); UPDATE userstore.users SET name = 'c' WHERE id = 2; COMMIT",
                 "-c", "DELETE FROM userstore.users WHERE id = 1"], check=True)
            first, second = stream.set(), stream.set()
        self.assertEqual([(change["op"], change["user"], change["attribute"], change["old"], change["new"])
                          for change in first.data["changes"] if change["attribute"] == "name"],
                         [("insert", 1, "name", None, "a"), ("insert", 2, "name", None, "b"), ("update", 2, "name", "b", "c")])
        self.assertEqual({(change["op"], change["user"]) for change in second.data["changes"]}, {("delete", 1)})
        self.assertEqual([(event.data["origin"], event.data["foreign"]) for event in (first, second)], [(None, True)] * 2)

    @served()
    def test_connections_that_are_ended_are_made_again(self, server):
        server.add(n=0)
        cursor = server.get("/about")["cursor"]
        with server.follow(cursor) as stream:
            for number in range(1, 31):
                if number % 3 == 0:
                    sql(server.database, TERMINATE)
                if number % 2 == 0:
                    server.patch(1, n=number)
                else:
                    sql(server.database, "UPDATE attributes SET integer = ?", (number,))
                self.assertEqual(server.get("/users/1")["n"], number)
            seen = []
            while len(seen) < 30:
                seen += [change["new"] for change in stream.set().data["changes"]]
        self.assertEqual(seen, list(range(1, 31)))
        self.assertEqual(server.request("GET", "/health").status, 200)


@on_postgres
class Restarts(TestCase):
    """The server of PostgreSQL ends while userserver runs."""

    def opened(self, server, cursor):
        """The stream after a cursor; None while the database is away."""
        stream = server.follow(cursor)
        if stream.status == 200:
            return stream
        self.assertEqual(stream.status, 503)
        return stream.close()

    def followed(self, server, cursor):
        """The events of all streams of a client that connects again after each break, as long as they are wanted."""
        while True:
            with eventually(lambda: self.opened(server, cursor), "the database is back") as stream:
                while (event := stream.next_event(30)) is not None:
                    yield event
                cursor = stream.last_id or cursor

    def stored(self, server, is_over):
        """The number that is stored, when the database is back."""
        while not is_over.is_set():
            with contextlib.suppress(psycopg.OperationalError):
                return sql(server.database, "SELECT integer FROM attributes")[0][0]

    @served("--heartbeat", "1s")
    def test_a_restart_under_a_stream_loses_and_repeats_nothing(self, server):
        server.add(n=0)
        cursor, total = server.get("/about")["cursor"], 600
        # The writer is at most so many changes ahead of the stream.
        ahead, is_over = threading.Semaphore(100), threading.Event()

        def write():
            number = 0
            while not is_over.is_set() and number < total:
                ahead.acquire(timeout=60)
                try:
                    with Writer(server.database) as writer:
                        writer.run(None, (number + 1, number), postgres="UPDATE attributes SET integer = ? WHERE integer = ?")
                        number += 1
                except psycopg.OperationalError:
                    # A COMMIT whose answer was lost may have been made.
                    number = self.stored(server, is_over)
                    ahead.release()

        threads = [threading.Thread(target=write)]
        threads[0].start()
        seen, restarts = [], {100: "fast", 250: "immediate", 400: "fast"}
        try:
            for event in self.followed(server, cursor):
                self.assertNotEqual(event.event, "reset")
                for change in event.data["changes"] if event.event == "changes" else []:
                    seen.append(change["new"])
                    ahead.release()
                    if mode := restarts.pop(change["new"], None):
                        threads.append(threading.Thread(target=cluster, args=("restart", mode)))
                        threads[-1].start()
                if len(seen) >= total:
                    break
        finally:
            is_over.set()
            ahead.release()
            for thread in threads:
                thread.join()
        self.assertEqual((seen, restarts), (list(range(1, total + 1)), {}))

    @served("--heartbeat", "1s")
    def test_without_the_server_requests_are_503_and_then_it_recovers(self, server):
        server.add("NIX")
        cursor = server.get("/about")["cursor"]
        with server.follow(cursor) as stream, server.stream("/lists") as rows:
            stream.wait("progress")
            rows.wait("progress")
            with away():
                self.check_that_it_is_away(server)
                for open_stream in (stream, rows):
                    self.check_that_it_is_silent(open_stream)
            self.assertEqual(server.request("GET", "/health", token=False).status, 200)
            # Open streams continue.
            write = server.patch(1, age=1)
            self.assertEqual(stream.set().id, write["cursor"])
            # A list that is open has nothing to repeat.
            self.assertEqual(rows.wait("steps").data["steps"][0]["user"], write["user"])
            for open_stream in (stream, rows):
                open_stream.wait("progress")
        sql(server.database, "UPDATE users SET name = 'Zoë'")
        self.assertEqual(server.get("/users/1")["name"], "Zoë")
        metrics = server.request("GET", "/metrics").text
        self.assertIn("userstore_database_readable 1\n", metrics)
        self.assertIn("\nuserstore_log_rows ", metrics)

    def check_that_it_is_away(self, server):
        for method, path, body, headers in (
            ("GET", "/users", None, {}), ("GET", "/users/1", None, {}), ("GET", "/about", None, {}), ("GET", "/consumers", None, {}),
            ("GET", "/changes", None, JSON), ("GET", "/changes", None, {"Accept": "text/event-stream"}), ("GET", "/lists", None, {}),
            ("POST", "/users", {"name": "Zoë"}, {}), ("PATCH", "/users/1", {"set": {"age": 1}}, {}),
        ):
            response = server.request(method, path, body, headers)
            problem = self.assertProblem(response, 503)
            self.assertIn(problem["code"], ("cannotOpen", "connectionLost"))
            self.assertEqual(response.headers["retry-after"], "1")
        health = server.request("GET", "/health", token=False)
        self.assertEqual(self.assertProblem(health, 503)["detail"], "the database cannot be read")
        self.assertNotIn(os.environ["PGHOST"], health.text)
        self.assertEqual(server.request("GET", "/", token=False).status, 200)
        # What is not read from the database is still measured.
        metrics = server.request("GET", "/metrics").text
        self.assertIn("userstore_database_readable 0\n", metrics)
        self.assertIn("userstore_streams_open 2\n", metrics)
        self.assertNotIn("userstore_log_rows", metrics)

    def check_that_it_is_silent(self, stream):
        """Takes the heartbeats that a stream has sent, until three are missing."""
        with self.assertRaises(Late):
            for _ in range(30):
                self.assertEqual(stream.next_event(3).event, "progress")

    @served()
    def test_a_write_whose_commit_a_restart_interrupts_is_not_made_and_says_so(self, server):
        server.add("NIX")
        answers, thread = rename_with_slow_commit(server, server.database, 60)
        cluster("restart", "immediate")
        thread.join()
        self.assertProblem(answers[0], 503, "connectionLost")
        self.assertEqual(server.get("/users/1")["name"], "NIX")
        self.assertEqual(server.patch(1, name="Zoë")["user"]["name"], "Zoë")


@on_postgres
class Hidden(WithDatabase):
    """Users that a token does not show. The database, which takes longer for some users than for others, is not asked about them."""

    def test_the_database_is_not_asked_about_a_hidden_user(self):
        key = str(self.folder / "key")
        run = lambda *arguments: subprocess.run([support.USERSERVER, "token", *arguments], check=True, capture_output=True, text=True).stdout.strip()
        run("key", key)
        issuer = ["--issuer", "here", "--audience", "users"]
        token = run("issue", "--key", key, *issuer, "--subject", "ann", "--write", "1")
        options = ["--access-key", key + ".pub", "--access-issuer", "here", "--access-audience", "users"]
        with Server(*options, database=self.database) as server:
            server.add("Ann")
            server.add("Bob")
            with away():
                for method, body, headers in (("GET", None, {}), ("HEAD", None, {}), ("PUT", {"name": "x"}, {"If-Match": "*"}),
                                              ("PATCH", {"set": {"age": 1}}, {}), ("DELETE", None, {"If-Match": "*"})):
                    statuses = [server.request(method, f"/users/{user}", body, headers, token=token).status for user in (1, 2, 77)]
                    self.assertEqual(statuses, [503, 404, 404], method)
                events = [server.request("POST", "/events", {"event": "e", "user": user}, token=token).status for user in (1, 2, 77)]
                self.assertEqual(events, [503, 404, 404])


@on_postgres
class Page(BrowserTestCase):
    @served()
    def test_the_line_for_a_shell_is_one_for_psql(self, server):
        server.add("NIX")
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        line = page.wait("document.getElementById('shell-line').innerText")
        self.assertEqual(line, f"psql '{server.database}' -c \"UPDATE userstore.users SET name = 'Zoë' WHERE id = 1\"")
        subprocess.run(["sh", "-c", line], check=True, capture_output=True)
        page.wait_text(1, "name", "Zoë")

    @served("--heartbeat", "1s")
    def test_the_page_says_that_the_database_is_away_and_continues(self, server):
        server.add("NIX")
        page = self.open(server)
        page.wait_text(1, "name", "NIX")
        page.edit(1, "name", "Typed")
        with away():
            page.wait_lost()
            page.wait("document.getElementById('state-reason').innerText.includes('cannot connect')")
        sql(server.database, "UPDATE users SET hair_color = '#ff0000'")
        page.wait_live(within=30)
        page.wait_text(1, "hair_color", "#ff0000")
        self.assertEqual(page.run("return document.querySelector('.editor textarea').value"), "Typed")
        page.keys(Keys.ENTER)
        page.wait_saved(1, "name")
        self.assertEqual(server.get("/users/1")["name"], "Typed")
