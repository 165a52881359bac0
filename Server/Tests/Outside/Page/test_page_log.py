"""The log in the page: changes as they come, and its past with filters that search it, and values that were purged."""

import os
import time

from browser import BrowserTestCase, Keys, fill
from support import Writer, eventually, long, served, sql, usertool


@long
class Past(BrowserTestCase):
    def fill(self, server):
        """Changes of user 1, and after them more of user 2 than the stream begins with; returns the last revision."""
        server.add("NIX", age=41)
        server.patch(1, name="Chloe", city="Ulm")
        server.add("Zoë")
        for number in range(130):
            revision = server.patch(2, n=number)["revision"]
        return revision

    def filter(self, page, name, text):
        page.run("const field = document.getElementById(arguments[0]); field.value = arguments[1]; field.dispatchEvent(new Event('change'))", f"log-{name}", text)

    @served()
    def test_a_filter_by_user_searches_the_whole_log(self, server):
        revision = self.fill(server)
        rows = "[...document.querySelectorAll('.log-row')].map(({row}) => row.attribute).join()"
        past = "name,hair_color,age,name,city"
        filtered, other = self.open(server, "/log?user=1"), self.open(server, "/log")
        filtered.wait("document.getElementById('log-past').innerText === 'the whole log was searched'")
        filtered.wait(f"{rows} === '{past}'")
        other.wait_log(revision)
        self.filter(other, "user", "1")
        for page in (filtered, other):
            page.wait(f"{rows} === '{past}'")
        server.patch(1, age=42)
        server.patch(2, n=0)
        for page in (filtered, other):
            page.wait(f"{rows} === '{past},age'", "older and newer rows")
        self.assertQuiet()

    @served()
    def test_the_user_of_an_old_change_is_shown_before_and_after(self, server):
        self.fill(server)
        page = self.open(server, "/log?user=1")
        page.wait("document.querySelectorAll('.log-row').length === 5")
        page.run("[...document.querySelectorAll('.log-row')].at(-1).click()")
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 4")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim()))")
        self.assertEqual(rows, [["name", "NIX", "Chloe", "changed"], ["hair_color", "not set", "not set", ""], ["age", "41", "41", ""], ["city", "not set", "Ulm", "set"]])

    @served()
    def test_a_filter_says_what_it_has_searched(self, server):
        self.fill(server)
        page = self.open(server, "/log?attribute=shoe")
        page.wait("document.querySelector('.log-card .empty').innerText === 'No change in the last 1,000 rows of the log meets this filter.'")
        self.filter(page, "attribute", "city")
        page.wait("document.querySelectorAll('.log-row').length === 1")
        page.wait("document.getElementById('log-past').innerText.includes('last 1,000 rows')")
        self.filter(page, "user", "Zoë")
        page.wait("document.getElementById('log-problem').innerText === 'The id of a user is a whole number.'")
        self.assertEqual(page.run("return [document.getElementById('log-user').getAttribute('aria-invalid'), location.search]"), ["true", "?attribute=city"])
        self.filter(page, "user", "77")
        page.wait("document.querySelector('.log-card .empty').innerText === 'No change in the log meets this filter.'")
        self.assertEqual(page.run("return document.getElementById('log-problem').innerText"), "")

    @served()
    def test_older_changes_are_read(self, server):
        revision = self.fill(server)
        page = self.open(server, "/log")
        page.wait_log(revision)
        page.wait("!document.getElementById('older').hidden")
        page.press("#older")
        page.wait("document.querySelectorAll('.log-row').length === 137")
        revisions = page.run("return [...document.querySelectorAll('.log-row')].map((row) => Number(row.dataset.revision))")
        self.assertEqual(revisions, sorted(revisions))
        page.wait("document.getElementById('older').hidden")
        self.assertQuiet()

    @served()
    def test_purged_values_are_shown_as_such(self, server):
        self.fill(server)
        revision = server.write("DELETE", "/users/1", headers={"If-Match": "*"})["revision"]
        usertool("purge", "1", "--yes", database=server.database)
        page = self.open(server, "/log?user=1")
        page.wait("document.querySelectorAll('.log-row').length === 9")
        page.press(f'.log-row[data-revision="{revision}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 4")
        cells = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [row.dataset.attribute, row.children[1].innerText])")
        self.assertEqual(cells, [["name", "purged"], ["hair_color", "purged"], ["age", "purged"], ["city", "purged"]])
        self.assertTrue(page.run("return document.getElementById('undo-this').disabled"))
        self.assertIn("purged", page.run("return document.querySelector('dialog .hint').innerText"))


