"""Where the database is: what a path can be, and a machine without /proc, from which Swift's runtime reads the arguments."""

import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import unittest
import unittest.mock

import support
from support import USERSERVER, Server, TestCase, on_files, usertool

# An empty file system is mounted over /proc, in a namespace of the server's own.
WRAPPER = """#!/bin/sh
exec unshare --user --map-root-user --mount sh -c 'mount -t tmpfs none /proc && exec "$@"' sh "{program}" "$@"
"""


def has_namespaces():
    command = ["unshare", "--user", "--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", "/proc"]
    return subprocess.run(command, capture_output=True).returncode == 0


class Trap(Exception):
    """SIGILL has ended the server."""


@on_files
class Paths(TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="userserver-paths-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def failure(self, status, *command, cwd=None):
        result = subprocess.run([*command, "--listen", "127.0.0.1:0"], capture_output=True, text=True, timeout=30, cwd=cwd,
                                stdin=subprocess.DEVNULL)
        # The server can come to its end while its trap is being printed.
        if result.returncode == -signal.SIGILL or "*** Signal 4: " in result.stderr:
            raise Trap(result.stderr)
        self.assertEqual((result.returncode, result.stdout), (status, ""), (command, result.stderr))
        self.assertTrue(result.stderr.startswith("userserver: error: "), result.stderr)
        return result.stderr

    def test_a_path_that_cannot_be_a_database_is_refused_and_nothing_is_created(self):
        long = "/".join([str(self.folder), "n" * 240, "n" * 240, "users.db"])
        for path, status, says in (
                ("users.db/", 66, "is not a file name"), ("none/users.db/", 66, "is not a file name"), (".", 66, "is not a file name"),
                ("users.db-wal", 73, "SQLite's"), ("none/users.db-journal", 73, "SQLite's"), ("/dev/null", 66, "is a device"),
                (long, 66, "too long"), (str(self.folder), 66, "is a folder")):
            message = self.failure(status, USERSERVER, "--db", path, cwd=self.folder)
            self.assertIn(says, message)
        self.assertEqual(os.listdir(self.folder), [])

    def test_a_relative_path_in_a_folder_that_was_removed_is_refused(self):
        gone = self.folder / "gone"
        gone.mkdir()
        script = 'cd "$0" && rmdir "$0" && exec "$@"'
        self.assertIn("removed", self.failure(66, "/bin/sh", "-c", script, str(gone), USERSERVER, "--db", "userserver-test.db"))
        self.assertFalse(pathlib.Path("/userserver-test.db").exists())

    def test_a_relative_path_and_a_link_are_served_under_the_name_that_was_given(self):
        (self.folder / "link.db").symlink_to("users.db")
        before = os.getcwd()
        os.chdir(self.folder)
        try:
            with Server(database="link.db") as server:
                self.assertEqual(server.log, f"userserver: created {self.folder}/link.db\n")
        finally:
            os.chdir(before)
        self.assertEqual(sorted(os.listdir(self.folder)), ["link.db", "users.db"])
        self.assertTrue((self.folder / "link.db").is_symlink())

    def test_a_copy_that_lacks_the_mark_is_not_served_and_the_hint_says_what_to_do(self):
        usertool("add", "NIX", database=self.folder / "users.db")
        subprocess.run("sqlite3 users.db .dump | sqlite3 copy.db", shell=True, check=True, cwd=self.folder)
        message = self.failure(65, USERSERVER, "--db", str(self.folder / "copy.db"))
        self.assertIn("hint: usertool init --adopt", message)

    @unittest.skipUnless(has_namespaces(), "this process may not create a mount namespace")
    def test_without_proc_every_option_means_the_same(self):
        wrapper = self.folder / "wrapper"
        wrapper.write_text(WRAPPER.format(program=USERSERVER))
        wrapper.chmod(0o700)
        usertool("add", "NIX", database=self.folder / "users.db")
        self.enterContext(unittest.mock.patch.object(support, "USERSERVER", str(wrapper)))
        self.until_no_trap(self.serve_without_proc)
        message = self.until_no_trap(lambda: self.failure(64, str(wrapper), "--no-such-option"))
        self.assertIn("--no-such-option", message)
        self.assertFalse((self.folder / "none.db").exists())
        self.until_no_trap(lambda: self.failure(66, str(wrapper), "--read-only", "--db", str(self.folder / "none.db")))

    def serve_without_proc(self):
        server = Server("--read-only", "--no-token", database=self.folder / "users.db")
        try:
            with server:
                self.assertIsNone(server.token)
                self.assertEqual(server.log.split("\n")[0], f"userserver: serving {self.folder}/users.db")
                self.assertIn("there is no /proc", server.log.split("\n")[1])
                self.assertEqual([user["name"] for user in server.get("/users", token=False)["users"]], ["NIX"])
                self.assertEqual(server.request("POST", "/users", {"name": "X"}, token=False).status, 403)
        except (AssertionError, OSError) as error:
            if server.process.returncode == -signal.SIGILL:
                raise Trap from error
            raise

    def until_no_trap(self, attempt):
        """Tries again if libdispatch has ended the server, as it warns: without /proc, it traps when work waits for a second."""
        for _ in range(20):
            try:
                return attempt()
            except Trap:
                pass
        self.fail("the server is ended by a trap each time")
