"""The page of a server whose database is a replica of another server."""

from browser import BrowserTestCase
from support import Server, on_files, served, usertool

BADGE = "document.getElementById('outbox')"


class Outbox(BrowserTestCase):
    @on_files
    @served("--replicas")
    def test_a_badge_counts_what_is_to_send_and_what_is_refused(self, server):
        token = server.folder / "token"
        token.write_text(server.token + "\n")
        copy = str(server.folder / "copy.db")

        def follow():
            usertool("follow", server.url, "--write", "--once", "--token-file", str(token), database=copy)

        server.add()
        server.add()
        follow()
        with Server(database=copy) as local:
            self.assertEqual(local.get("/about")["replica"],
                             {"server": server.url, "writes": True, "pending": 0, "since": None, "refusals": 0})
            page = self.open(local)
            page.wait_text(1, "name", "NIX")
            self.assertTrue(page.run(f"return {BADGE}.hidden"))
            page.save(1, "name", "Ann")
            page.wait(f"{BADGE}.innerText === '1 write to send'")
            page.save(2, "name", "Ben")
            page.wait(f"{BADGE}.innerText === '2 writes to send'")
            since = local.get("/about")["replica"]["since"]
            self.assertRegex(since, r"^20\d\d-\d\d-\d\dT.*Z$")
            usertool("remove", "2", "--yes", database=server.database)
            # No change of a user says that a write was accepted.
            follow()
            page.wait(f"{BADGE}.innerText === '1 refused'")
            self.assertEqual(server.get("/users/1")["name"], "Ann")
            usertool("sync", "acknowledge", "--all", database=copy)
            page.wait(f"{BADGE}.hidden")
        self.assertQuiet()