class Log(BrowserTestCase):
    @served()
    def test_a_row_shows_the_user_before_and_after(self, server):
        fill(server)
        first = server.patch(1, name="Chloe", age=None)["revision"]
        server.patch(1, name="Ann", city="Ulm")
        page = self.open(server, "/log")
        page.wait_log(first)
        page.press(f'.log-row[data-revision="{first}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 3")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => [...row.children].map((cell) => cell.innerText.trim().split('\\n')[0]))")
        self.assertEqual(rows, [["name", "NIX", "Chloe", "changed"], ["hair_color", "#a52a2a", "#a52a2a", ""], ["age", "41", "not set", "unset"]])
        page.press("#undo-this")
        page.wait("document.getElementById('notice').innerText.startsWith('Not done.')", "the name was changed since")
        second = server.patch(2, name="Eve")["revision"]
        page.wait_log(second)
        page.press(f'.log-row[data-revision="{second}"]')
        page.press("#undo-this")
        eventually(lambda: server.get("/users/2")["name"] == "Zoë", "the write is undone")

    @served()
    def test_a_removed_user_is_shown_as_it_was(self, server):
        fill(server)
        revision = server.write("DELETE", "/users/3", headers={"If-Match": "*"})["revision"]
        page = self.open(server, "/log")
        page.wait_log(revision)
        page.press(f'.log-row[data-revision="{revision}"]')
        page.wait("document.querySelectorAll('.comparison tbody tr').length === 3")
        rows = page.run("return [...document.querySelectorAll('.comparison tbody tr')].map((row) => row.children[1].innerText.trim())")
        self.assertEqual(rows, ["Tim", "#faf0be", "17"])

    @served()
    def test_scrolling_up_pauses_and_counts_what_waits(self, server):
        fill(server)
        for number in range(60):
            server.patch(1, n=number)
        page = self.open(server, "/log")
        page.wait("document.querySelectorAll('.log-row').length >= 40")
        page.run("document.querySelector('.log-scroll').scrollTop = 0")
        page.wait("document.getElementById('log-state').innerText === 'paused, 0 waiting'")
        shown = "document.querySelectorAll('.log-row').length"
        count = page.run(f"return {shown}")
        for number in range(7):
            revision = server.patch(2, n=number)["revision"]
        page.wait_log(revision)
        page.wait("document.getElementById('log-state').innerText === 'paused, 7 waiting'")
        self.assertEqual(page.run(f"return {shown}"), count)
        page.press("#newest")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')")
        page.wait("document.getElementById('log-state').innerText === ''")

    @served()
    def test_pausing_and_filtering(self, server):
        fill(server)
        page = self.open(server, "/log")
        page.press("#pause-log")
        revision = server.patch(1, age=50, name="Ann")["revision"]
        page.wait("document.getElementById('log-state').innerText === 'paused, 2 waiting'")
        page.press("#pause-log")
        page.wait(f"document.querySelector('.log-row[data-revision=\"{revision}\"]')")
        page.run("document.getElementById('log-attribute').value = 'age'; document.getElementById('log-attribute').dispatchEvent(new Event('change'))")
        page.wait("location.search === '?attribute=age'")
        # The page empties its log before the filtered rows arrive.
        page.wait("document.querySelectorAll('.log-row').length === 4")
        self.assertEqual(page.run("return [...document.querySelectorAll('.log-attribute')].map((cell) => cell.innerText)"), ["age"] * 4)

    @served()
    def test_other_programs_writes_are_in_the_log(self, server):
        fill(server)
        page = self.open(server, "/log")
        sql(server.database, "UPDATE users SET name = 'Zoe' WHERE id = 2")
        page.wait("[...document.querySelectorAll('.log-row')].at(-1).innerText.includes('another program')")
        page.run("[...document.querySelectorAll('.log-row')].at(-1).click()")
        page.wait("document.querySelector('dialog').innerText.includes('cannot be undone')")

    @long
    @served()
    def test_a_storm_leaves_the_page_responsive_and_counts_everything(self, server):
        """10,000 changes each second for $STORM seconds."""
        fill(server)
        page = self.open(server)
        before = page.wait("Number(document.getElementById('log-count').dataset.count)")
        page.press("th[data-column=id]")
        page.run("""
            window.delays = [];
            document.addEventListener('keydown', ({timeStamp}) => requestAnimationFrame(() => setTimeout(() => delays.push(performance.now() - timeStamp))), true);
            document.querySelector('th[data-column=id]').focus();""")
        written, end = 0, time.monotonic() + float(os.environ.get("STORM", "5"))
        start = time.monotonic()
        with Writer(server.database) as writer:
            while time.monotonic() < end:
                writer.run("BEGIN IMMEDIATE")
                for number in range(500):
                    writer.run("UPDATE users SET name = ? WHERE id = ?", (f"user {written + number}", number % 3 + 1))
                writer.run("COMMIT")
                written += 500
                page.keys(Keys.ARROW_RIGHT if written % 1000 else Keys.ARROW_LEFT)
                eventually(lambda: time.monotonic() - start >= written / 10_000, "the next transaction is due")
            name = writer.run("SELECT name FROM users WHERE id = 1")[0][0]
        page.wait(f"Number(document.getElementById('log-count').dataset.count) === {before + written}", f"{written} changes are counted", within=60)
        page.wait_text(1, "name", name)
        self.assertLessEqual(page.run("return document.querySelectorAll('.log-rows > *').length"), 500)
        delays = sorted(page.run("return window.delays"))
        self.assertTrue(delays)
        self.assertLess(delays[len(delays) // 2], 100, f"the time from a key to the next frame: {delays}")
        page.wait("document.getElementById('verified').innerText.startsWith('✓')", within=30)
