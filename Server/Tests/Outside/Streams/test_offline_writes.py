"""Writes of usertool and of other programs on a replica, which `usertool follow --write` sends to the server."""

import contextlib
import json
import signal
import sqlite3
import subprocess

from support import USERTOOL, Server, TestCase, eventually, on_files, served, usertool


class OfflineWritesTestCase(TestCase):
    def prepare(self, server):
        """A file for a replica, which has copied, and the token."""
        self.token = server.folder / "token"
        self.token.write_text(server.token + "\n")
        self.copy = str(server.folder / "copy.db")
        server.add()
        self.follow(server)

    def command(self, server, *options):
        return ["follow", server.url, "--write", "--token-file", str(self.token), *options]

    def follow(self, server, status=0):
        """Follows until everything is decided; returns the lines."""
        return [json.loads(line) for line in usertool(*self.command(server, "--once"), database=self.copy, status=status).splitlines()]

    def change(self, *arguments):
        return usertool(*arguments, database=self.copy).strip()

    def foreign(self, statement):
        """Runs a statement on the replica as another program."""
        with contextlib.closing(sqlite3.connect(self.copy, timeout=30, isolation_level=None)) as connection:
            connection.execute(statement)

    def status(self):
        return json.loads(self.change("sync", "--format", "jsonl"))


class Sending(OfflineWritesTestCase):
    @served("--replicas")
    def test_what_is_written_without_the_server_reaches_it(self, server):
        self.prepare(server)
        server.stop()
        id = self.change("add", "Zoë", "--set", "age=5")
        self.assertTrue(id.startswith("-"), id)
        self.change("rename", id, "Zoe")
        self.foreign("UPDATE users SET name = 'foreign' WHERE id = 1")
        self.assertEqual((self.status()["pending"], self.status()["writes"]), (3, "queued"))
        server.start()
        self.token.write_text(server.token + "\n")
        lines = self.follow(server)
        self.assertEqual(lines[0]["pending"], 3)
        self.assertEqual(lines[-1], {"state": "following", "behind": 0, "pending": 0})
        self.assertSame(server.get(f"/users/{id}"), {"id": int(id), "name": "Zoe", "hair_color": None, "age": 5})
        self.assertEqual(server.get("/users/1")["name"], "foreign")
        self.assertEqual((self.status()["pending"], self.status()["since"], self.status()["cursor"]), (0, None, server.get("/about")["cursor"]))
        # The server's other programs address it too.
        usertool("remove", id, "--yes", database=server.database)
        self.follow(server)
        self.assertEqual(self.change("list", "--where", f"id={id}"), "")

    @served("--replicas")
    def test_a_running_replica_sends_at_once(self, server):
        self.prepare(server)
        command = [USERTOOL, *self.command(server), "--db", self.copy]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            try:
                for line in process.stdout:
                    if json.loads(line)["state"] == "following":
                        break
                # Sooner than the request that waits for changes ends.
                self.change("set", "1", "age=7")
                eventually(lambda: server.get("/users/1").get("age") == 7, "it is sent", within=15)
                for line in process.stdout:
                    if json.loads(line) == {"state": "following", "behind": 0, "pending": 0}:
                        break
            finally:
                process.send_signal(signal.SIGINT)
                # Without a reader, it would end with the next line that it prints.
                process.communicate()
        self.assertEqual(process.returncode, 130)

    @served("--replicas")
    def test_a_refusal_is_printed_until_it_is_acknowledged(self, server):
        self.prepare(server)
        name = server.get("/users/1")["name"]
        server.patch(1, name="there")
        self.change("rename", "1", "here", "--expect", name)
        self.change("set", "1", "age=7")
        lines = self.follow(server)
        [refused] = [line["refused"] for line in lines if "refused" in line]
        self.assertEqual((list(refused), refused["reason"]), (["revision", "reason", "detail"], "conflict"))
        self.assertIn("there", refused["detail"])
        self.assertEqual((server.get("/users/1")["name"], server.get("/users/1")["age"]), ("there", 7))
        self.assertEqual(self.change("get", "1", "name"), "there")
        self.assertEqual([line["refused"] for line in self.follow(server) if "refused" in line], [refused])
        [listed] = [json.loads(line) for line in self.change("sync", "refusals", "--format", "jsonl").splitlines()]
        self.assertEqual({name: listed[name] for name in refused}, refused)
        self.assertEqual([(change["old"], change["new"]) for change in listed["changes"]], [(name, "here")])
        self.change("sync", "acknowledge", str(refused["revision"]))
        self.assertEqual([line for line in self.follow(server) if "refused" in line], [])
        self.assertEqual(self.status()["refusals"], 0)

    @served("--replicas")
    def test_without_write_only_what_was_written_is_sent(self, server):
        self.prepare(server)
        self.change("set", "1", "age=7")
        lines = usertool("follow", server.url, "--once", "--token-file", str(self.token), database=self.copy).splitlines()
        self.assertEqual([line for line in lines if "pending" in line], [])
        self.assertEqual(server.get("/users/1")["age"], 7)
        usertool("set", "1", "age=8", database=self.copy, status=77)
        self.assertEqual((self.status()["writes"], self.status()["pending"]), ("none", 0))

    @served("--replicas")
    def test_a_damaged_replica_is_discarded_and_copies(self, server):
        self.prepare(server)
        self.change("set", "1", "age=7")
        self.foreign("UPDATE userstore_replica SET seen_nonce = seen_nonce + 1")
        self.follow(server, status=65)
        self.change("sync", "discard", "--yes")
        self.assertEqual(self.follow(server)[-1], {"state": "following", "behind": 0, "pending": 0})
        self.assertEqual(self.change("get", "1", "--format", "json"), json.dumps(server.get("/users/1"), separators=(",", ":")))

    @on_files
    def test_another_server_is_refused_with_what_is_pending(self):
        with Server("--replicas") as server, Server("--replicas") as other:
            self.prepare(server)
            self.change("set", "1", "age=7")
            self.token.write_text(other.token + "\n")
            self.follow(other, status=4)
            self.assertEqual(self.status()["pending"], 1)
